"""What the plan does to work that runs when it starts: who is moved, who gives way, to whom, and what that loses."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from planner.compile.cells import hosts_of
from planner.plan import Move, Preemption, count_of
from planner.units import format_time

if TYPE_CHECKING:
    from planner.compile.cuts import Cut
    from planner.compile.problem import Compiled
    from planner.compile.sighting import Standing
    from planner.compile.tasks import Work
    from planner.decode.placed import Placed


def moves(compiled: Compiled, runs: Sequence[Placed]) -> tuple[Move, ...]:
    """Work that goes on elsewhere without a pause, sorted by address."""
    return tuple(sorted((_move(compiled, each, runs) for each in runs if _moves(each)), key=lambda move: move.address))


def preemptions(compiled: Compiled, runs: Sequence[Placed]) -> tuple[Preemption, ...]:
    """Work that is interrupted, whether it begins again in this plan or not, sorted by address."""
    placed = {each.at: each for each in runs if not each.leads}
    found = (
        _preemption(compiled, work, work.standing, _cut(work.standing, placed.get(at)), runs)
        for at, work in enumerate(compiled.works)
        if work.standing is not None and (at not in placed or _pauses(placed[at]))
    )
    return tuple(sorted(found, key=lambda stop: stop.victim))


def _cut(now: Standing, each: Placed | None) -> Cut:
    """What the interruption loses that leads to a run; work without one stops at once."""
    return now.at_once if each is None or each.candidate.cut is None else each.candidate.cut


def _moves(each: Placed) -> bool:
    now = each.work.standing
    return now is not None and not each.goes_on and each.run.start == _cut(now, each).slot


def _pauses(each: Placed) -> bool:
    return not each.goes_on and not _moves(each)


def _move(compiled: Compiled, each: Placed, runs: Sequence[Placed]) -> Move:
    now = each.work.standing
    assert now is not None, "only what runs moves"
    cut = _cut(now, each)
    pool = compiled.fleet[each.candidate.site.at]
    told = {
        "address": each.work.address,
        "at": format_time(compiled.horizon.moment(cut.slot)),
        "from": tuple(f"{now.running.pool}/{node.name}" for node in now.running.nodes),
        "to": tuple(f"{pool.name}/{pool.nodes[at]}" for at in hosts_of(pool, (seat.node for seat in each.run.seats))),
        "for": _successor(compiled, each.work, now, cut, runs),
        "lost_work_seconds": cut.lost_seconds,
    }
    return Move.model_validate(told)


def _preemption(compiled: Compiled, work: Work, now: Standing, cut: Cut, runs: Sequence[Placed]) -> Preemption:
    return Preemption(
        victim=work.address,
        by=_successor(compiled, work, now, cut, runs),
        at=format_time(compiled.horizon.moment(cut.slot)),
        gpus=count_of(Fraction(sum(devices for _, devices in now.nodes), compiled.problem.units)),
        lost_work_seconds=cut.lost_seconds,
    )


def _successor(compiled: Compiled, work: Work, now: Standing, cut: Cut, runs: Sequence[Placed]) -> str:
    """The first work that begins on one of the nodes it leaves; its pool where none does, since the nodes close."""
    nodes = {node for node, _ in now.nodes}
    later = (
        (each.run.start, -each.candidate.devices, each.work.address)
        for each in runs
        if each.pool.name == now.running.pool
        and not each.goes_on
        and each.run.start >= cut.slot
        and each.work.address != work.address
        and nodes & {seat.node for seat in each.run.seats}
    )
    first = min(later, default=None)
    return first[2] if first is not None else f"pool/{now.running.pool}"
