"""A job, or one element of an array, as a task: its modes in slots, its times, and what it is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from planner.compile import spot as losses
from planner.compile.ask import work_milliseconds
from planner.compile.cells import seating
from planner.compile.fleet import Market, micros_per_slot, power_micros_per_slot
from planner.compile.horizon import DAY, HOUR, length_text
from planner.compile.past import earlier
from planner.compile.refusal import Code, Refusal
from planner.compile.sighting import played
from planner.spec.envelope import Priority
from planner.spec.job import DeadlineIs
from planner.spec.work import Market as Wanted
from planner.units import Money, ceil_div, ceil_fraction, format_time
from solvers.problem import Charge, Lead, Mode, Previous, Task

if TYPE_CHECKING:
    from planner.compile.ask import Speeds, Wish
    from planner.compile.candidate import Candidate
    from planner.compile.cuts import Cut
    from planner.compile.history import Expense
    from planner.compile.horizon import Horizon
    from planner.compile.quota_rows import Rows
    from planner.compile.quotas import Quotas
    from planner.compile.sighting import Sighting, Standing
    from planner.plan import Placement
    from planner.spec.job import Job
    from planner.spec.policy import Policy

_MILLION: Final = 1_000_000
_HOUR_MS: Final = 3_600_000
_SECOND_MS: Final = 1_000
_LATEST_DUE: Final = 100_000
"""Work that is more slots late than this when the plan starts counts as so many: by then its worth is lost anyway."""
PRIORITIES: Final = tuple(Priority)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the tasks of one problem share; `cooling` is for each pool the slot until which its market gives nothing."""

    horizon: Horizon
    policy: Policy
    speeds: Speeds
    known: Quotas
    rows: Rows
    cooling: tuple[int, ...] = ()
    expenses: tuple[Expense, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """`replicas` of the service at `address` in slots `[start, end)`; `least`: they are of its `replicas.min`."""

    address: str
    number: int
    replicas: int
    start: int
    end: int
    least: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One thing to be placed: `candidates` are aligned with its task's modes, `refusals` are of all other pools.

    `layer` is what it is of a service, for which `job` stands in, and `held` where that was before. `later`: it may
    only start after the horizon. `offered`: some pool of the fleet can run it at some time. `seen` is what a snapshot
    says of its run, `standing` how that run stands when the plan starts.
    """

    address: str
    job: Job
    submitted: int
    candidates: tuple[Candidate, ...]
    refusals: tuple[Refusal, ...]
    wishes: tuple[Wish, ...]
    before: Placement | None = None
    later: bool = False
    offered: bool = True
    layer: Layer | None = None
    held: Previous | None = None
    seen: Sighting | None = None
    standing: Standing | None = None


def least_work(wishes: Sequence[Wish], speeds: Speeds) -> Fraction:
    """The work in GPU-milliseconds of the reference model: the least over the variants and models."""
    known = (work_milliseconds(wish, speeds) for wish in wishes)
    return min((length for length in known if length is not None), default=Fraction(0))


def worth(work: Fraction, job: Job, policy: Policy) -> tuple[int, int]:
    """Worth and premium in micros of work in GPU-milliseconds of the reference model."""
    premium = int(policy.guarantee.micros * work / _HOUR_MS) if job.must_be_placed else 0
    return int(policy.rates.of(job.priority).micros * work / _HOUR_MS), premium


def timed(work: Work, ground: Ground) -> Work:
    """The work with only those candidates that its own times and costs allow in this horizon."""
    kept: list[Candidate] = []
    refusals = list(work.refusals)
    for candidate in work.candidates:
        found = None if work.standing is not None else _refusal(work, candidate, ground)
        if found is None:
            kept.append(candidate)
        else:
            refusals.append(found)
    later = not kept and any(_starts_later(work.job, ground.horizon) for _ in work.candidates[:1])
    kept, passed = _preferred(work.job, kept, ground)
    priced = tuple(_priced(work, candidate, kept, ground) for candidate in kept)
    return replace(work, candidates=priced, refusals=(*refusals, *passed), later=later)


def _preferred(job: Job, kept: list[Candidate], ground: Ground) -> tuple[list[Candidate], tuple[Refusal, ...]]:
    """Work that prefers the spot market does not wait for it: what cools down when it may start is passed over."""
    spot = [each for each in kept if each.site.pool.market is Market.SPOT]
    if job.market.spot is not Wanted.PREFER or len(spot) == len(kept):
        return kept, ()
    first = earliest(job, ground.horizon)
    cold = [each for each in spot if ground.cooling and ground.cooling[each.site.at] > first]
    instead = ", and the job may run elsewhere until then"
    passed = (losses.cooling(each, ground.cooling[each.site.at], ground.horizon, instead) for each in cold)
    return [each for each in kept if each not in cold], tuple(passed)


def _priced(work: Work, candidate: Candidate, kept: Sequence[Candidate], ground: Ground) -> Candidate:
    """The candidate with what counts against it beside cash: its further domains, and what its market may lose."""
    job, slots = work.job, ground.horizon.length(candidate.expected_seconds)
    value, _ = worth(least_work(work.wishes, ground.speeds), job, ground.policy)
    candidate = _apart(candidate, ground.policy, worth_micros=value, slots=slots)
    if candidate.site.pool.market is Market.SPOT and job.checkpoint is not None:
        return losses.exposed(candidate, job.checkpoint, ground.policy, worth_micros=value, slots=slots)
    if job.market.spot is Wanted.PREFER and any(each.site.pool.market is Market.SPOT for each in kept):
        return losses.passed_over(candidate, worth_micros=value, slots=slots)
    return candidate


def _apart(candidate: Candidate, policy: Policy, *, worth_micros: int, slots: int) -> Candidate:
    """The candidate with what its further domains weigh, in money for each of its `slots`."""
    if not candidate.further:
        return candidate
    weight = Fraction(worth_micros * policy.delay.ppm * candidate.further, _MILLION * slots)
    extra = candidate.extra_micros_per_slot + max(candidate.further, ceil_fraction(weight))
    return replace(candidate, extra_micros_per_slot=extra)


def _starts_later(job: Job, horizon: Horizon) -> bool:
    return earliest(job, horizon) >= horizon.slots


def earliest(job: Job, horizon: Horizon) -> int:
    """The first slot in which the job may start."""
    moments = [moment for moment in (job.window.not_before, job.pin.start if job.pin else None) if moment is not None]
    return max([0, *(horizon.ceil(moment) for moment in moments)])


def _refusal(work: Work, candidate: Candidate, ground: Ground) -> Refusal | None:
    job, horizon, site = work.job, ground.horizon, candidate.site
    first = earliest(job, horizon)
    if first >= horizon.slots:
        message = (
            f"may not start before {format_time(horizon.moment(first))}, the plan ends at {format_time(horizon.end)}"
        )
        return site.refuse(Code.WINDOW, message, "lengthen horizon.length to plan it now")
    if job.pin is not None and job.pin.start is not None and horizon.ceil(job.pin.start) < 0:
        message = f"is pinned to start at {format_time(job.pin.start)}, the plan starts at {format_time(horizon.start)}"
        return site.refuse(Code.WINDOW, message, "remove or change pin.start")
    slots = horizon.length(candidate.expected_seconds)
    deadline = _hard_deadline(job, horizon)
    if deadline is not None and first + slots > deadline:
        message = (
            f"takes {length_text(candidate.expected_seconds)} from {format_time(horizon.moment(first))} on, "
            f"the deadline is {format_time(job.window.deadline or 0)}"
        )
        return site.refuse(Code.DEADLINE, message, "move the deadline, or make it soft")
    cash = slots * _cash_per_slot(candidate, horizon)
    total = job.max_cost.total if job.max_cost else None
    if total is not None and cash > total.micros:
        message = (
            f"{Money(total.currency, cash)} in slots of {length_text(horizon.slot_seconds)}, max_cost allows {total}"
        )
        return site.refuse(
            Code.MAX_COST,
            message,
            f"raise max_cost.total to {Money(total.currency, cash)}, or choose a finer horizon.slot",
        )
    return None


def _hard_deadline(job: Job, horizon: Horizon) -> int | None:
    window = job.window
    if window.deadline is None or window.deadline_is is not DeadlineIs.HARD:
        return None
    return horizon.floor(window.deadline)


def _unsaved(work: Work, speeds: Speeds) -> Fraction:
    """The work that is not safe yet, in GPU-milliseconds of the reference model: it is what a run of it is worth."""
    return least_work(work.wishes, speeds) * (1 if work.standing is None else 1 - work.standing.saved)


def _undone(work: Work, candidate: Candidate, whole: Fraction) -> Fraction:
    """The work that no run has done before the candidate begins: what is done twice fills no guarantee."""
    done = work.standing.done if work.standing is not None else Fraction(0)
    return whole * (1 - (done if candidate.cut is None else candidate.cut.done))


def modes(work: Work, ground: Ground, whole: Fraction, array_row: int | None = None) -> tuple[Mode, ...]:
    """The candidates in slots; `whole` is the least work, in GPU-milliseconds of the reference model."""
    made: list[Mode] = []
    for candidate in work.candidates:
        mode = _mode(candidate, work, ground, _undone(work, candidate, whole), array_row)
        made.append(mode if candidate.cut is None else replace(mode, lead=_lead(work, candidate.cut, made[0], ground)))
    return tuple(made)


def _lead(work: Work, cut: Cut, first: Mode, ground: Ground) -> Lead:
    """How the work goes on until a cut: what is safe by then is done for good."""
    now = work.standing
    assert now is not None, "only what runs is interrupted"
    safe = least_work(work.wishes, ground.speeds) * (cut.saved - now.saved)
    return Lead(
        slots=cut.slot, worth_micros=sum(worth(safe, work.job, ground.policy)), seats=played(first.parts, now.nodes)
    )  # fmt: skip


def _cash_per_slot(candidate: Candidate, horizon: Horizon) -> int:
    """What is paid once is spread over the run, so that budgets and limits count it with the rest."""
    once = ceil_div(candidate.egress_micros, horizon.length(candidate.expected_seconds))
    return micros_per_slot(candidate.cash_micros_per_hour, horizon.slot_seconds) + once


def _mode(candidate: Candidate, work: Work, ground: Ground, amount: Fraction, array_row: int | None) -> Mode:
    """The candidate in slots. A rented node is billed and taken whole."""
    horizon, seat = ground.horizon, seating(candidate)
    units = candidate.site.pool.units
    duration = horizon.length(candidate.expected_seconds)
    charges: tuple[Charge, ...] = ()
    home = None
    if candidate.site.position is not None:
        cell = (candidate.site.at, candidate.site.position)
        # A pause earns nothing: else work would stop to wait for a window in which more is guaranteed.
        new = Fraction(0) if candidate.paused else amount / (duration * horizon.slot_seconds * _SECOND_MS)
        charges, home = ground.rows.charges(
            ground.known,
            work.job.team,
            cell,
            int(candidate.amount * units),
            new * units,
            interruptible=work.job.preemptible,
        )
    others = candidate.counted if array_row is None else (*candidate.counted, array_row)
    charges += tuple(Charge(row=row, amount=1) for row in others)
    price = ground.policy.power_price
    return Mode(
        name=candidate.name,
        pool=candidate.site.at,
        parts=seat.parts,
        duration=duration,
        limit=max(duration, horizon.length(candidate.limit_seconds)),
        cash_micros=_cash_per_slot(candidate, horizon),
        power_micros=power_micros_per_slot(
            candidate.power_milliwatts, price.micros_per_kwh if price else 0, horizon.slot_seconds
        )
        + candidate.extra_micros_per_slot,
        cost_micros=_lost_micros(candidate, work, ground) if candidate.lost_part else 0,
        charges=charges,
        home=home,
        nodes=seat.nodes,
        within=seat.within,
        earliest=candidate.first,
        latest=candidate.last,
    )


def _lost_micros(candidate: Candidate, work: Work, ground: Ground) -> int:
    value, _ = worth(least_work(work.wishes, ground.speeds) * candidate.lost_part, work.job, ground.policy)
    return value


def task(
    work: Work, ground: Ground, *, array_row: int | None, budgets: tuple[int, ...], after: tuple[int, ...]
) -> Task:
    """The work as the solver sees it.

    Waiting before the plan's start is the same in every plan and left out: `since` is never before slot 0.
    """
    job, horizon, policy, now = work.job, ground.horizon, ground.policy, work.standing
    amount = _unsaved(work, ground.speeds)
    value, premium = worth(amount, job, policy)
    ways = modes(work, ground, least_work(work.wishes, ground.speeds), array_row)
    due = (
        None
        if job.window.deadline is None or job.window.deadline_is is DeadlineIs.HARD
        else horizon.floor(job.window.deadline)
    )
    first = 0 if now is not None else earliest(job, horizon)
    return Task(
        name=work.address,
        modes=ways,
        worth_micros=value,
        premium_micros=premium,
        since=max(0, horizon.ceil(work.submitted)),
        delay_micros=_per_slot(value, policy.delay.ppm, horizon.slot_seconds, DAY),
        due=None if due is None else max(due, -_LATEST_DUE),
        late_micros=0 if due is None else _per_slot(value, policy.late.ppm, horizon.slot_seconds, HOUR),
        earliest=first,
        latest=first if now is None and job.pin and job.pin.start is not None else None,
        deadline=_reachable(_hard_deadline(job, horizon), ways, now),
        after=after if now is None else (),
        budgets=budgets if any(each.cash_micros for each in ways) else (),
        priority=PRIORITIES.index(job.priority),
        interruptible=job.preemptible,
        stays=now is not None and now.stays,
        previous=earlier(work.before, work.candidates, horizon) if now is None else now.previous,
        move_micros=move_micros(work, ground),
    )


def _reachable(deadline: int | None, ways: tuple[Mode, ...], now: Standing | None) -> int | None:
    """A hard deadline, unless what runs misses it already if it goes on: then it is late, and says so."""
    missed = now is not None and now.goes_on and deadline is not None and ways[0].duration > deadline
    return None if missed else deadline


def move_micros(work: Work, ground: Ground) -> int:
    """What a move of one unit of a device costs."""
    units = max((each.site.pool.units for each in work.candidates), default=1)
    return ground.policy.move.micros // units


def _per_slot(value: int, ppm: int, slot_seconds: int, per_seconds: int) -> int:
    """A part of `value` per length of time as money per slot; at least one micro, so that sooner is always better."""
    return max(1, value * ppm * slot_seconds // (_MILLION * per_seconds)) if value and ppm else 0


def frozen(task: Task, freeze_slots: int, modes_nodes: Sequence[Sequence[tuple[tuple[int, int], ...]]]) -> Task | None:
    """The task held to its previous run when that starts in the first `freeze_slots`; None when it is not or cannot be.

    `modes_nodes` gives the closures `(start, end)` of each node of each pool.
    """
    held = task.previous
    if held is None or held.start >= freeze_slots:
        return None
    chosen = replace(task.modes[held.mode], nodes=tuple(node for node, _ in held.nodes))
    if not _still_legal(task, chosen, held, modes_nodes[chosen.pool]):
        return None
    return replace(task, modes=(chosen,), earliest=held.start, latest=held.start, previous=replace(held, mode=0))


def _still_legal(task: Task, chosen: Mode, held: Previous, closures: Sequence[tuple[tuple[int, int], ...]]) -> bool:
    wanted = sorted(part.use[0] for part in chosen.parts for _ in range(part.count))
    window = task.earliest <= held.start and (task.latest is None or held.start <= task.latest)
    in_time = task.deadline is None or held.start + chosen.duration <= task.deadline
    end = held.start + chosen.limit
    opened = all(end <= begin or held.start >= stop for node, _ in held.nodes for begin, stop in closures[node])
    eligible = task.modes[held.mode].nodes
    allowed = eligible is None or all(node in eligible for node, _ in held.nodes)
    return window and in_time and opened and allowed and sorted(devices for _, devices in held.nodes) == wanted
