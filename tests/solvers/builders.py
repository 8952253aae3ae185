"""Problems and solutions for tests: one line a fact, everything else a legal default."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from solvers.check import value
from solvers.problem import Budget, Charge, Closure, Mode, Node, Part, Pool, Previous, Problem, Row, Taken, Task
from solvers.rules import Rule
from solvers.solution import Assignment, Proof, Run, Seat, Solution


def a_node(*capacity: int, name: str = "n0", closed: tuple[int, int] | None = None, **facts: Any) -> Node:
    """A node of 8 devices, or of the capacities given; `closed=(start, end)` closes it."""
    if closed is not None:
        facts["closures"] = (Closure(start=closed[0], end=closed[1]),)
    return Node(name=name, capacity=capacity or (8,), **facts)


def a_pool(*nodes: Node, name: str = "pool", **facts: Any) -> Pool:
    """A pool of the nodes given (one of 8 devices by default), renamed n0, n1, ... by position."""
    named = tuple(replace(node, name=f"n{at}") for at, node in enumerate(nodes or (a_node(),)))
    width = len(named[0].capacity) if named else 1
    return Pool(name=name, resources=("devices", "cpu", "memory")[:width], nodes=named, **facts)


def a_taken(start: int, end: int, *use: int) -> Taken:
    """Use of a node by what is not planned."""
    return Taken(start=start, end=end, use=use)


def a_mode(
    *use: int, count: int = 1, duration: int = 2, charges: tuple[tuple[int, int], ...] = (), **facts: Any
) -> Mode:
    """One node with 8 devices of pool 0 for 2 slots; `charges=((row, amount), ...)`."""
    facts.setdefault("parts", (a_part(*(use or (8,)), count=count),))
    facts.setdefault("limit", duration)
    facts.setdefault("name", "mode")
    facts.setdefault("pool", 0)
    listed = tuple(Charge(row=row, amount=amount) for row, amount in charges)
    return Mode(duration=duration, charges=listed, **facts)


def a_part(*use: int, count: int = 1, block: int = 0) -> Part:
    """`count` nodes of that use."""
    return Part(count=count, use=use, block=block)


def a_task(*modes: Mode, name: str = "task", worth_micros: int = 1_000, **facts: Any) -> Task:
    """A task worth 1,000 micros in one mode (see `a_mode`)."""
    return Task(name=name, modes=modes or (a_mode(),), worth_micros=worth_micros, **facts)


def a_previous(start: int, *nodes: tuple[int, int], mode: int = 0) -> Previous:
    """A previous run that began at `start` with `(node, devices)`."""
    return Previous(mode=mode, start=start, nodes=nodes)


def a_row(
    limit: tuple[int, ...] | None = None, guarantee: tuple[int, ...] | None = None, bonus: int = 0, **facts: Any
) -> Row:
    """A quota's row, of no limit and no guarantee unless given."""
    facts.setdefault("rule", Rule.QUOTA)
    facts.setdefault("subject", "row")
    return Row(limit=limit, guarantee=guarantee, bonus_micros=bonus, **facts)


def a_budget(micros: int, start: int = 0, end: int = 100, subject: str = "budget") -> Budget:
    """A budget of the first 100 slots."""
    return Budget(subject=subject, start=start, end=end, micros=micros)


def a_problem(*tasks: Task, slots: int = 8, pools: tuple[Pool, ...] | None = None, **facts: Any) -> Problem:
    """Eight slots, one pool of one node with 8 devices, one task; tasks are renamed t0, t1, ... by position."""
    named = tuple(replace(task, name=f"t{at}") for at, task in enumerate(tasks or (a_task(),)))
    return Problem(slots=slots, pools=(a_pool(),) if pools is None else pools, tasks=named, **facts)


def a_run(start: int, *nodes: int, end: int | None = None, mode: int = 0, **facts: Any) -> Run:
    """A run of 2 slots (see `a_mode`) on node 0, or on the nodes given, all in part 0 unless `seats` says otherwise."""
    facts.setdefault("seats", tuple(Seat(node=node, part=0) for node in (nodes or (0,))))
    return Run(mode=mode, start=start, end=start + 2 if end is None else end, **facts)


def seats(*pairs: tuple[int, int]) -> tuple[Seat, ...]:
    """`(node, part)` pairs as seats."""
    return tuple(Seat(node=node, part=part) for node, part in pairs)


def a_solution(problem: Problem, runs: dict[int, Run], bound: int | None = None) -> Solution:
    """The runs by task position, with their true value; a bound makes it `bounded`."""
    listed = tuple(Assignment(task=task, runs=(runs[task],)) for task in sorted(runs))
    proof = Proof.HEURISTIC if bound is None else Proof.BOUNDED
    draft = Solution(assignments=listed, value_micros=0, bound_micros=bound, proof=proof)
    return replace(draft, value_micros=value(problem, draft))
