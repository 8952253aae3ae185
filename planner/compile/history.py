"""What snapshots say is over: runs that ended, and cash that is spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.compile.refusal import Code, Refusal
from planner.spec.snapshot import FinishedState

if TYPE_CHECKING:
    from planner.spec.job import Job
    from planner.spec.snapshot import Snapshot, Spent


@dataclass(frozen=True, slots=True, kw_only=True)
class Expense:
    """Cash of one team in micros, spent between two moments."""

    team: str
    since: int
    until: int
    micros: int


@dataclass(frozen=True, slots=True)
class History:
    """The ends of runs by `(address, hash of the spec)`: those that succeeded, and how often it failed."""

    succeeded: frozenset[tuple[str, str]]
    failed: Counter[tuple[str, str]]
    expenses: tuple[Expense, ...]

    def is_done(self, addresses: Iterable[str], spec: str) -> bool:
        """Whether a run of just this spec has succeeded, under the present address or a former one."""
        return any((where, spec) in self.succeeded for where in addresses)

    def given_up(self, job: Job, addresses: Iterable[str], spec: str) -> Refusal | None:
        """Why a job is not tried again; None while it has tries left."""
        failures = sum(self.failed[where, spec] for where in addresses)
        if failures <= job.retries:
            return None
        times = "once" if failures == 1 else f"{failures} times"
        message = f"has failed {times}, retries allows {job.retries}"
        return Refusal(
            code=Code.FAILED, subject=next(iter(addresses), ""), message=message,
            fix=f"change what it runs, or raise retries to {failures}",
        )  # fmt: skip


def history(snapshots: Iterable[Snapshot]) -> History:
    """What all snapshots together say; an end that two of them tell, at one time, is one."""
    seen = tuple(snapshots)
    ends = {(f"job/{end.job}", end.spec, end.state, end.at) for shot in seen for end in shot.finished}
    return History(
        frozenset((where, spec) for where, spec, state, _ in ends if state is FinishedState.SUCCEEDED),
        Counter((where, spec) for where, spec, state, _ in ends if state is FinishedState.FAILED),
        tuple(_expense(spent, shot) for shot in seen for spent in shot.spent),
    )


def _expense(spent: Spent, shot: Snapshot) -> Expense:
    return Expense(team=spent.team, since=spent.since, until=max(shot.taken_at, spent.since), micros=spent.cash.micros)
