"""Every plan of a tiny problem, tried: the truth that solvers are held against.

Enumerates mode, start and nodes of each task, leaving a branch only when a sum that can but grow is too large already,
or when nothing that is left could beat the best plan. `solvers.check` judges what it returns before it is believed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from solvers.check import raise_if_wrong, run_value, value
from solvers.problem import Lead, Mode, Pool, Problem, Task
from solvers.solution import Assignment, Proof, Run, Seat, Solution
from solvers.split import split
from solvers.worth import lead_value


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One run a task may take, its value without bonuses, and what it and its lead add to every sum that is bounded."""

    run: Run
    value: int
    adds: tuple[tuple[tuple[object, ...], int], ...]


def runs_of(problem: Problem, task: Task) -> Iterator[Run]:
    """Every run of `task` that is legal on its own, whatever else runs."""
    for position, mode in enumerate(task.modes):
        pool = problem.pools[mode.pool]
        if mode.lead is not None and not _may_lead(problem, task.modes[0], mode.lead):
            continue
        if pool.ceiling is not None and len(pool.nodes) > pool.ceiling:
            continue
        for start in range(problem.slots):
            if not _in_time(task, mode, start):
                continue
            nodes = [node for node in range(len(pool.nodes)) if _open(problem, mode, node, start)]
            for seats in _seatings(mode, nodes):
                if mode.within is not None and not _together(pool, mode, mode.within, seats):
                    continue
                yield Run(mode=position, start=start, end=start + mode.duration, seats=seats)


def lead_of(task: Task, run: Run) -> tuple[Run, ...]:
    """The run before `run`, if its mode has a lead."""
    lead = task.modes[run.mode].lead
    if lead is None:
        return ()
    return (Run(mode=0, start=0, end=lead.slots, seats=tuple(Seat(node=node, part=part) for node, part in lead.seats)),)


def _may_lead(problem: Problem, first: Mode, lead: Lead) -> bool:
    pool = problem.pools[first.pool]
    shut = (
        slot for node, _ in lead.seats for each in pool.nodes[node].closures for slot in range(each.start, each.end)
    )
    return (pool.ceiling is None or len(pool.nodes) <= pool.ceiling) and not any(0 <= at < lead.slots for at in shut)


def _in_time(task: Task, mode: Mode, start: int) -> bool:
    latest = start if task.latest is None else task.latest
    deadline = start + mode.duration if task.deadline is None else task.deadline
    last = start if mode.latest is None else mode.latest
    first = max(task.earliest, mode.earliest)
    return first <= start <= min(latest, last) and start + mode.duration <= deadline


def _open(problem: Problem, mode: Mode, node: int, start: int) -> bool:
    if mode.nodes is not None and node not in mode.nodes:
        return False
    closures = problem.pools[mode.pool].nodes[node].closures
    return all(not shut.start <= slot < shut.end for shut in closures for slot in range(start, start + mode.limit))


def _seatings(mode: Mode, nodes: list[int], part: int = 0) -> Iterator[tuple[Seat, ...]]:
    if part == len(mode.parts):
        yield ()
        return
    for chosen in combinations(nodes, mode.parts[part].count):
        rest = [node for node in nodes if node not in chosen]
        for others in _seatings(mode, rest, part + 1):
            yield (*(Seat(node=node, part=part) for node in chosen), *others)


def _together(pool: Pool, mode: Mode, tier: int, seats: tuple[Seat, ...]) -> bool:
    """Whether each block has one known domain of the tier to itself."""
    lies = {(mode.parts[seat.part].block, pool.nodes[seat.node].domains[tier]) for seat in seats}
    blocks, domains = {block for block, _ in lies}, {domain for _, domain in lies}
    return None not in domains and len(lies) == len(blocks) == len(domains)


def optimum(problem: Problem) -> Solution:
    """The best plan there is, with its proof."""
    columns = [sorted(_columns(problem, task), key=lambda column: -column.value) for task in problem.tasks]
    search = Search(problem, columns)
    search.visit(0, {}, Counter(), 0)
    runs = tuple(
        Assignment(task=task, runs=(*lead_of(problem.tasks[task], run), run))
        for task, run in sorted(search.best_runs.items())
    )
    draft = Solution(assignments=split(problem, runs), value_micros=0, bound_micros=None, proof=Proof.OPTIMAL)
    worth = value(problem, draft)
    solution = replace(draft, value_micros=worth, bound_micros=worth)
    raise_if_wrong(problem, solution)
    assert worth == search.best
    return solution


class Search:
    """Depth first over the tasks in an order in which what must end comes before what follows it."""

    def __init__(self, problem: Problem, columns: list[list[Column]]) -> None:
        self.problem = problem
        self.columns = columns
        self.order = _in_order(problem)
        self.room = _room(problem)
        self.firm = {at for at, task in enumerate(problem.tasks) if task.stays}
        self.best = -(10**18) if self.firm else 0
        self.best_runs: dict[int, Run] = {}
        self.left = [0] * (len(self.order) + 1)
        for depth in range(len(self.order) - 1, -1, -1):
            task = self.order[depth]
            gains = (column.value + self._bonus_at_most(column) for column in columns[task])
            self.left[depth] = self.left[depth + 1] + max(0, *gains, 0)

    def visit(self, depth: int, runs: dict[int, Run], used: Counter[tuple[object, ...]], worth: int) -> None:
        """Extend the plan so far, worth `worth` without bonuses, by the tasks from `depth` on."""
        total = worth + self._bonus(used)
        if total > self.best and self.firm <= runs.keys():
            self.best, self.best_runs = total, dict(runs)
        if depth == len(self.order) or total + self.left[depth] <= self.best:
            return
        task = self.order[depth]
        for column in self.columns[task]:
            if self._fits(task, column, runs, used):
                for key, amount in column.adds:
                    used[key] += amount
                runs[task] = column.run
                self.visit(depth + 1, runs, used, worth + column.value)
                del runs[task]
                for key, amount in column.adds:
                    used[key] -= amount
        self.visit(depth + 1, runs, used, worth)

    def _fits(self, task: int, column: Column, runs: dict[int, Run], used: Counter[tuple[object, ...]]) -> bool:
        after = self.problem.tasks[task].after
        if any(other not in runs or runs[other].end > column.run.start for other in after):
            return False
        if any(key in self.room and used[key] + amount > self.room[key] for key, amount in column.adds):
            return False
        return not any(row.spill for row in self.problem.rows) or self._spills_fit(used + Counter(dict(column.adds)))

    def _spills_fit(self, used: Counter[tuple[object, ...]]) -> bool:
        return all(
            row.limit is None or self._use(at, slot, used) <= row.limit[slot]
            for at, row in enumerate(self.problem.rows)
            for slot in range(self.problem.slots)
        )

    def _use(self, at: int, slot: int, used: Counter[tuple[object, ...]]) -> int:
        """What is charged to a row and what spills into it, one within the other."""
        return used["row", at, slot] + sum(
            max(0, self._use(other, slot, used) - row.spill.above[slot])
            for other, row in enumerate(self.problem.rows)
            if row.spill is not None and row.spill.row == at
        )

    def _bonus(self, used: Counter[tuple[object, ...]]) -> int:
        return sum(
            row.bonus_micros * min(used["row", at, slot], units)
            for at, row in enumerate(self.problem.rows)
            if row.guarantee is not None and row.bonus_micros
            for slot, units in enumerate(row.guarantee)
        )

    def _bonus_at_most(self, column: Column) -> int:
        return self._bonus(Counter(dict(column.adds)))


def _in_order(problem: Problem) -> list[int]:
    """Predecessors first; tasks on or behind a cycle never run and are left out."""
    order: list[int] = []
    while ready := [
        task
        for task in range(len(problem.tasks))
        if task not in order and all(other in order for other in problem.tasks[task].after)
    ]:
        order.extend(ready)
    return order


def _room(problem: Problem) -> dict[tuple[object, ...], int]:
    room: dict[tuple[object, ...], int] = {}
    for at, pool in enumerate(problem.pools):
        for position, node in enumerate(pool.nodes):
            for slot in range(problem.slots):
                for resource, capacity in enumerate(node.capacity):
                    gone = sum(each.use[resource] for each in node.taken if each.start <= slot < each.end)
                    room["node", at, position, slot, resource] = max(0, capacity - gone)
    for at, row in enumerate(problem.rows):
        if row.limit is not None:
            room.update({("row", at, slot): limit for slot, limit in enumerate(row.limit)})
    room.update({("budget", at): max(0, budget.micros) for at, budget in enumerate(problem.budgets)})
    return room


def _columns(problem: Problem, task: Task) -> Iterator[Column]:
    for run in runs_of(problem, task):
        adds = Counter[tuple[object, ...]]()
        for each in (*lead_of(task, run), run):
            _add(problem, task, each, adds)
        listed = tuple((key, amount) for key, amount in adds.items() if amount)
        lead = task.modes[run.mode].lead
        worth = run_value(problem, task, run) + (0 if lead is None else lead_value(task, lead))
        yield Column(run=run, value=worth, adds=listed)


def _add(problem: Problem, task: Task, run: Run, adds: Counter[tuple[object, ...]]) -> None:
    mode = task.modes[run.mode]
    for slot in range(run.start, min(run.end, problem.slots)):
        for seat in run.seats:
            for resource, use in enumerate(mode.parts[seat.part].use):
                adds["node", mode.pool, seat.node, slot, resource] += use
        for charge in mode.charges:
            adds["row", charge.row, slot] += charge.amount
    for at in task.budgets:
        budget = problem.budgets[at]
        paid = sum(1 for slot in range(run.start, run.end) if budget.start <= slot < budget.end)
        adds["budget", at] += mode.cash_micros * paid
