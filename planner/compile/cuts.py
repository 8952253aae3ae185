"""When work that runs may be interrupted, and what that loses then.

An interruption falls on a moment at which something changes for others, or on the first checkpoint after it. What was
done since the last checkpoint is lost, and so is the restart. In fractions of the whole work of a run that is expected
to last E on its own devices, at a moment t seconds after the plan's start and c seconds after it for the last
checkpoint by then:

    done(t)  =  done + t / E
    saved(t) =  done(c), or what was saved when the plan starts where there is no checkpoint by then
    lost(t)  =  done(t) - saved(t) + restart / E
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.units import ceil_div, ceil_fraction

if TYPE_CHECKING:
    from planner.compile.horizon import Horizon
    from planner.spec.job import Job
    from planner.spec.snapshot import Running

_SECOND_MS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """An interruption at the beginning of a slot: `done` and `saved` of the whole work by then, and what it loses.

    `lost_part` is of the whole work and takes `lost_seconds` on the devices that it runs on.
    """

    slot: int
    done: Fraction
    saved: Fraction
    lost_part: Fraction
    lost_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a run goes on from the plan's start: expected seconds of the whole work, and how much is done and saved.

    Checkpoints are made every `every` seconds (None: never) from the moment `base` on, in which the run began, or was
    saved (`saved_at_base`). `restart` is what one takes to begin again, in seconds. By itself the run ends in slot
    `ends`; until slot `floor` it may not be interrupted.
    """

    expected: int
    done: Fraction
    saved: Fraction
    every: int | None
    restart: int
    base: int
    saved_at_base: bool
    ends: int
    floor: int


def course(
    job: Job, running: Running, expected: int, *, done: Fraction, saved: Fraction, ends: int, floor: int
) -> Course:  # fmt: skip
    """The course of a job's run."""
    every = None if job.checkpoint is None else max(1, job.checkpoint.every.milliseconds // _SECOND_MS)
    saved_at = running.checkpointed_at
    return Course(
        expected=expected, done=done, saved=saved, every=every, restart=restart_seconds(job),
        base=running.started_at if saved_at is None else saved_at, saved_at_base=saved_at is not None, ends=ends,
        floor=floor,
    )  # fmt: skip


def restart_seconds(job: Job) -> int:
    """How long work takes to begin again from a checkpoint."""
    return 0 if job.checkpoint is None else ceil_fraction(Fraction(job.checkpoint.restart.milliseconds, _SECOND_MS))


def cut(run: Course, slot: int, horizon: Horizon) -> Cut:
    """What an interruption at the beginning of a slot finds and loses."""
    seconds = slot * horizon.slot_seconds
    done = run.done + Fraction(seconds, run.expected)
    saved = run.saved
    if (last := _last_checkpoint(run, horizon.start + seconds)) is not None and last > horizon.start:
        saved = max(saved, run.done + Fraction(last - horizon.start, run.expected))
    lost = done - saved + Fraction(run.restart, run.expected)
    return Cut(slot=slot, done=done, saved=saved, lost_part=lost, lost_seconds=ceil_fraction(run.expected * lost))


def cuts(run: Course, moments: Iterable[int], closes: int, horizon: Horizon, patience: int) -> tuple[Cut, ...]:
    """The interruptions that a run may meet: for each of the slots `moments`, and before its nodes close.

    Others wait `patience` seconds for its next checkpoint; where that comes later, or there are none, they do not.
    Work without checkpoints loses the more the longer it goes on, so it gives way at the first of them or never.
    """
    wanted = sorted({max(moment, run.floor) for moment in moments})
    wanted = wanted if run.every is not None else wanted[:1]
    found = {slot for moment in wanted for slot in _answers(run, moment, horizon, patience)}
    if closes < run.ends:
        found = {slot for slot in (0, *found, *_before(run, closes, horizon)) if slot <= closes}
    return tuple(cut(run, slot, horizon) for slot in sorted(found) if slot < min(run.ends, horizon.slots))


def _answers(run: Course, slot: int, horizon: Horizon, patience: int) -> Iterator[int]:
    """When the run gives way to those who need its devices from `slot` on."""
    saved = _next_checkpoint(run, slot, horizon)
    wait = min(run.ends, run.ends if saved is None else saved) - slot
    if saved is None or wait * horizon.slot_seconds > patience:
        yield slot
    if saved is not None:
        yield saved


def _before(run: Course, closes: int, horizon: Horizon) -> Iterator[int]:
    """The last checkpoint before the nodes close, as late as the slots allow."""
    last = _last_checkpoint(run, horizon.moment(closes))
    if last is not None:
        yield min(closes, max(0, horizon.ceil(last)))


def _last_checkpoint(run: Course, moment: int) -> int | None:
    """The last checkpoint at or before a moment, None without any."""
    if run.every is None or moment < run.base:
        return None
    number = (moment - run.base) // run.every
    return run.base + number * run.every if number or run.saved_at_base else None


def _next_checkpoint(run: Course, slot: int, horizon: Horizon) -> int | None:
    """The first slot from `slot` on by which a checkpoint after the plan's start has been made, and which then is the
    least that can be lost; None without checkpoints.
    """
    if run.every is None:
        return None
    begin = max(horizon.moment(slot), horizon.start + 1)
    return horizon.ceil(run.base + max(1, ceil_div(begin - run.base, run.every)) * run.every)
