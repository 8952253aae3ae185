"""The whole compilation: a SpecSet and a start become a Problem, with what is needed to read its solution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planner.catalog import vendors
from planner.compile import budgets as money
from planner.compile import contradictions, foreign, overrun, quota_rows, quotas, running
from planner.compile.ask import Ask, Wish, speeds, wishes
from planner.compile.candidate import Candidate, Fits, Grounds, candidate, fits
from planner.compile.cells import TIER, divided
from planner.compile.fleet import FleetPool, fleet
from planner.compile.giving_way import Scene
from planner.compile.history import History, history
from planner.compile.horizon import Extent, Horizon, TooFine, aligned, choose, length_text
from planner.compile.impossible import impossible
from planner.compile.islands import islanded
from planner.compile.layouts import laid_out
from planner.compile.opening import cooling, down, in_use, open_nodes
from planner.compile.past import Past, past
from planner.compile.refusal import Category, Refusal, one_a_subject
from planner.compile.replicas import always
from planner.compile.services import Scope, Serving, layer_task, services
from planner.compile.sighting import Sighting, sightings
from planner.compile.tasks import Ground, Work, frozen, task, timed
from planner.compile.unsupported import place_of, refused
from planner.diagnostics import Diagnostic, Severity, SpecError
from planner.names import Address, address, element
from planner.spec.policy import OnInvalid
from planner.units import ceil_div
from solvers.problem import Node, Pool, Problem, Row, Task
from solvers.rules import Rule

if TYPE_CHECKING:
    from planner.plan import Plan
    from planner.spec.job import Job
    from planner.spec.snapshot import Snapshot
    from planner.specset import SpecSet

    _Wanted = Sequence[tuple[Job, tuple[Wish, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A problem, and what its positions mean: `fleet` its pools, `works` its tasks, `rows.by_quota` its rows.

    `busy` are for each pool and node the devices that others use. `cooling` says for each pool until which slot its
    market gives nothing. `frozen` are the addresses that are held to their previous run.
    """

    specset: SpecSet
    horizon: Horizon
    problem: Problem
    fleet: tuple[FleetPool, ...]
    known: quotas.Quotas
    rows: quota_rows.Rows
    works: tuple[Work, ...]
    cooling: tuple[int, ...]
    servings: tuple[Serving, ...] = ()
    busy: tuple[tuple[foreign.Busy, ...], ...] = ()
    frozen: frozenset[str] = frozenset()


def compiled(
    specset: SpecSet,
    *,
    start: int,
    snapshot: Snapshot | None = None,
    previous: Plan | None = None,
    thawed: frozenset[str] = frozenset(),
) -> Compiled:
    """Compile the specs for a plan that starts at `start` (seconds since 1970 UTC), rounded up to a slot.

    `thawed` are addresses that may change although their start is near. Raises `SpecError` for what is not planned yet,
    for work that nothing can ever run (unless the policy skips it), and for slots that are too fine.
    """
    seen = specset.snapshots if snapshot is None or snapshot in specset.snapshots else (*specset.snapshots, snapshot)
    if faults := refused(specset, seen):
        raise SpecError(faults)
    pools = fleet(specset.clusters, specset.catalog, down(seen))
    known = quotas.quotas(specset.quotas, specset.teams, pools)
    paces = speeds(specset.catalog, specset.policy.reference)
    grounds = Grounds(
        fleet=pools, known=known, speeds=paces, currency=specset.policy.currency, facts=vendors(),
        catalog=specset.catalog, rules=specset.policy.deny,
    )  # fmt: skip
    jobs = tuple((job, wishes(job, grounds.facts, grounds.catalog)) for job in specset.jobs)
    length = specset.policy.horizon.length.seconds
    asked = tuple(_in_windows(jobs, start, length))
    served = always(specset.services, grounds, length)
    pools = laid_out(pools, (*asked, *served), grounds, length, previous, seen)
    pools = islanded(pools, [wish for wish, _ in asked], grounds, in_use(seen))
    grounds = replace(grounds, fleet=pools)
    ended = history(seen)
    works = tuple(_works(specset, jobs, grounds, past(previous), start, ended, seen=sightings(seen)))
    _refuse_impossible(specset, works)
    horizon = _horizon(specset, start, works, pools)
    works = tuple(_waiting(works, start, horizon))
    firm = frozenset(job.team for job in specset.jobs if not job.preemptible)
    cold = tuple(cooling(pool, horizon, seen) for pool in pools)
    seen = running.with_strays(seen, works, specset.services)
    held = tuple(foreign.busy(pool, seen, horizon) for pool in pools)
    nodes = tuple(
        open_nodes(pool, horizon, seen, until, foreign.taken(pool, each, seen, horizon))
        for pool, until, each in zip(pools, cold, held, strict=True)
    )
    capacity = quota_rows.open_devices(pools, nodes, horizon.slots)
    rows = quota_rows.rows(known, capacity, pools, horizon, specset.policy, speeds=paces, firm=firm)
    ground = Ground(
        horizon=horizon, policy=specset.policy, speeds=paces, known=known, rows=rows, cooling=cold,
        expenses=ended.expenses,
    )  # fmt: skip
    contradictions.refuse(specset, works, pools, held, horizon)
    scene = Scene(horizon=horizon, policy=specset.policy, known=known, rows=rows, nodes=nodes)
    works = tuple(timed(work, ground) for work in running.resume(works, scene))
    serving = services(Scope(specset=specset, grounds=grounds, ground=ground, nodes=nodes, previous=previous))
    works += serving.works
    nodes = tuple(divided(pool, members, each) for pool, members, each in zip(pools, nodes, held, strict=True))
    problem, frozen_modes = _problem(works, ground, pools, nodes, specset, thawed, spread_rows=serving.rows)
    return Compiled(
        specset=specset, horizon=horizon, problem=problem, fleet=pools, known=known, rows=rows, cooling=cold,
        servings=serving.servings,
        busy=held,
        works=tuple(_held(work, kept) for work, kept in zip(works, frozen_modes, strict=True)),
        frozen=frozenset(work.address for work, kept in zip(works, frozen_modes, strict=True) if kept is not None),
    )  # fmt: skip


def _in_windows(jobs: _Wanted, start: int, length: int) -> Iterator[tuple[Wish, int]]:
    """What every job asks for, as often as it has elements, and how many seconds its window leaves it."""
    for job, every in jobs:
        end = start + length
        begin, end = max(start, job.window.not_before or start), min(end, job.window.deadline or end)
        yield from ((wish, max(0, end - begin)) for _ in _addresses(job) for wish in every)


def _waiting(works: Iterable[Work], start: int, horizon: Horizon) -> Iterator[Work]:
    """What waits since the start waits since the first slot, so that a plan made again from that slot is the same."""
    for work in works:
        yield replace(work, submitted=horizon.start) if work.submitted == start else work


def _held(work: Work, mode: int | None) -> Work:
    return work if mode is None else replace(work, candidates=(work.candidates[mode],))


def _works(
    specset: SpecSet, jobs: _Wanted, grounds: Grounds, before: Past, start: int, ended: History, *,
    seen: Mapping[str, Sighting],
) -> Iterator[Work]:  # fmt: skip
    """Every job in order of address, arrays element by element; equal asks are judged once.

    What has succeeded is left out, and what has failed too often has no way to run any more.
    """
    judged: dict[Ask, Fits] = {}
    for job, wanted in jobs:
        candidates, refusals = _offers(wanted, grounds, judged)
        spec = specset.spec_hash(address("job", job.team, job.name))
        for names in _addresses(job):
            if ended.is_done(names, spec):
                continue
            failed = ended.given_up(job, names, spec)
            since = job.submitted if job.submitted is not None else before.since(names)
            yield Work(
                address=names[0], job=job, submitted=start if since is None else since,
                candidates=() if failed else candidates, refusals=(failed,) if failed else refusals, wishes=wanted,
                before=before.placement(names), offered=bool(candidates),
                seen=next((seen[name] for name in names if name in seen), None),
            )  # fmt: skip


def _offers(
    wanted: Sequence[Wish], grounds: Grounds, judged: dict[Ask, Fits]
) -> tuple[tuple[Candidate, ...], tuple[Refusal, ...]]:
    """The candidates of all variants, and a reason for each pool that has none."""
    candidates: list[Candidate] = []
    refusals: list[Refusal] = []
    for wish in wanted:
        found = judged.get(wish.ask) or fits(wish.ask, grounds)
        judged[wish.ask] = found
        refusals += found.refusals
        for fit in found.fits:
            made = candidate(wish, fit, grounds)
            if isinstance(made, Candidate):
                candidates.append(made)
            else:
                refusals.append(made)
    taken = {each.site.subject for each in candidates}
    # Among equals the first mode is taken: work on CPUs alone leaves nodes with devices to those who need them.
    candidates.sort(key=lambda each: 0 if each.devices else each.site.pool.devices_per_node)
    return tuple(candidates), one_a_subject(each for each in refusals if each.subject not in taken)


def _addresses(job: Job) -> Iterator[tuple[str, ...]]:
    """The present address and the former ones of each element of a job."""
    names = (address("job", job.team, job.name), *(Address(name) for name in job.formerly))
    if job.array is None:
        yield names
    else:
        yield from (tuple(element(name, index) for name in names) for index in job.array.indices)


def _refuse_impossible(specset: SpecSet, works: Sequence[Work]) -> None:
    if specset.policy.on_invalid is OnInvalid.SKIP:
        return
    faults = {work.job.name + "/" + work.job.team: _impossible(specset, work) for work in works if not work.offered}
    if faults:
        raise SpecError(faults.values())


def _impossible(specset: SpecSet, work: Work) -> Diagnostic:
    where = address("job", work.job.team, work.job.name)
    return impossible(
        specset, where, (f"{refusal.subject}: {refusal.message}{_fix(refusal)}" for refusal in work.refusals)
    )


def _fix(refusal: Refusal) -> str:
    return f" ({refusal.fix})" if refusal.fix and refusal.category is not Category.NEVER else ""


def _horizon(specset: SpecSet, start: int, works: Sequence[Work], pools: Sequence[FleetPool]) -> Horizon:
    policy = specset.policy
    length = policy.horizon.length.seconds
    wanted = policy.horizon.slot.seconds if policy.horizon.slot else None
    extent = Extent(modes=sum(len(work.candidates) for work in works), nodes=sum(len(pool.nodes) for pool in pools))
    try:
        width, reason = choose(length, wanted, extent)
    except TooFine as error:
        raise SpecError([_too_fine(specset, error)]) from None
    return Horizon(
        start=aligned(start, width, policy.timezone), slot_seconds=width, slots=ceil_div(length, width), reason=reason
    )


def _too_fine(specset: SpecSet, error: TooFine) -> Diagnostic:
    policy = specset.policy
    slot = length_text(policy.horizon.slot.seconds) if policy.horizon.slot else "any width"
    horizon = length_text(policy.horizon.length.seconds)
    works = f"set horizon.slot to {length_text(error.width)} or wider, or to auto; " if error.width else ""
    where = address("policy", policy.name)
    return Diagnostic(
        code="PLAN620",
        severity=Severity.ERROR,
        summary=f"a horizon of {horizon} in slots of {slot} is too much: {error.numbers}",
        place=place_of(specset, where),
        address=where,
        path="horizon.slot",
        seen=slot,
        help=f"{works}or shorten horizon.length",
    )


def _problem(
    works: Sequence[Work], ground: Ground, pools: Sequence[FleetPool], nodes: Sequence[tuple[Node, ...]],
    specset: SpecSet, thawed: frozenset[str], *, spread_rows: tuple[Row, ...],
) -> tuple[Problem, tuple[int | None, ...]]:  # fmt: skip
    horizon, policy = ground.horizon, specset.policy
    longest = max((horizon.length(each.expected_seconds) for work in works for each in work.candidates), default=0)
    spending = money.budgets(specset.teams, horizon, policy.timezone, horizon.slots + longest, ground.expenses)
    array_rows, of_array = _array_rows(works, horizon, len(ground.rows.rows) + len(spread_rows))
    positions = _positions([work for work in works if work.layer is None])
    after = {id(job): _after(job, positions) for job in specset.jobs}
    tasks = tuple(
        task(
            work, ground, array_row=of_array.get(id(work.job)), budgets=spending.of(work.job.team),
            after=after[id(work.job)],
        )
        if work.layer is None
        else layer_task(work, ground, budgets=spending.of(work.job.team))
        for work in works
    )  # fmt: skip
    closures = [[tuple((each.start, each.end) for each in node.closures) for node in members] for members in nodes]
    freeze = horizon.floor(horizon.start + policy.freeze.seconds)
    held = tuple(
        None if work.address in thawed or work.standing is not None else frozen(each, freeze, closures)
        for work, each in zip(works, tasks, strict=True)
    )
    units = max((pool.units for pool in pools), default=1)
    problem = Problem(
        slots=horizon.slots,
        pools=tuple(
            Pool(
                name=pool.address.removeprefix("pool/"),
                resources=pool.resources,
                nodes=members,
                tiers=(*(tier.within.value for tier in pool.tiers), *((TIER,) if pool.cells else ())),
                ceiling=pool.ceiling,
            )
            for pool, members in zip(pools, overrun.room(nodes, tasks), strict=True)
        ),
        tasks=tuple(kept or each for kept, each in zip(held, tasks, strict=True)),
        rows=overrun.rows(
            (*(_in_units(row, units) for row in ground.rows.rows), *spread_rows, *array_rows), tasks, horizon.slots
        ),
        budgets=overrun.budgets(spending.budgets, tasks),
        units=units,
    )
    return problem, tuple(_held_mode(each) if kept else None for kept, each in zip(held, tasks, strict=True))


def _in_units(row: Row, units: int) -> Row:
    """A quota's row, counted in units of a device."""
    if units == 1:
        return row
    spill = None if row.spill is None else replace(row.spill, above=_times(row.spill.above, units))
    return replace(
        row,
        limit=None if row.limit is None else _times(row.limit, units),
        guarantee=None if row.guarantee is None else _times(row.guarantee, units),
        bonus_micros=row.bonus_micros // units,
        spill=spill,
    )


def _times(steps: Sequence[int], units: int) -> tuple[int, ...]:
    return tuple(step * units for step in steps)


def _held_mode(task: Task) -> int | None:
    return task.previous.mode if task.previous else None


def _array_rows(works: Sequence[Work], horizon: Horizon, first: int) -> tuple[tuple[Row, ...], dict[int, int]]:
    """A row for each array that runs only so many elements at once, and its position by the identity of the job."""
    rows: list[Row] = []
    of_array: dict[int, int] = {}
    for job in {id(work.job): work.job for work in works}.values():
        if job.array is not None and job.array.at_most is not None:
            of_array[id(job)] = first + len(rows)
            subject = f"{address('job', job.team, job.name)}, {job.array.at_most} at once"
            rows.append(Row(rule=Rule.QUOTA, subject=subject, limit=(job.array.at_most,) * horizon.slots))
    return tuple(rows), of_array


def _positions(works: Sequence[Work]) -> dict[str, tuple[int, ...]]:
    """Where the tasks of each job are, by `team/name`."""
    found: dict[str, list[int]] = {}
    for at, work in enumerate(works):
        found.setdefault(f"{work.job.team}/{work.job.name}", []).append(at)
    return {name: tuple(places) for name, places in found.items()}


def _after(job: Job, positions: dict[str, tuple[int, ...]]) -> tuple[int, ...]:
    names = (name if "/" in name else f"{job.team}/{name}" for name in job.after)
    return tuple(sorted({at for name in names for at in positions.get(name, ())}))
