"""Which column of a table of `solvers.arrays` holds what; compiled code reads these as constants."""

from __future__ import annotations

from typing import Final

FAR: Final = 2**60
"""Stands for "no bound": above every slot, limit and budget that a problem may hold."""

# Columns of Arrays.task. The name of a position ends in AT or END: rows [AT, END) of another table.
MODE_AT: Final = 0
MODE_END: Final = 1
SINCE: Final = 2
DELAY: Final = 3
DUE: Final = 4
LATE: Final = 5
LATE_SPAN: Final = 6
LATE_MOST: Final = 7
EARLIEST: Final = 8
LATEST: Final = 9
DEADLINE: Final = 10
MOVE: Final = 11
WAS_MODE: Final = 12
WAS_START: Final = 13
WAS_AT: Final = 14
WAS_END: Final = 15
AFTER_AT: Final = 16
AFTER_END: Final = 17
NEXT_AT: Final = 18
NEXT_END: Final = 19
BUDGET_AT: Final = 20
BUDGET_END: Final = 21
SEAT_AT: Final = 22
TASK_WIDTH: Final = 23

# Columns of Arrays.mode. RATE and REST are worth and premium divided by the duration, and what that leaves.
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
KIND: Final = 16
SCALE: Final = 17
STEADY: Final = 18
SHAPE: Final = 19
MOST_BONUS: Final = 20
MODE_WIDTH: Final = 21

# Columns of Arrays.part.
COUNT: Final = 0
USE_AT: Final = 1
POSITION: Final = 2
PART_WIDTH: Final = 3

# Columns of Arrays.node.
FREE_AT: Final = 0
RESOURCES: Final = 1
CLOSES: Final = 2
NODE_WIDTH: Final = 3

# Columns of Arrays.budget.
BUDGET_START: Final = 0
BUDGET_STOP: Final = 1
BUDGET_MICROS: Final = 2
BUDGET_WIDTH: Final = 3
