"""Judges a solution by its problem alone, in plain Python that shares nothing with a solver: rules, value, bound.

`CHECKS` has one function a rule. Each works the arithmetic of its formula out again from `Problem` and `Solution`, says
everything that is wrong (not only the first thing), and stays safe on nonsense: what one check reports as ill formed,
the others skip.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

from solvers.placed import Case, Placed, read, steps
from solvers.rules import Rule
from solvers.solution import Proof
from solvers.worth import case_value, moved_devices, run_value, value

if TYPE_CHECKING:
    from solvers.problem import Budget, Node, Pool, Problem, Row, Task
    from solvers.solution import Run, Solution

__all__ = [
    "CHECKS",
    "CLAIMS",
    "CheckError",
    "Claim",
    "Violation",
    "check",
    "moved_devices",
    "raise_if_wrong",
    "run_value",
    "value",
]


class Claim(StrEnum):
    """What a solution says of itself, beside obeying the rules."""

    FORM = "form"
    VALUE = "value"
    BOUND = "bound"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One fault: the rule or claim it breaks, whom it concerns, and the figures."""

    rule: Rule | Claim
    subject: str
    detail: str

    def __str__(self) -> str:
        return f"{self.rule}/{self.subject}: {self.detail}"


class CheckError(Exception):
    """A solver returned a wrong plan; carries the instance, so that it can be saved and replayed."""

    def __init__(self, problem: Problem, solution: Solution, violations: tuple[Violation, ...]) -> None:
        self.problem = problem
        self.solution = solution
        self.violations = violations
        more = f" (and {len(violations) - 3} more)" if len(violations) > 3 else ""
        super().__init__("wrong plan: " + "; ".join(map(str, violations[:3])) + more)


Finding = tuple[str, str]
"""Whom a fault concerns, and the figures."""

Check = Callable[[Case], Iterator[Finding]]


def check(problem: Problem, solution: Solution) -> tuple[Violation, ...]:
    """List every fault of `solution`: rule by rule in the order of `Rule`, then its claims. Empty when it is right."""
    case = read(problem, solution)
    checks: tuple[tuple[Rule | Claim, Check], ...] = (*((rule, CHECKS[rule]) for rule in Rule), *CLAIMS.items())
    return tuple(
        Violation(rule=rule, subject=subject, detail=detail) for rule, find in checks for subject, detail in find(case)
    )


def raise_if_wrong(problem: Problem, solution: Solution) -> None:
    """Raise `CheckError` unless `check` finds nothing."""
    if violations := check(problem, solution):
        raise CheckError(problem, solution, violations)


def _capacity(case: Case) -> Iterator[Finding]:
    """Where taken use alone exceeds what a node has, nothing is left of it, and no run is to blame for the excess."""
    used: defaultdict[tuple[int, int], list[tuple[range, tuple[int, ...]]]] = defaultdict(list)
    for each in case.placed:
        span = each.inside(case.problem.slots)
        for seat in each.seats:
            used[each.mode.pool, seat.node].append((span, each.mode.parts[seat.part].use))
    for (pool, position), uses in sorted(used.items()):
        owner = case.problem.pools[pool]
        node = owner.nodes[position]
        for resource, name in enumerate(owner.resources):
            yield from _overfull(case.problem.slots, node, resource, uses, f"{owner.name}/{node.name}", name)


def _overfull(
    slots: int, node: Node, resource: int, uses: list[tuple[range, tuple[int, ...]]], subject: str, name: str
) -> Iterator[Finding]:
    planned = steps(slots, ((span.start, span.stop, use[resource]) for span, use in uses))
    if max(planned) <= node.capacity[resource] and not node.taken:
        return
    taken = steps(slots, ((each.start, each.end, each.use[resource]) for each in node.taken))
    for slot, (use, gone) in enumerate(zip(planned, taken, strict=True)):
        free = max(0, node.capacity[resource] - gone)
        if use > free:
            yield subject, f"{use} {name} of {free} free in slot {slot}"


def _gang(case: Case) -> Iterator[Finding]:
    for assignment in case.solution.assignments:
        if 0 <= assignment.task < len(case.problem.tasks) and assignment.runs:
            task = case.problem.tasks[assignment.task]
            for detail in _run_faults(task, assignment.runs):
                yield task.name, detail
    for each in case.placed:
        for detail in _gang_faults(case.problem, each):
            yield each.task.name, detail


def _run_faults(task: Task, runs: tuple[Run, ...]) -> Iterator[str]:
    """One run, or two where the mode of the last has a lead, which the other is then."""
    last = runs[-1].mode
    lead = task.modes[last].lead if 0 <= last < len(task.modes) else None
    if len(runs) != (1 if lead is None else 2):
        yield f"{len(runs)} runs, expected {'at most one' if lead is None else 'a lead and one more'}"
    elif lead is not None and (runs[0].mode, runs[0].start) != (0, 0):
        yield f"its lead is in mode {runs[0].mode} from slot {runs[0].start} on, expected its first mode from slot 0 on"


def _gang_faults(problem: Problem, each: Placed) -> Iterator[str]:
    pool = problem.pools[each.mode.pool]
    for seat in each.run.seats:
        if not 0 <= seat.node < len(pool.nodes):
            yield f"node {seat.node} of pool {pool.name}, which has {len(pool.nodes)}"
        if not 0 <= seat.part < len(each.mode.parts):
            yield f"part {seat.part} of mode {each.mode.name}, which has {len(each.mode.parts)}"
    seated = Counter(seat.part for seat in each.run.seats)
    for part, wanted in enumerate(each.mode.parts):
        if seated[part] != wanted.count:
            yield f"{seated[part]} nodes for part {part} of mode {each.mode.name}, expected {wanted.count}"
    for node, times in sorted(Counter(seat.node for seat in each.run.seats).items()):
        if times > 1:
            yield f"node {node} of pool {pool.name} sits {times} times"


def _topology(case: Case) -> Iterator[Finding]:
    for each in case.placed:
        if each.mode.within is not None:
            pool = case.problem.pools[each.mode.pool]
            for detail in _domain_faults(pool, each, each.mode.within):
                yield each.task.name, detail


def _domain_faults(pool: Pool, each: Placed, tier: int) -> Iterator[str]:
    lies: defaultdict[int, set[int | None]] = defaultdict(set)
    for seat in each.seats:
        lies[each.mode.parts[seat.part].block].add(pool.nodes[seat.node].domains[tier])
    for block, domains in sorted(lies.items()):
        if len(domains) > 1 or None in domains:
            known = sorted(domain for domain in domains if domain is not None)
            unknown = " and in none" if None in domains else ""
            yield f"block {block} lies in domains {known}{unknown} of tier {pool.tiers[tier]}, expected one"
    used = Counter(domain for domains in lies.values() for domain in domains if domain is not None)
    for domain, blocks in sorted(used.items()):
        if blocks > 1:
            yield f"{blocks} blocks lie in domain {domain} of tier {pool.tiers[tier]}, expected one"


def _compatibility(case: Case) -> Iterator[Finding]:
    for assignment in case.solution.assignments:
        if 0 <= assignment.task < len(case.problem.tasks):
            task = case.problem.tasks[assignment.task]
            for run in assignment.runs:
                if not 0 <= run.mode < len(task.modes):
                    yield task.name, f"mode {run.mode} of {len(task.modes)}"


def _availability(case: Case) -> Iterator[Finding]:
    for each in case.placed:
        pool = case.problem.pools[each.mode.pool]
        until = each.start + each.mode.limit if each.lead is None else each.end
        for seat in each.seats:
            node = pool.nodes[seat.node]
            for closure in node.closures:
                if max(closure.start, each.start) < min(closure.end, until):
                    shut = f"{pool.name}/{node.name} is closed in [{closure.start}, {closure.end})"
                    yield each.task.name, f"may run in [{each.start}, {until}), {shut}"


def _window(case: Case) -> Iterator[Finding]:
    for each in case.placed:
        for detail in _window_faults(case.problem, each):
            yield each.task.name, detail


def _window_faults(problem: Problem, each: Placed) -> Iterator[str]:
    """A start that is pinned (earliest = latest) is the pin's affair, not the window's."""
    task, start = each.task, each.start
    if each.run.end != each.end:
        yield f"ends at {each.run.end}, expected start {start} + {each.end - start} slots"
    if not 0 <= start < problem.slots:
        yield f"starts at {start}, outside [0, {problem.slots})"
    elif task.earliest != task.latest:
        yield from _outside(start, task.earliest, task.latest)
    yield from _outside(start, each.mode.earliest, each.mode.latest)
    if task.deadline is not None and each.end > task.deadline:
        yield f"ends at {each.end}, deadline {task.deadline}"


def _outside(start: int, earliest: int, latest: int | None) -> Iterator[str]:
    if start < earliest:
        yield f"starts at {start}, not before {earliest}"
    if latest is not None and start > latest:
        yield f"starts at {start}, at the latest {latest}"


def _dependency(case: Case) -> Iterator[Finding]:
    ends: dict[int, int] = {}
    for each in case.placed:
        ends[each.position] = max(each.end, ends.get(each.position, each.end))
    for each in case.placed:
        for other in each.task.after:
            name = case.problem.tasks[other].name
            if other not in ends:
                detail = f"comes after {name}, which does not run"
            elif ends[other] > each.start:
                detail = f"starts at {each.start}, {name} ends at {ends[other]}"
            else:
                continue
            yield each.task.name, detail


def _quota(case: Case) -> Iterator[Finding]:
    return _above_limit(case, spilled_into=False)


def _lending(case: Case) -> Iterator[Finding]:
    return _above_limit(case, spilled_into=True)


def _above_limit(case: Case, *, spilled_into: bool) -> Iterator[Finding]:
    into = {row.spill.row for row in case.problem.rows if row.spill is not None}
    for position, (row, used) in enumerate(zip(case.problem.rows, case.row_use(), strict=True)):
        if row.limit is not None and (position in into) is spilled_into:
            for slot, (use, limit) in enumerate(zip(used, row.limit, strict=True)):
                if use > limit:
                    yield f"{row.rule}/{row.subject}", f"{use} units in slot {slot}, at most {limit}"


def _priority(case: Case) -> Iterator[Finding]:
    charged = case.charged()
    shares = [_least_shares(case, row, amounts) for row, amounts in zip(case.problem.rows, charged, strict=True)]
    for index, each in enumerate(case.placed):
        share = 0 if each.mode.home is None else shares[each.mode.home].get(index, 0)
        if each.run.guaranteed != share:
            yield each.task.name, f"{each.run.guaranteed} units called guaranteed, expected {share}"


def _least_shares(case: Case, row: Row, amounts: Mapping[int, int]) -> dict[int, int]:
    """Deal a row's guarantee out to all runs that charge it; each keeps the least it got in a slot of the horizon."""
    if row.guarantee is None:
        return {}
    left = list(row.guarantee)
    shares: dict[int, int] = {}
    for index in sorted(amounts, key=lambda index: _rank(case.placed[index])):
        span = case.placed[index].inside(case.problem.slots)
        shares[index] = min((min(amounts[index], left[slot]) for slot in span), default=0)
        for slot in span:
            left[slot] -= min(amounts[index], left[slot])
    return shares


def _rank(each: Placed) -> tuple[bool, int, int, int]:
    return each.task.interruptible, each.task.priority, each.start, each.position


def _budget(case: Case) -> Iterator[Finding]:
    for position, budget in enumerate(case.problem.budgets):
        spent = sum(_cash(each, budget) for each in case.placed if position in each.task.budgets)
        if spent > max(0, budget.micros):
            yield budget.subject, f"{spent} micros in [{budget.start}, {budget.end}), at most {budget.micros}"


def _cash(each: Placed, budget: Budget) -> int:
    return each.mode.cash_micros * max(0, min(each.end, budget.end) - max(each.start, budget.start))


def _market(case: Case) -> Iterator[Finding]:
    """Which of the nodes are too many cannot be told, so a pool with more than its market grants may not be used."""
    for position in sorted({each.mode.pool for each in case.placed}):
        pool = case.problem.pools[position]
        if pool.ceiling is not None and len(pool.nodes) > pool.ceiling:
            yield pool.name, f"{len(pool.nodes)} nodes, the market grants {pool.ceiling}"


def _pin(case: Case) -> Iterator[Finding]:
    running = {each.position for each in case.placed}
    for position, task in enumerate(case.problem.tasks):
        if task.stays and position not in running:
            yield task.name, "has no run, but runs already and may not stop"
    for each in case.placed:
        task, nodes = each.task, each.mode.nodes
        if task.earliest == task.latest and each.start != task.earliest:
            yield task.name, f"starts at {each.start}, pinned to {task.earliest}"
        for seat in each.seats:
            if nodes is not None and seat.node not in nodes:
                yield task.name, f"sits on node {seat.node}, mode {each.mode.name} names {list(nodes)}"
        if each.lead is not None and {(seat.node, seat.part) for seat in each.seats} != set(each.lead.seats):
            yield task.name, f"sits on {each.seats} before it is interrupted, expected {each.lead.seats}"


def _form(case: Case) -> Iterator[Finding]:
    tasks = [assignment.task for assignment in case.solution.assignments]
    for task in tasks:
        if not 0 <= task < len(case.problem.tasks):
            yield str(task), f"no such task among {len(case.problem.tasks)}"
    if any(left >= right for left, right in pairwise(tasks)):
        yield "assignments", "not in task order, each task once"
    if tasks and case.solution.proof in {Proof.INFEASIBLE, Proof.NONE}:
        yield "proof", f"{len(tasks)} assignments in a solution that says {case.solution.proof}"


def _claimed_value(case: Case) -> Iterator[Finding]:
    worth = case_value(case)
    if case.solution.value_micros != worth:
        yield "solution", f"claims {case.solution.value_micros} micros, is worth {worth}"


def _claimed_bound(case: Case) -> Iterator[Finding]:
    proof, bound, worth = case.solution.proof, case.solution.bound_micros, case_value(case)
    if bound is None:
        if proof in {Proof.OPTIMAL, Proof.BOUNDED}:
            yield "solution", f"says {proof} without a bound"
    elif bound < worth:
        yield "solution", f"bound of {bound} micros below the value {worth}"
    elif proof is Proof.OPTIMAL and bound != worth:
        yield "solution", f"says optimal at {worth} micros under a bound of {bound}"


CHECKS: Mapping[Rule, Check] = MappingProxyType(
    {
        Rule.CAPACITY: _capacity,
        Rule.GANG: _gang,
        Rule.TOPOLOGY: _topology,
        Rule.COMPATIBILITY: _compatibility,
        Rule.AVAILABILITY: _availability,
        Rule.WINDOW: _window,
        Rule.DEPENDENCY: _dependency,
        Rule.QUOTA: _quota,
        Rule.LENDING: _lending,
        Rule.PRIORITY: _priority,
        Rule.BUDGET: _budget,
        Rule.MARKET: _market,
        Rule.PIN: _pin,
    }
)

CLAIMS: Mapping[Claim, Check] = MappingProxyType(
    {Claim.FORM: _form, Claim.VALUE: _claimed_value, Claim.BOUND: _claimed_bound}
)
