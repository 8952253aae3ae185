"""Which column of a table of `solvers.arrays` holds what; compiled code reads these as constants."""

from __future__ import annotations

from typing import Final

FAR: Final = 2**60
"""Stands for "no bound": above every slot, limit and budget that a problem may hold."""

# Columns of Arrays.task. What ends in AT or END bounds a stretch of Arrays.flat, or of another table.
MODE_AT: Final = 0
MODE_END: Final = 1
SINCE: Final = 2
DELAY: Final = 3
DUE: Final = 4
LATE: Final = 5
LATE_SPAN: Final = 6
LATE_MOST: Final = 7
EARLIEST: Final = 8
STAYS: Final = 9
MOVE: Final = 10
WAS_MODE: Final = 11
WAS_START: Final = 12
WAS_AT: Final = 13
WAS_END: Final = 14
AFTER_AT: Final = 15
AFTER_END: Final = 16
NEXT_AT: Final = 17
NEXT_END: Final = 18
BUDGET_AT: Final = 19
BUDGET_END: Final = 20
SEAT_AT: Final = 21
TASK_WIDTH: Final = 22

# Columns of Arrays.mode. RATE and REST are worth and premium divided by the duration, and what that leaves. FIRST and
# LAST bound the starts that windows of task and mode, the deadline and the horizon leave.
TASK: Final = 0
POOL: Final = 1
DURATION: Final = 2
LIMIT: Final = 3
CASH: Final = 4
RUNNING: Final = 5
RATE: Final = 6
REST: Final = 7
PART_AT: Final = 8
PART_END: Final = 9
SEATS: Final = 10
DEVICES: Final = 11
CHARGE_AT: Final = 12
CHARGE_END: Final = 13
NODE_AT: Final = 14
NODE_END: Final = 15
DOMAIN_AT: Final = 16
DOMAIN_END: Final = 17
KIND: Final = 18
SCALE: Final = 19
STEADY: Final = 20
SHAPE: Final = 21
MOST_BONUS: Final = 22
FIRST: Final = 23
LAST: Final = 24
COST: Final = 25
LEAD: Final = 26
LEAD_AT: Final = 27
LEAD_END: Final = 28
MODE_WIDTH: Final = 29

# A part in Arrays.flat: how many nodes, where its use begins there, its position in the mode, and its block. A mode
# that stays within domains has from DOMAIN_AT on (else -1) the bounds of the eligible nodes of each domain there. One
# with a lead of LEAD slots (else 0) has from LEAD_AT on pairs: a node, and where the part of the first mode lies.
COUNT: Final = 0
USE_AT: Final = 1
POSITION: Final = 2
BLOCK: Final = 3
PART_WIDTH: Final = 4
DOMAIN_WIDTH: Final = 2

# Columns of Arrays.node.
FREE_AT: Final = 0
RESOURCES: Final = 1
CLOSES: Final = 2
CLEAR_AT: Final = 3
NODE_WIDTH: Final = 4

# Columns of Arrays.row.
BONUS: Final = 0
LIMIT_AT: Final = 1
GUARANTEE_AT: Final = 2
CHARGED_AT: Final = 3
CHARGED_END: Final = 4
SPILL: Final = 5
ABOVE_AT: Final = 6
ROW_WIDTH: Final = 7

# Columns of Arrays.pool, which has one more row, for the tasks that do not run.
FIRST_NODE: Final = 0
MEMBER_AT: Final = 1
POOL_WIDTH: Final = 2

# Columns of Arrays.budget.
BUDGET_START: Final = 0
BUDGET_STOP: Final = 1
BUDGET_MICROS: Final = 2
BUDGET_WIDTH: Final = 3

# Layers of what State says of tasks and seats: now, before the round in work, and in the best plan so far.
NOW: Final = 0
BEFORE: Final = 1
BEST: Final = 2

# Columns of State.task. A layer's own number is the column of its mode, and START plus that the column of its start.
START: Final = 3
OWN: Final = 6
PLACE: Final = 7
SEEN: Final = 8
DIFFERS: Final = 9
STATE_WIDTH: Final = 10

# Columns of State.seat after those of the layers.
AHEAD: Final = 3
BEHIND: Final = 4
OWNER: Final = 5
SEAT_WIDTH: Final = 6

# Rows of State.line, State.near and State.work.
OPEN: Final = 0
COUNTED: Final = 1
GAIN: Final = 2
WHOLE: Final = 3
HOLDING: Final = 4
LINES: Final = 5
RANK: Final = 0
FITTING: Final = 1
LIST: Final = 0
KEY: Final = 1
CHANGES: Final = 2

# Entries of State.tally.
VALUE: Final = 0
WORK: Final = 1
DICE_1: Final = 2
DICE_2: Final = 3
BEST_VALUE: Final = 4
CHANGED: Final = 5
ROUNDS: Final = 6
LISTED: Final = 7
BEGAN: Final = 8
FOUND_MODE: Final = 9
FOUND_START: Final = 10
FOUND_SCORE: Final = 11
FOUND_STAYS: Final = 12
STOPPED: Final = 13
TALLY: Final = 14

# Columns of Guide.task and Guide.mode.
IDEAL: Final = 0
MERIT: Final = 1
WISH_MODE: Final = 2
WISH_START: Final = 3
LIKELY: Final = 4
CREST: Final = 0
PEAK: Final = 1
