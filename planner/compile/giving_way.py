"""When what runs may be asked to give way: what its team is guaranteed, and when others may want its devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from planner.compile.tasks import earliest

if TYPE_CHECKING:
    from planner.compile.candidate import Candidate
    from planner.compile.horizon import Horizon
    from planner.compile.quota_rows import Rows
    from planner.compile.quotas import Quotas
    from planner.compile.tasks import Work
    from planner.spec.policy import Policy
    from solvers.problem import Node

_SECOND_MS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What standings are judged by."""

    horizon: Horizon
    policy: Policy
    known: Quotas
    rows: Rows
    nodes: tuple[tuple[Node, ...], ...]


def above_guarantees(works: Sequence[Work], scene: Scene) -> Mapping[str, int | None]:
    """From which slot on what runs may be interrupted for others without its team falling below its guarantee.

    Of each quota only as much gives way as runs above the guarantee at some time: first the lowest priority, and of
    one priority what has begun last. None is never.
    """
    running: dict[int, list[Work]] = {}
    for work in works:
        site = work.candidates[0].site if work.standing is not None else None
        if site is not None and site.position is not None:
            home = scene.known.home(work.job.team, (site.at, site.position))
            if home is not None:
                running.setdefault(home, []).append(work)
    found: dict[str, int | None] = {}
    for home, group in running.items():
        above = _above(group, [each.planned for each in scene.rows.by_quota[home].held], scene.horizon)
        for work in sorted(group, key=_rank, reverse=True):
            found[work.address] = _gives_way(work.candidates[0], above, scene.horizon)
    return found


def _above(group: Sequence[Work], guaranteed: Sequence[int], horizon: Horizon) -> list[Fraction]:
    """By how much what runs exceeds a guarantee, slot by slot."""
    used = [Fraction(0)] * horizon.slots
    for work in group:
        for slot in _slots(work.candidates[0], horizon):
            used[slot] += work.candidates[0].amount
    return [max(Fraction(0), have - own) for have, own in zip(used, guaranteed, strict=True)]


def _gives_way(going_on: Candidate, above: list[Fraction], horizon: Horizon) -> int | None:
    """The first slot in which the run is wholly above the guarantee; then it is taken from what others may take."""
    slots = _slots(going_on, horizon)
    first = next((slot for slot in slots if above[slot] >= going_on.amount), None)
    if first is not None:
        for slot in slots:
            above[slot] = max(Fraction(0), above[slot] - going_on.amount)
    return first


def _slots(going_on: Candidate, horizon: Horizon) -> range:
    return range(min(horizon.length(going_on.expected_seconds), horizon.slots))


def _rank(work: Work) -> tuple[bool, str, int, str]:
    assert work.standing is not None, "only what runs is ranked"
    return work.job.preemptible, work.job.priority.value, work.standing.running.started_at, work.address


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """When others may want the devices of what runs, and how many seconds they wait for its next checkpoint.

    `slots` are those in which quotas change or work may begin, `ends` by pool those in which a run there ends.
    """

    slots: tuple[int, ...]
    ends: Mapping[int, tuple[int, ...]]
    patience: int

    def of(self, going_on: Candidate, also: int, most: int) -> tuple[int, ...]:
        """At most `most` of the slots that matter in its pool, and one more."""
        every = sorted({0, *self.slots, *self.ends.get(going_on.site.at, ())})
        return tuple(sorted({also, *every[:most]}))


def moments(works: Sequence[Work], firsts: Sequence[Work], scene: Scene) -> Moments:
    """When quotas change, work may begin, or one of the runs that are the first candidates of `firsts` ends."""
    horizon = scene.horizon
    slots = {earliest(work.job, horizon) for work in works if work.seen is None}
    for quota in scene.rows.by_quota:
        slots |= {slot for slot, (old, now) in enumerate(pairwise(quota.held), 1) if old != now}
    ends: dict[int, set[int]] = {}
    for work in firsts:
        ends.setdefault(work.candidates[0].site.at, set()).add(horizon.length(work.candidates[0].expected_seconds))
    waiting = {work.job.priority for work in works if work.seen is None}
    waits = (scene.policy.reclaim.wait_for_checkpoint.of(each).milliseconds for each in waiting)
    return Moments(
        slots=tuple(sorted(slot for slot in slots if slot < horizon.slots)),
        ends={pool: tuple(sorted(found)) for pool, found in ends.items()},
        patience=min(waits, default=0) // _SECOND_MS,
    )
