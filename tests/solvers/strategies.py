"""Small problems with every feature at once, for property tests; small enough for `brute_force` to finish."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from solvers.check import check, value
from solvers.problem import (
    Budget,
    Charge,
    Closure,
    Lead,
    Mode,
    Node,
    Part,
    Pool,
    Previous,
    Problem,
    Row,
    Spill,
    Taken,
    Task,
)
from solvers.rules import Rule
from solvers.solution import Assignment, Proof, Solution
from solvers.split import split
from tests.solvers.brute_force import runs_of

SLOTS = st.sampled_from((4, 5, 3, 2, 5, 4))
SMALL = st.integers(0, 3)
ONE_IN_FIVE = st.sampled_from((False, False, False, True, False))
LEVEL = st.sampled_from((4, 3, 5, 6, 2, 1, 0))
DOMAIN = st.sampled_from((0, 1, 0, 1, None, 2))
MONEY = st.sampled_from((0, 0, 1, 7, 30, 100, 1_000))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """A problem of 1 to 4 tasks on 1 or 2 pools, with rows and budgets."""
    slots = draw(SLOTS)
    pools = tuple(draw(_pool(slots, at)) for at in range(draw(st.integers(1, 2))))
    rows = _spilling(draw, slots, tuple(draw(_row(slots, at)) for at in range(draw(st.sampled_from((0, 1, 2, 3, 2))))))
    budgets = tuple(draw(_budget(slots, at)) for at in range(draw(st.integers(0, 1))))
    count = draw(st.sampled_from((3, 4, 2, 4, 3, 1)))
    tasks = tuple(draw(_task(slots, pools, rows, len(budgets), at, count)) for at in range(count))
    problem = Problem(slots=slots, pools=pools, tasks=tasks, rows=rows, budgets=budgets)
    for at in range(count):
        problem = _going_on(problem, at) if draw(ONE_IN_FIVE) else problem
    for at in range(count):
        problem = _interruptible(draw, problem, at) if draw(st.booleans()) else problem
    return problem


def _interruptible(draw: st.DrawFn, problem: Problem, at: int) -> Problem:
    """The problem with ways for a task to go on for a while and to begin again in one of its modes, where it may."""
    task = problem.tasks[at]
    first = task.modes[0]
    windowed = task.earliest or first.earliest or task.latest is not None or task.after
    run = next((run for run in runs_of(problem, task) if run.mode == 0), None)
    if run is None or windowed or first.within is not None:
        return problem
    seats = tuple((seat.node, seat.part) for seat in run.seats)
    most = task.worth_micros + task.premium_micros
    modes = list(task.modes)
    for mode in draw(st.lists(st.sampled_from(task.modes), min_size=1, max_size=2)):
        slots = draw(st.integers(1, first.duration))
        lead = Lead(slots=slots, worth_micros=draw(st.integers(0, most)), seats=seats)
        latest = None if mode.latest is None else max(mode.latest, slots)
        modes.append(replace(mode, lead=lead, earliest=max(slots, mode.earliest), latest=latest))
    again = replace(task, modes=tuple(modes))
    return replace(problem, tasks=(*problem.tasks[:at], again, *problem.tasks[at + 1 :]))


def _going_on(problem: Problem, at: int) -> Problem:
    """The problem with a task that runs already and may not stop, as far as it could go on beside all that do."""
    task = problem.tasks[at]
    for run in runs_of(problem, task):
        if run.mode == 0 and run.start == 0:
            goes_on = replace(task.modes[0], latest=0, nodes=tuple(sorted(seat.node for seat in run.seats)))
            stays = replace(task, modes=(goes_on, *task.modes[1:]), stays=True, previous=None)
            tried = replace(problem, tasks=(*problem.tasks[:at], stays, *problem.tasks[at + 1 :]))
            if _holds(tried):
                return tried
    return problem


def _holds(problem: Problem) -> bool:
    """Whether all that may not stop can go on where it is at once."""
    firsts = [next(runs_of(problem, task), None) if task.stays else None for task in problem.tasks]
    runs = tuple(Assignment(task=at, runs=(run,)) for at, run in enumerate(firsts) if run is not None)
    draft = Solution(assignments=split(problem, runs), value_micros=0, bound_micros=None, proof=Proof.HEURISTIC)
    return check(problem, replace(draft, value_micros=value(problem, draft))) == ()


def _use(width: int, most: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*[st.integers(0, most)] * width)


def _part_use(width: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*[st.sampled_from((1, 2, 1, 3, 0))] * width)


@st.composite
def _pool(draw: st.DrawFn, slots: int, at: int) -> Pool:
    width = draw(st.integers(1, 2))
    nodes = tuple(draw(_node(slots, width, place)) for place in range(draw(st.integers(1, 3))))
    ceiling = draw(st.none() | st.integers(len(nodes), 4))
    resources = ("devices", "memory")[:width]
    tiers = ("rack", "row")[: draw(st.integers(0, 2))]
    nodes = tuple(replace(node, domains=draw(st.tuples(*[DOMAIN] * len(tiers)))) for node in nodes)
    return Pool(name=f"pool{at}", resources=resources, nodes=nodes, tiers=tiers, ceiling=ceiling)


@st.composite
def _node(draw: st.DrawFn, slots: int, width: int, at: int) -> Node:
    """Closed or partly taken one time in five each; either may begin before the horizon or end after it."""
    closures: tuple[Closure, ...] = ()
    taken: tuple[Taken, ...] = ()
    if draw(ONE_IN_FIVE):
        start = draw(st.integers(-1, slots + 2))
        closures = (Closure(start=start, end=start + draw(st.integers(1, 3))),)
    if draw(ONE_IN_FIVE):
        start = draw(st.integers(-1, slots - 1))
        taken = (Taken(start=start, end=start + draw(st.integers(1, 4)), use=draw(_use(width, 3))),)
    capacity = tuple(draw(st.sampled_from((4, 3, 2, 1))) for _ in range(width))
    return Node(name=f"node{at}", capacity=capacity, closures=closures, taken=taken)


@st.composite
def _row(draw: st.DrawFn, slots: int, at: int) -> Row:
    steps = st.tuples(*[LEVEL] * slots)
    limit = draw(st.none() | steps | LEVEL.map(lambda level: (level,) * slots))
    guarantee = draw(st.none() | steps | LEVEL.map(lambda level: (level,) * slots))
    rule = draw(st.sampled_from((Rule.QUOTA, Rule.PRIORITY)))
    return Row(rule=rule, subject=f"row{at}", limit=limit, guarantee=guarantee, bonus_micros=draw(MONEY))


def _spilling(draw: st.DrawFn, slots: int, rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Sometimes the rows before the last spill into the last one, or each into the next."""
    if len(rows) < 2 or not draw(st.booleans()):
        return rows
    chained = draw(st.booleans())
    made: list[Row] = []
    for at, row in enumerate(rows):
        above = tuple(draw(st.sampled_from((0, 1, 2, 3))) for _ in range(slots))
        spill = Spill(row=at + 1 if chained else len(rows) - 1, above=above) if at + 1 < len(rows) else None
        if at and (chained or spill is None):
            made.append(replace(row, guarantee=None, bonus_micros=0, spill=spill))
        else:
            made.append(replace(row, spill=spill))
    return tuple(made)


@st.composite
def _budget(draw: st.DrawFn, slots: int, at: int) -> Budget:
    start = draw(st.integers(0, slots - 1))
    end = draw(st.integers(start + 1, slots + 3))
    return Budget(subject=f"budget{at}", start=start, end=end, micros=draw(st.sampled_from((60, 30, 200, 10, 0))))


@st.composite
def _mode(draw: st.DrawFn, pools: tuple[Pool, ...], rows: tuple[Row, ...], at: int) -> Mode:
    pool = draw(st.integers(0, len(pools) - 1))
    width, nodes = len(pools[pool].resources), len(pools[pool].nodes)
    parts = tuple(
        Part(
            count=draw(st.sampled_from((1, 1, 2, 3)[: nodes + 1])),
            use=draw(_part_use(width)),
            block=draw(st.sampled_from((0, 0, 1, 5))),
        )
        for _ in range(draw(st.sampled_from((1, 1, 2, 1) if nodes > 1 else (1,))))
    )
    duration = draw(st.sampled_from((2, 1, 3, 2, 1, 4)))
    most = 1 if any(row.spill for row in rows) else 2
    charged = draw(st.lists(st.integers(0, len(rows) - 1), max_size=most)) if rows else []
    charges = tuple(Charge(row=row, amount=draw(st.integers(0, 4))) for row in charged)
    tiers = len(pools[pool].tiers)
    eligible = draw(st.none() | st.none() | st.sets(st.integers(0, nodes - 1), min_size=1).map(sorted).map(tuple))
    return Mode(
        name=f"mode{at}",
        pool=pool,
        parts=parts,
        duration=duration,
        limit=duration + draw(st.sampled_from((0, 0, 1, 3))),
        cash_micros=draw(st.sampled_from((0, 0, 5, 20))),
        power_micros=draw(st.sampled_from((0, 0, 1, 3))),
        cost_micros=draw(st.sampled_from((0, 0, 0, 9))),
        earliest=draw(st.sampled_from((0, 0, 0, 0, 1))),
        latest=draw(st.integers(0, 3)) if draw(ONE_IN_FIVE) else None,
        charges=charges,
        home=draw(st.none() | st.integers(0, len(rows) - 1)) if rows else None,
        nodes=eligible,
        within=draw(st.none() | st.integers(0, tiers - 1)) if tiers else None,
    )


@st.composite
def _task(
    draw: st.DrawFn, slots: int, pools: tuple[Pool, ...], rows: tuple[Row, ...], budgets: int, at: int, count: int
) -> Task:
    modes = tuple(draw(_mode(pools, rows, place)) for place in range(draw(st.sampled_from((1, 1, 2)))))
    earliest = draw(st.sampled_from((0, 0, 1, 0, 2, 0)))
    task = Task(
        name=f"task{at}",
        modes=modes,
        worth_micros=draw(st.sampled_from((100, 101, 1_000, 300, 10, 0))),
        premium_micros=draw(MONEY),
        since=draw(st.integers(-3, 2)),
        delay_micros=draw(st.sampled_from((0, 0, 1, 5))),
        due=draw(st.none() | st.integers(-1, slots + 1)),
        late_micros=draw(st.sampled_from((0, 3, 40))),
        earliest=earliest,
        latest=draw(st.integers(earliest, slots)) if draw(ONE_IN_FIVE) else None,
        deadline=draw(st.integers(1, slots + 2)) if draw(ONE_IN_FIVE) else None,
        after=_after(draw, at, count),
        budgets=(0,) if budgets and draw(st.booleans()) else (),
        priority=draw(SMALL),
        interruptible=draw(st.booleans()),
        move_micros=draw(st.sampled_from((0, 2, 50))),
    )
    return replace(task, previous=_previous(draw, slots, pools, task))


def _after(draw: st.DrawFn, at: int, count: int) -> tuple[int, ...]:
    """Mostly nothing; else any other task, so that cycles happen too."""
    if count == 1 or not draw(ONE_IN_FIVE):
        return ()
    return (draw(st.integers(0, count - 1).filter(lambda other: other != at)),)


def _previous(draw: st.DrawFn, slots: int, pools: tuple[Pool, ...], task: Task) -> Previous | None:
    if draw(st.integers(0, 2)):
        return None
    mode = draw(st.integers(0, len(task.modes) - 1))
    nodes = len(pools[task.modes[mode].pool].nodes)
    held = draw(st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(1, 3)), max_size=2, unique_by=_first))
    return Previous(mode=mode, start=draw(st.integers(0, slots - 1)), nodes=tuple(held))


def _first(pair: tuple[int, int]) -> int:
    return pair[0]
