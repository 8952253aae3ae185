"""The smallest change of a gang's spec that would give it room in a finished plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from planner.compile.ask import divisors
from planner.compile.cells import seating
from planner.compile.domains import WORDS
from planner.compile.refusal import Refusal
from planner.compile.shape import shapes
from planner.spec.work import Within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from planner.compile.ask import Ask
    from planner.compile.candidate import Candidate
    from planner.compile.tasks import Work
    from solvers.problem import Mode


def wider(work: Work, candidate: Candidate, mode: Mode, has_room: Callable[[Mode], bool]) -> str | None:
    """How to let a gang spread so that `has_room` of it: the fewest nodes more, and without domains; None for no way.

    Only gangs of one part on whole devices of own hardware may be split otherwise.
    """
    asks = (wish.ask for wish in work.wishes)
    ask = next((ask for ask in asks if (ask.variant, ask.devices) == (candidate.variant, candidate.devices)), None)
    pool = candidate.site.pool
    if ask is None or ask.portion is not None or pool.cells or not pool.is_own:
        return None
    return next((fix for fix, way in _ways(ask, candidate, mode) if has_room(way)), None)


def _ways(ask: Ask, candidate: Candidate, mode: Mode) -> Iterator[tuple[str, Mode]]:
    """Each looser way to lie in the pool, with what to write for it, the nearest to what was asked for first."""
    if ask.within in WORDS and candidate.within is not None:
        yield "set topology.required to false", _laid(replace(candidate, within=None), mode)
    (piece, *others) = ask.pieces
    if others or piece.replicas != 1 or not piece.devices:
        return
    loose = "" if ask.within in {None, Within.POOL} else ", and topology.within to pool"
    for nodes in divisors(piece.devices // piece.unit):
        if nodes > candidate.node_count:
            split = shapes(
                replace(ask, pieces=(replace(piece, nodes=nodes),)), candidate.site.pool, candidate.site.group
            )
            if not isinstance(split, Refusal):
                way = replace(candidate, shapes=split, within=None)
                yield f"set gpus.nodes to {nodes}{loose}", _laid(way, mode)


def _laid(candidate: Candidate, mode: Mode) -> Mode:
    seat = seating(candidate)
    return replace(mode, parts=seat.parts, nodes=seat.nodes, within=seat.within)
