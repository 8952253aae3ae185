"""The rules a plan must obey: one member each, used by that name in model, checker, explanations, tests and docs."""

from __future__ import annotations

from enum import StrEnum


class Rule(StrEnum):
    """What a solution must obey; `formula` states each in ASCII over the words of `solvers.problem`."""

    CAPACITY = "capacity"
    GANG = "gang"
    TOPOLOGY = "topology"
    COMPATIBILITY = "compatibility"
    AVAILABILITY = "availability"
    WINDOW = "window"
    DEPENDENCY = "dependency"
    QUOTA = "quota"
    LENDING = "lending"
    PRIORITY = "priority"
    BUDGET = "budget"
    MARKET = "market"
    PIN = "pin"

    @property
    def formula(self) -> str:
        """The rule as one line of arithmetic."""
        return FORMULAS[self]


FORMULAS: dict[Rule, str] = {
    Rule.CAPACITY: "for each node, slot t and resource k: sum of use[k] of the runs on it with start <= t < "
    "end <= max(0, capacity[k] - taken[k][t])",
    Rule.GANG: "a task has no run, or one, before which its first mode runs where its mode has a lead; in a run every "
    "part has exactly its count of nodes, all different, all of the mode's pool",
    Rule.TOPOLOGY: "in a mode with within: the nodes of a block are all in one known domain of that tier, the nodes of "
    "different blocks in different ones",
    Rule.COMPATIBILITY: "a run uses one of its task's own modes: the legal pairs of variant and pool, one vendor each",
    Rule.AVAILABILITY: "for each node of a run: [start, start + limit), of a lead [0, slots), meets no interval in "
    "which the node is closed",
    Rule.WINDOW: "earliest <= start <= latest of task and mode, start < slots, end = start + duration (of a "
    "lead its slots), end <= deadline, as far as set",
    Rule.DEPENDENCY: "if b comes after a and b runs: a runs and end(a) <= start(b)",
    Rule.QUOTA: "for each row with a limit that no row spills into and each slot t: sum of amount over the runs "
    "charged to it <= limit[t]",
    Rule.LENDING: "for each row with a limit that rows spill into and each slot t: sum of amount over the runs charged "
    "to it + sum of max(0, use[t] - above[t]) over the rows that spill into it <= limit[t]",
    Rule.PRIORITY: "guaranteed[t] of a row goes to the runs charged to it: not interruptible first, then by priority, "
    "start, task; a run is guaranteed its least share in its home row",
    Rule.BUDGET: "for each budget: sum of cash per slot x slots of the run inside [start, end) <= max(0, micros)",
    Rule.MARKET: "a node of a market exists only below that market's ceiling: the pool has no more nodes than it",
    Rule.PIN: "a run of a mode that names its nodes uses only those, a lead sits where it says; a task that names its "
    "start has earliest = latest; a task that stays has a run",
}
