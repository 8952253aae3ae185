"""Why work has no place: what refused it before, and what of the finished plan stands in its way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.compile.domains import WORDS
from planner.compile.fleet import CPUS, DEVICES, MEMORY
from planner.compile.horizon import length_text
from planner.compile.refusal import Code, Refusal, as_reasons, one_a_subject
from planner.compile.shape import amount
from planner.compile.spot import cooling
from planner.decode.mending import wider
from planner.decode.occupancy import Occupancy
from planner.decode.rowroom import RowRoom
from planner.decode.slotmask import first, span, starts
from planner.plan import Unplaced
from planner.units import Money, ceil_div, format_time
from solvers.rules import Rule

if TYPE_CHECKING:
    from planner.compile.candidate import Candidate
    from planner.compile.problem import Compiled
    from planner.compile.tasks import Work
    from planner.decode.placed import Placed
    from solvers.problem import Charge, Mode, Task


_NAMED: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scene:
    """The finished plan, as far as it can stand in the way; `empty` is what stands there without any work."""

    compiled: Compiled
    occupancy: Occupancy
    empty: Occupancy
    rows: RowRoom
    spent: tuple[int, ...]
    ends: dict[int, int]


def unplaced(
    compiled: Compiled, runs: Sequence[Placed]
) -> tuple[tuple[Unplaced, ...], Mapping[str, tuple[Refusal, ...]]]:
    """Every job that does not run, with its reasons, sorted by address; and why services lack replicas, by address.

    Of a service the reasons are those of the first replicas that it lacks.
    """
    has_place = {each.at for each in runs}
    missing = [at for at in range(len(compiled.works)) if at not in has_place]
    if not missing:
        return (), {}
    scene = _scene(compiled, runs)
    found = (_unplaced(scene, at) for at in missing if compiled.works[at].layer is None)
    layers = {layer.address: at for at in reversed(missing) if (layer := compiled.works[at].layer) is not None}
    lacking = {where: _refusals(scene, at) for where, at in sorted(layers.items())}
    return tuple(sorted(found, key=lambda each: each.address)), lacking


def _scene(compiled: Compiled, runs: Sequence[Placed]) -> _Scene:
    problem = compiled.problem
    spent = [0] * len(problem.budgets)
    for each in runs:
        for at in each.task.budgets:
            spent[at] += _cash_in(compiled, at, each.mode, each.run.start, each.run.end)
    return _Scene(
        compiled=compiled,
        occupancy=Occupancy(problem, runs),
        empty=Occupancy(problem, ()),
        rows=RowRoom(problem, runs),
        spent=tuple(spent),
        ends={each.at: each.run.end for each in runs},
    )


def _cash_in(compiled: Compiled, budget: int, mode: Mode, start: int, end: int) -> int:
    period = compiled.problem.budgets[budget]
    return mode.cash_micros * max(0, min(end, period.end) - max(start, period.start))


def _unplaced(scene: _Scene, at: int) -> Unplaced:
    work = scene.compiled.works[at]
    return Unplaced(
        address=work.address, submitted=format_time(work.submitted), reasons=as_reasons(_refusals(scene, at))
    )


def _refusals(scene: _Scene, at: int) -> tuple[Refusal, ...]:
    work, task = scene.compiled.works[at], scene.compiled.problem.tasks[at]
    waits = [
        _wait(scene, work, task, candidate, mode) for candidate, mode in zip(work.candidates, task.modes, strict=True)
    ]
    taken = {refusal.subject for refusal in waits}
    return one_a_subject([*waits, *(refusal for refusal in work.refusals if refusal.subject not in taken)])


def _wait(scene: _Scene, work: Work, task: Task, candidate: Candidate, mode: Mode) -> Refusal:
    """What keeps one legal mode out of the plan: the first of dependency, window, nodes, quota, budget, worth."""
    blocked = _dependency(scene, task, candidate)
    if blocked is not None:
        return blocked
    within = _window(scene, task, mode)
    if not within:
        return candidate.site.refuse(Code.WINDOW, "no start is left between its earliest start and its deadline")
    room = scene.occupancy.room(mode, within)
    if not room.starts:
        return _no_room(scene, work, task, candidate, mode, within)
    allowed = room.starts
    for charge in mode.charges:
        before = allowed
        allowed &= starts(scene.rows.slots_with_room(charge.row, charge.amount), scene.rows.width, mode.duration)
        if not allowed:
            return _row_full(scene, charge, candidate, before, mode.duration)
    return _affordable(scene, work, task, candidate, mode, allowed)


def _dependency(scene: _Scene, task: Task, candidate: Candidate) -> Refusal | None:
    for other in task.after:
        if other not in scene.ends:
            name = scene.compiled.works[other].address
            what = f"comes after {name}, which has no place"
            return candidate.site.refuse(Code.DEPENDENCY, what, f"see why {name} has none")
    return None


def _window(scene: _Scene, task: Task, mode: Mode) -> int:
    begin = max([task.earliest, *(scene.ends[other] for other in task.after)])
    end = scene.compiled.problem.slots
    if task.latest is not None:
        end = min(end, task.latest + 1)
    if task.deadline is not None:
        end = min(end, task.deadline - mode.duration + 1)
    return span(begin, end)


def _no_room(scene: _Scene, work: Work, task: Task, candidate: Candidate, mode: Mode, within: int) -> Refusal:
    horizon = scene.compiled.horizon
    room = scene.occupancy.room(mode, within)
    until = scene.compiled.cooling[mode.pool]
    if not room.most and until and _closed(scene, mode, within):
        return cooling(candidate, until, horizon, ", too long for a whole run")
    if not room.most and _closed(scene, mode, within):
        if any(node.taken for node in scene.compiled.problem.pools[mode.pool].nodes):
            what = "others that are not planned here use its nodes, or they are closed, too long for a whole run"
            return candidate.site.refuse(Code.FOREIGN, what)
        return candidate.site.refuse(Code.MAINTENANCE, "its nodes are closed too soon or too long for a whole run")
    near = _together(candidate)
    message = f"needs {_need(candidate, mode)} free for {length_text(mode.duration * horizon.slot_seconds)}, "
    when = "at any time" if task.deadline is None else "at any time before its deadline"
    when = when if task.latest is None else f"from {format_time(horizon.moment(task.latest))} on"
    if room.most:
        on_node = " on a node" if candidate.site.pool.cells else ""
        message += f"at most {room.most} at once{on_node}, from {format_time(horizon.moment(room.at))}"
    else:
        message += f"none has that {when}"
    spread = scene.occupancy.free_devices(mode.pool, within)
    if spread >= mode.devices:
        over = "domains or nodes" if near else "nodes"
        free = Fraction(spread, scene.compiled.problem.units)
        message += f"; {free} devices are free at once, but spread over {over} or for too short"
    message += _giving_way(scene, mode)
    later, then = _later(scene, task, candidate, mode)
    apart = wider(work, candidate, mode, lambda way: bool(_allowed(scene, way, within)))
    fix = ", or ".join(each for each in (apart, then) if each is not None)
    return candidate.site.refuse(Code.CAPACITY, message + later, fix or None)


def _allowed(scene: _Scene, mode: Mode, within: int) -> int:
    """The starts of a mode in `within` for which nodes and rows have room."""
    found = scene.occupancy.room(mode, within).starts
    for charge in mode.charges:
        found &= starts(scene.rows.slots_with_room(charge.row, charge.amount), scene.rows.width, mode.duration)
    return found


def _later(scene: _Scene, task: Task, candidate: Candidate, mode: Mode) -> tuple[str, str | None]:
    """When there is room beyond the times that the work allows, and what would let it wait for that."""
    horizon = scene.compiled.horizon
    free = first(scene.occupancy.room(mode, span(task.earliest, scene.occupancy.width)).starts)
    if free is None or candidate.nodes or task.latest is not None:
        return "", None
    moment = format_time(horizon.moment(free))
    if free >= horizon.slots:
        return f"; free from {moment}, after this plan", None
    end = format_time(horizon.moment(free + mode.duration))
    return f"; free from {moment}, after its deadline", f"move the deadline to {end}, or raise its priority"


def _need(candidate: Candidate, mode: Mode) -> str:
    """What the largest part of a gang needs at once."""
    pool, shape = candidate.site.pool, candidate.shapes[0]
    use = shape.use if pool.is_own else pool.capacity
    each = [
        amount(name, number)
        for name, number in zip(pool.resources, use, strict=True)
        if number and name in {DEVICES, CPUS, MEMORY}
    ]
    if not pool.cells or not candidate.devices:
        return f"{_nodes(mode.parts[0].count)}{_together(candidate)} with {' and '.join(each)}"
    part = candidate.profile or (f"{candidate.size} of a device" if candidate.size < 1 else "whole device")
    things = part if shape.devices == 1 else f"{shape.devices} times {part} on one node"
    return f"{things} with {' and '.join(each[1:])}" if each[1:] else things


def _together(candidate: Candidate) -> str:
    """Within what the nodes have to lie."""
    if candidate.within is None:
        return ""
    return f" within one {WORDS[candidate.site.pool.tiers[candidate.within].within]}"


def _giving_way(scene: _Scene, mode: Mode) -> str:
    """Of what runs in the pool, all that the guarantees of its teams leave to others."""
    here = [
        (work, work.candidates[0].devices)
        for work in scene.compiled.works
        if work.standing is not None and work.standing.goes_on and work.candidates[0].site.at == mode.pool
    ]
    if not here:
        return ""
    loose = [(work.address, devices) for work, devices in here if work.standing and not work.standing.stays]
    if not loose:
        return "; nothing that runs there may be taken back"
    named = ", ".join(f"{where} ({devices})" for where, devices in loose[:_NAMED])
    more = f" and {len(loose) - _NAMED} more" if len(loose) > _NAMED else ""
    return f"; of what runs there only {named}{more} may be taken back"


def _nodes(count: int) -> str:
    return "1 node" if count == 1 else f"{count} nodes"


def _closed(scene: _Scene, mode: Mode, within: int) -> bool:
    """Whether even an empty pool would have no room: its nodes are closed."""
    return not scene.empty.room(mode, within).starts


def _row_full(scene: _Scene, charge: Charge, candidate: Candidate, begins: int, duration: int) -> Refusal:
    at = scene.rows.tightest(charge.row, charge.amount)
    row, most = scene.compiled.problem.rows[at], scene.rows.most(charge.row)
    if charge.row in candidate.counted:
        message = f"replicas that are spread evenly: {row.subject} may be {most} more at a time"
        return candidate.site.refuse(Code.CAPACITY, message, "raise spread.max_skew, or make room elsewhere")
    to_one = scene.compiled.problem.units if charge.row < len(scene.compiled.rows.rows) else 1
    left, needed = Fraction(most, to_one), Fraction(charge.amount, to_one)
    message = f"{row.subject} has at most {left} left at a time, {needed} are needed for the whole run"
    if row.rule is Rule.LENDING:
        fix = "raise lend or lower unplanned in these quotas, or let other work go"
        return candidate.site.refuse(Code.QUOTA, message, fix)
    more = ceil_div(scene.rows.lacking(charge.row, charge.amount, begins, duration), to_one)
    return candidate.site.refuse(Code.QUOTA, message, f"raise its limit by {more}, or let other work of the team go")


def _affordable(scene: _Scene, work: Work, task: Task, candidate: Candidate, mode: Mode, allowed: int) -> Refusal:
    compiled = scene.compiled
    currency = compiled.specset.policy.currency
    start = first(allowed) or 0
    for at in task.budgets:
        budget = compiled.problem.budgets[at]
        left = budget.micros - scene.spent[at]
        needed = _cash_in(compiled, at, mode, start, start + mode.duration)
        if needed > left:
            message = f"costs {Money(currency, needed)}, the {budget.subject} has {Money(currency, max(0, left))} left"
            return candidate.site.refuse(Code.BUDGET, message, "raise the budget, or let it wait")
    inside = min(start + mode.duration, compiled.problem.slots) - start
    cost = (mode.cash_micros + mode.power_micros) * inside + task.delay_micros * (start + mode.duration - task.since)
    gain = (task.worth_micros + task.premium_micros) * inside // mode.duration
    if cost >= gain:
        message = f"would cost {Money(currency, cost)} (cash, power and delay) and is worth {Money(currency, gain)}"
        return candidate.site.refuse(Code.NOT_WORTH, message, f"raise its priority above {work.job.priority.value}")
    moment = format_time(compiled.horizon.moment(start))
    return candidate.site.refuse(
        Code.NOT_FOUND, f"has room from {moment} on, the search did not reach it", "plan with a higher --effort"
    )
