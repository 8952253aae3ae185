"""The planning problem in integers: what `solve` takes and `check` judges by.

Units: time in slots of the horizon `[0, slots)`, money in micros of one currency, device use in quota units
(`Problem.units` to one device), every other resource in whatever whole unit its pool counts in. Every interval is
half-open, `[start, end)`. Tasks, pools, nodes, rows and budgets are known to each other by their position, and to
people by their name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from solvers.rules import Rule

LARGEST = 2**62
"""No number of a problem, and no sum the solver forms from them, may reach this: everything that decides is int64."""


class ProblemError(ValueError):
    """Numbers that are no problem: they contradict each other, or are too large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """Slots `[start, end)` in which nothing may run on a node; may lie past the horizon, since limits do too."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Use of a node in `[start, end)` by what is not planned here, aligned with the pool's resources."""

    start: int
    end: int
    use: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One machine: how much of each of its pool's resources it has, and when it is closed or partly taken.

    `domains` numbers what it lies in, tier by tier of its pool: equal numbers are one domain, None is known of none.
    """

    name: str
    capacity: tuple[int, ...]
    domains: tuple[int | None, ...] = ()
    closures: tuple[Closure, ...] = ()
    taken: tuple[Taken, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Nodes that modes may choose from; a fleet counted without nodes is one node that holds it all.

    `resources` names what nodes hold; the first is the devices. `tiers` names the ways in which nodes lie together,
    such as racks. `ceiling` is the most nodes its market grants (None: own hardware).
    """

    name: str
    resources: tuple[str, ...]
    nodes: tuple[Node, ...]
    tiers: tuple[str, ...] = ()
    ceiling: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """`count` different nodes, each used by `use` (aligned with the pool's resources) for the whole run.

    Where the mode stays within domains, parts of one `block` share one.
    """

    count: int
    use: tuple[int, ...]
    block: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """`amount` quota units that a running mode counts in a row, in each slot."""

    row: int
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """How a task that runs already goes on before it begins in a mode: as its first mode, in slots `[0, slots)`.

    `seats` are `(node, part)` of that first mode. `worth_micros` of the task's worth and premium are done for good
    by then, and the mode that it leads to does the rest.
    """

    slots: int
    worth_micros: int
    seats: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """One legal way to run a task.

    `duration` slots are occupied (expected run time), `limit` slots must be free of closures (the longest it may run).
    `cash_micros` and `power_micros` are per slot, `cost_micros` once. `home` is the row that decides whether its
    devices are guaranteed or borrowed. `nodes` lists the eligible nodes of the pool (None: all). `earliest` and
    `latest` bound the start beside the task's own. `within` is a tier of the pool: each block of parts lies in one
    domain of it, and no two blocks in the same (None: anywhere). `lead` says how long the task goes on as its first
    mode before it is interrupted and, at this mode's start, begins again in this one (None: it does not).
    """

    name: str
    pool: int
    parts: tuple[Part, ...]
    duration: int
    limit: int
    cash_micros: int = 0
    power_micros: int = 0
    cost_micros: int = 0
    charges: tuple[Charge, ...] = ()
    home: int | None = None
    nodes: tuple[int, ...] | None = None
    earliest: int = 0
    latest: int | None = None
    within: int | None = None
    lead: Lead | None = None

    @property
    def devices(self) -> int:
        """Devices that the whole gang holds."""
        return sum(part.count * part.use[0] for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Previous:
    """Where the previous plan put a task: each `(node, devices)` of the run in `mode` that began at `start`."""

    mode: int
    start: int
    nodes: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One piece of work that takes at most one of its modes.

    Its value, when it runs in mode m from slot s to e = s + duration, is (in `solvers.value`, and for the checker in
    `solvers.worth`):
    `(worth + premium) * (min(e, slots) - s) // duration  -  delay * (e - since)  -  min(worth, late * max(0, e - due))
    -  (cash + power) * (min(e, slots) - s)  -  cost  -  move * devices whose node or start is not the previous one`.
    A lead adds its own worth, which what m works on is less by, and costs the first mode's cash and power in its slots.
    `after` lists tasks that must have ended. `latest` bounds the start. `priority` 0 is the highest. A task that
    `stays` runs already and may not stop: it takes one of its modes, of which the first goes on where it is, from slot
    0 on nodes that it names one for one; together these first modes must obey all rules.
    """

    name: str
    modes: tuple[Mode, ...]
    worth_micros: int
    premium_micros: int = 0
    since: int = 0
    delay_micros: int = 0
    due: int | None = None
    late_micros: int = 0
    earliest: int = 0
    latest: int | None = None
    deadline: int | None = None
    after: tuple[int, ...] = ()
    budgets: tuple[int, ...] = ()
    priority: int = 2
    interruptible: bool = True
    stays: bool = False
    previous: Previous | None = None
    move_micros: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spill:
    """What of a row's use exceeds `above[t]` counts in row `row` too."""

    row: int
    above: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What is summed over the running tasks that charge it and over the rows that spill into it, slot by slot.

    `limit[t]` bounds the sum (None: no bound). Use up to `guarantee[t]` earns `bonus_micros` per unit and slot; all
    tuples have one entry a slot. `rule` and `subject` name it to people: a quota's limit, a guarantee, work that must
    stay inside one, what is left after all that teams keep for themselves, an array's width.
    Spills lead to no circle, a row that others spill into has no guarantee, and no mode charges two rows that lead
    into one.
    """

    rule: Rule
    subject: str
    limit: tuple[int, ...] | None = None
    guarantee: tuple[int, ...] | None = None
    bonus_micros: int = 0
    spill: Spill | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Cash that the tasks naming it may spend in slots `[start, end)`; the end may lie past the horizon."""

    subject: str
    start: int
    end: int
    micros: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Everything that decides; `planner.compile` makes it from specs, `solvers.jsonform` reads and writes it."""

    slots: int
    pools: tuple[Pool, ...]
    tasks: tuple[Task, ...]
    rows: tuple[Row, ...] = ()
    budgets: tuple[Budget, ...] = ()
    units: int = 1

    def __post_init__(self) -> None:
        for fault in faults(self):
            raise ProblemError(f"not a problem: {fault}")


def faults(problem: Problem) -> Iterator[str]:
    """Say, one by one, what keeps `problem` from being well formed."""
    if problem.slots < 1:
        yield f"the horizon has {problem.slots} slots, expected at least 1"
    for pool in problem.pools:
        yield from _pool_faults(pool)
    for task in problem.tasks:
        yield from _task_faults(problem, task)
    for row in problem.rows:
        yield from _row_faults(problem, row)
    yield from _spill_faults(problem)
    if _largest_sum(problem) >= LARGEST:
        yield f"its numbers can add up to {_largest_sum(problem)}, which is more than int64 arithmetic holds safely"


def _row_faults(problem: Problem, row: Row) -> Iterator[str]:
    if row.bonus_micros < 0:
        yield f"row {row.subject} has a bonus of {row.bonus_micros} micros, expected at least 0"
    for steps in (row.limit, row.guarantee, None if row.spill is None else row.spill.above):
        if steps is not None and (len(steps) != problem.slots or min(steps) < 0):
            yield f"row {row.subject} needs {problem.slots} steps of at least 0, has {len(steps)}"


def _spill_faults(problem: Problem) -> Iterator[str]:
    into = {row.spill.row for row in problem.rows if row.spill is not None}
    if any(not 0 <= row < len(problem.rows) for row in into):
        yield f"rows spill into {sorted(into)}, of which one is none of {len(problem.rows)}"
        return
    for position in sorted(into):
        if problem.rows[position].guarantee is not None:
            yield f"row {problem.rows[position].subject} has a guarantee, and others spill into it"
    for position, row in enumerate(problem.rows):
        if spills_to(problem.rows, position) is None:
            yield f"row {row.subject} spills into itself"
            return
    yield from _meeting_charges(problem, into)


def _meeting_charges(problem: Problem, into: set[int]) -> Iterator[str]:
    rows = problem.rows
    ends = {at: spills_to(rows, at) for at, row in enumerate(rows) if at in into or row.spill is not None}
    for task in problem.tasks if ends else ():
        for mode in task.modes:
            reached = [ends[row] for row in {charge.row for charge in mode.charges} if row in ends]
            if len(reached) != len(set(reached)):
                yield f"mode {mode.name} of task {task.name} charges two rows that lead into one"


def spills_to(rows: tuple[Row, ...], position: int) -> int | None:
    """The row at the end of the spills that begin at a row; None when they lead in a circle."""
    for _ in rows:
        spill = rows[position].spill
        if spill is None:
            return position
        position = spill.row
    return None


def _pool_faults(pool: Pool) -> Iterator[str]:
    for node in pool.nodes:
        if len(node.capacity) != len(pool.resources) or min(node.capacity, default=0) < 0:
            yield f"node {node.name} of pool {pool.name} has capacity {node.capacity} for resources {pool.resources}"
        if len(node.domains) != len(pool.tiers):
            yield f"node {node.name} of pool {pool.name} has domains {node.domains} for tiers {pool.tiers}"
        for taken in node.taken:
            if len(taken.use) != len(pool.resources) or min(taken.use, default=0) < 0:
                yield f"node {node.name} of pool {pool.name} has {taken.use} taken for resources {pool.resources}"


def _task_faults(problem: Problem, task: Task) -> Iterator[str]:
    rates = (task.worth_micros, task.premium_micros, task.delay_micros, task.late_micros, task.move_micros)
    if min(rates) < 0:
        yield f"task {task.name} has a negative worth, premium, delay, late or move rate"
    if task.earliest < 0:
        yield f"task {task.name} has earliest start {task.earliest}, expected at least 0"
    if any(not 0 <= other < len(problem.tasks) for other in task.after):
        yield f"task {task.name} comes after {task.after}, of which one is no task"
    if any(not 0 <= budget < len(problem.budgets) for budget in task.budgets):
        yield f"task {task.name} names budgets {task.budgets}, of which one is none"
    if task.stays and not (task.modes and _goes_on(task.modes[0])):
        yield f"task {task.name} stays, but its first mode does not say on which nodes it goes on from slot 0"
    if task.previous is not None and not 0 <= task.previous.mode < len(task.modes):
        yield f"task {task.name} ran in mode {task.previous.mode}, of {len(task.modes)}"
    for mode in task.modes:
        yield from _mode_faults(problem, task, mode)
        yield from () if mode.lead is None else _lead_faults(problem, task, mode, mode.lead)


def _goes_on(mode: Mode) -> bool:
    seats = sum(part.count for part in mode.parts)
    return mode.earliest == 0 and mode.latest == 0 and mode.nodes is not None and len(set(mode.nodes)) == seats


def _mode_faults(problem: Problem, task: Task, mode: Mode) -> Iterator[str]:
    where = f"mode {mode.name} of task {task.name}"
    if not 0 <= mode.pool < len(problem.pools):
        yield f"{where} names pool {mode.pool}, of {len(problem.pools)}"
        return
    pool = problem.pools[mode.pool]
    width = len(pool.resources)
    yield from _place_faults(problem, pool, where, mode)
    if not mode.parts or any(
        part.count < 1 or len(part.use) != width or min(part.use, default=0) < 0 for part in mode.parts
    ):
        yield f"{where} has parts {mode.parts}, expected a count of at least 1 and {width} uses of at least 0 each"
    if mode.duration < 1 or mode.limit < mode.duration:
        yield f"{where} lasts {mode.duration} slots within a limit of {mode.limit}, expected 1 <= duration <= limit"
    if min(mode.cash_micros, mode.power_micros, mode.cost_micros, mode.earliest) < 0:
        yield f"{where} has negative cash, power, cost or earliest start"
    if any(not 0 <= charge.row < len(problem.rows) or charge.amount < 0 for charge in mode.charges):
        yield f"{where} charges {mode.charges} to {len(problem.rows)} rows"


def _lead_faults(problem: Problem, task: Task, mode: Mode, lead: Lead) -> Iterator[str]:
    where, first = f"the lead of mode {mode.name} of task {task.name}", task.modes[0]
    if not 1 <= lead.slots <= min(mode.earliest, first.duration):
        yield f"{where} takes {lead.slots} slots, expected 1 to {min(mode.earliest, first.duration)}"
    if not 0 <= lead.worth_micros <= task.worth_micros + task.premium_micros:
        yield f"{where} is worth {lead.worth_micros} micros, of {task.worth_micros + task.premium_micros}"
    if task.earliest or first.earliest or task.latest is not None or task.after:
        yield f"{where} goes on from slot 0, but the task has a window or comes after others"
    if first.lead is not None or first.within is not None:
        yield f"{where} goes on as a mode that has a lead or stays within a tier"
    nodes = range(len(problem.pools[first.pool].nodes)) if 0 <= first.pool < len(problem.pools) else range(0)
    eligible = nodes if first.nodes is None else first.nodes
    seated = sorted(part for node, part in lead.seats if node in nodes and node in eligible)
    wanted = [at for at, part in enumerate(first.parts) for _ in range(part.count)]
    if seated != wanted or len({node for node, _ in lead.seats}) < len(wanted):
        yield f"{where} sits on {lead.seats}, expected a node of its own for each of {first.parts}"


def _place_faults(problem: Problem, pool: Pool, where: str, mode: Mode) -> Iterator[str]:
    if any(not 0 <= node < len(pool.nodes) for node in mode.nodes or ()):
        yield f"{where} names nodes {mode.nodes}, of which one is none of the {len(pool.nodes)} of pool {pool.name}"
    for what, at, most in (("at home in row", mode.home, problem.rows), ("within tier", mode.within, pool.tiers)):
        if at is not None and not 0 <= at < len(most):
            yield f"{where} is {what} {at}, of {len(most)}"


def _largest_sum(problem: Problem) -> int:
    """An upper limit of every sum of values, bonuses and uses the solver or checker can form."""
    total = 0
    for task in problem.tasks:
        span = max((mode.duration for mode in task.modes), default=0) + problem.slots + abs(task.since)
        running = max((mode.cash_micros + mode.power_micros for mode in task.modes), default=0)
        devices = max((mode.devices for mode in task.modes), default=0)
        total += 2 * task.worth_micros + task.premium_micros + max((mode.cost_micros for mode in task.modes), default=0)
        total += (task.delay_micros + running) * span + task.move_micros * devices
    bonus = sum(row.bonus_micros * sum(row.guarantee) for row in problem.rows if row.guarantee is not None)
    return total + bonus
