"""All stages in one place: files to specs, specs to a problem, a problem to a solution, a solution to a plan.

`plan` is a function of its arguments: it reads no clock, no environment and no network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from planner.diagnostics import Diagnostic, PlannerError, Severity, UsageError
from planner.plan import Parameters, Plan
from planner.specset import LoadResult, SpecSet, read_tree
from planner.specset import load as load_files

if TYPE_CHECKING:
    from planner.compile.problem import Compiled
    from planner.spec.snapshot import Snapshot
    from solvers.problem import Problem
    from solvers.solution import Solution
    from solvers.solve import Progress

QUICK: Final = "quick"


class Unsolved(PlannerError):
    """No plan came of a problem. `instance` replays it, as JSON."""

    def __init__(self, message: str, instance: str) -> None:
        super().__init__(message)
        self.instance = instance


class WrongSolution(Unsolved):
    """The solver's answer breaks a rule: never a plan, but a fault of ours."""

    def __init__(self, message: str, instance: str) -> None:
        super().__init__(f"the solver's answer failed its check, no plan is made: {message}", instance)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanResult:
    """A plan with the problem and solution behind it, and why its slots are as wide as they are."""

    plan: Plan
    problem: Problem
    solution: Solution
    slot_reason: str
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where the specs came from, for the plan's record only."""

    commit: str | None = None
    dirty: bool = False


def load(path: Path) -> LoadResult:
    """Read and check the specs at `path`, a directory or a file."""
    return load_files(read_tree(path))


def start_of(
    specset: SpecSet, *, at: int | None = None, snapshot: Snapshot | None = None, commit_time: int | None = None
) -> int:
    """When the plan starts, in seconds since 1970 UTC and not yet rounded up to a slot.

    The first that is known of: `at`, the policy's horizon, the newest snapshot's time, the time of the specs' commit.
    Raises `UsageError` when none is.
    """
    taken = [shot.taken_at for shot in (*specset.snapshots, *((snapshot,) if snapshot else ()))]
    known = (at, specset.policy.horizon.start, max(taken, default=None), commit_time)
    for moment in known:
        if moment is not None:
            return moment
    raise UsageError(
        "when does the plan start? Neither horizon.start in the Policy, nor a snapshot, nor a commit says so; "
        "give --at, for example --at 2026-12-01T00:00:00Z"
    )


def plan(  # noqa: PLR0913 - every input of a plan by name
    specset: SpecSet,
    *,
    start: int,
    snapshot: Snapshot | None = None,
    previous: Plan | None = None,
    effort: str = QUICK,
    budget: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: Callable[[], bool] | None = None,
    warnings: Iterable[Diagnostic] = (),
    origin: Origin = Origin(),
) -> PlanResult:
    """Plan `specset` from `start` on.

    `progress` hears how the search goes; once `stop` says True the best plan so far is returned. Raises `SpecError` for
    specs that cannot be planned, `WrongSolution` when the answer fails its check and `Unsolved` when there is not
    enough memory to find one.
    """
    from planner.decode.plan import Provenance, decoded, remarked
    from planner.relevant import relevant
    from planner.safety import remarks

    given = _Given(specset=specset, start=start, snapshot=snapshot, previous=previous)
    compiled, solution = _solved(given, _Search(effort=effort, budget=budget, progress=progress, stop=stop))
    told = (*warnings, *_warnings(compiled, previous))
    provenance = Provenance(
        parameters=Parameters(effort=effort, budget=budget),
        planner_version=planner_version(),
        solver_version=solver_version(),
        commit=origin.commit,
        dirty=origin.dirty,
        previous_digest=previous.digest if previous else None,
        snapshot_digest=snapshot_digest(snapshot),
        relevant=relevant(snapshot, specset),
    )
    made = decoded(compiled, solution, provenance, told)
    remarked_on = remarks(previous, made, specset)
    return PlanResult(
        plan=remarked(made, remarked_on),
        problem=compiled.problem,
        solution=solution,
        slot_reason=compiled.horizon.reason,
        diagnostics=(*told, *remarked_on),
    )


def problem_json(
    specset: SpecSet, *, start: int, snapshot: Snapshot | None = None, previous: Plan | None = None
) -> str:
    """The problem that the solver is given, as JSON."""
    from solvers.jsonform import to_json

    given = _Given(specset=specset, start=start, snapshot=snapshot, previous=previous)
    return to_json(_compiled(given, frozenset()).problem)


def solution_json(
    specset: SpecSet,
    *,
    start: int,
    snapshot: Snapshot | None = None,
    previous: Plan | None = None,
    effort: str = QUICK,
    budget: int | None = None,
) -> str:
    """What the solver answers, as JSON."""
    from solvers.jsonform import to_json

    given = _Given(specset=specset, start=start, snapshot=snapshot, previous=previous)
    _, solution = _solved(given, _Search(effort=effort, budget=budget))
    return to_json(solution)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """What is compiled."""

    specset: SpecSet
    start: int
    snapshot: Snapshot | None = None
    previous: Plan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """How it is solved."""

    effort: str
    budget: int | None
    progress: Callable[[Progress], None] | None = None
    stop: Callable[[], bool] | None = None

    @property
    def stopped(self) -> bool:
        return self.stop is not None and self.stop()


def _solved(given: _Given, search: _Search) -> tuple[Compiled, Solution]:
    """Compile and solve; work that a rule keeps from the start it was held to may move in a second round."""
    problem, solution = _answer(given, search, frozenset())
    displaced = _displaced(problem, solution)
    return _answer(given, search, displaced) if displaced and not search.stopped else (problem, solution)


def _answer(given: _Given, search: _Search, thawed: frozenset[str]) -> tuple[Compiled, Solution]:
    """One round, checked."""
    made = _compiled(given, thawed)
    try:
        return made, _checked(made.problem, search)
    except MemoryError:
        pass  # Only now that the search's arrays are let go of there is room to write the instance down.
    raise Unsolved(_NO_MEMORY, _instance(made.problem))


_NO_MEMORY: Final = (
    "there is not enough memory to search for a plan of this size, no plan is made; free some, widen horizon.slot or "
    "shorten horizon.length in the Policy"
)


def _compiled(given: _Given, thawed: frozenset[str]) -> Compiled:
    from planner.compile.problem import compiled
    from solvers.problem import ProblemError

    try:
        return compiled(
            given.specset, start=given.start, snapshot=given.snapshot, previous=given.previous, thawed=thawed
        )
    except ProblemError as error:
        raise PlannerError(
            f"the specs cannot be planned exactly: {error}; shorten horizon.length or lower the rates of the Policy"
        ) from error


def _checked(problem: Problem, search: _Search) -> Solution:
    from solvers.check import CheckError, raise_if_wrong
    from solvers.solve import Effort, solve

    try:
        solution = solve(
            problem, effort=Effort(search.effort), budget=search.budget, progress=search.progress, stop=search.stop
        )
        raise_if_wrong(problem, solution)
    except CheckError as error:
        raise WrongSolution(str(error), _instance(error.problem, error.solution)) from None
    return solution


def _instance(problem: Problem, solution: Solution | None = None) -> str:
    from solvers.jsonform import to_json

    answer = "null" if solution is None else to_json(solution).strip()
    return f'{{"problem":{to_json(problem).strip()},"solution":{answer}}}\n'


def _displaced(compiled: Compiled, solution: Solution) -> frozenset[str]:
    """Work that was held to its previous start and could not keep it."""
    runs = {assignment.task for assignment in solution.assignments if assignment.runs}
    return frozenset(
        work.address for at, work in enumerate(compiled.works) if work.address in compiled.frozen and at not in runs
    )


def _warnings(compiled: Compiled, previous: Plan | None) -> Iterable[Diagnostic]:
    from planner.compile.past import began

    yield from _standing(compiled)
    present = {work.address for work in compiled.works if work.seen is None}
    for address in began(previous, compiled.horizon.start):
        if address in present:
            yield Diagnostic(
                code="PLAN630",
                severity=Severity.WARNING,
                summary=f"{address} began before this plan starts; without a snapshot it is planned from its beginning",
                address=address,
                help="plan from the previous plan's start, or give a snapshot of what runs",
            )


def _standing(compiled: Compiled) -> Iterable[Diagnostic]:
    """What goes on and is not what its spec says now."""
    for work in compiled.works:
        if work.seen is None:
            continue
        run = work.seen.running
        if work.standing is None:
            yield Diagnostic(
                code="PLAN631",
                severity=Severity.WARNING,
                summary=f"{work.address} runs on {run.pool}, where its spec does not let it run as it does any more;"
                " it is planned from its beginning",
                address=work.address,
                help="let the spec name the pool, variant and devices that it runs on, or let it begin again",
            )
        elif run.spec is not None and run.spec != compiled.specset.spec_hash(work.address):
            yield Diagnostic(
                code="PLAN632",
                severity=Severity.WARNING,
                summary=f"{work.address} goes on as it was started, from an earlier version of its spec",
                address=work.address,
                help="stop it by hand to let the present version begin",
            )


def snapshot_digest(snapshot: Snapshot | None) -> str | None:
    """`sha256:…` over what a snapshot says, as plans name it; None without one."""
    import hashlib

    if snapshot is None:
        return None
    return f"sha256:{hashlib.sha256(snapshot.model_dump_json().encode()).hexdigest()}"


def planner_version() -> str:
    """The version of this planner, as plans name it."""
    return _version("gpu-fleet-planner")


def solver_version() -> str:
    """The name and version of the solver, as plans name it; nothing of it is loaded."""
    return f"ortools {_version('ortools')}"


def _version(distribution: str) -> str:
    from importlib.metadata import version

    return version(distribution)
