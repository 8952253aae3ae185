"""`planner apply`: bring a reviewed plan to the clusters, and nothing else."""

from __future__ import annotations

import getpass
import os
import shlex
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from planner.commands import console, inputs, options, reaching
from planner.commands.statekeeping import STATE_BRANCH, kept
from planner.diagnostics import Blocked, Stale, UsageError, printable, quoted
from planner.exits import Exit

if TYPE_CHECKING:
    from planner.apply.due import Due
    from planner.apply.item import Step
    from planner.apply.run import Outcome, Request
    from planner.apply.state import Known, State
    from planner.plan import Plan
    from planner.safety import Allowed
    from planner.spec.snapshot import Snapshot
    from planner.specset import SpecSet

_DIGEST_DIGITS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """The flags of the verb beside what is applied and where its state is."""

    state_branch: str | None
    snapshot: Path | None
    at: str
    dry_run: bool
    allow_moved: int
    allow_stopped: int
    allow_empty: bool
    adopt: bool
    contexts: tuple[str, ...]
    trust_commands: bool
    record: Path | None
    rollback: bool
    due: bool
    clusters: tuple[str, ...]
    pause: tuple[str, ...]
    resume: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One call of the verb, checked: the plan and what it is held against."""

    plan: Plan
    specset: SpecSet
    snapshot: Snapshot | None
    at: int
    allowed: Allowed
    specs: Path
    again: str
    goes_back: bool = False


_LOCK: Final = click.argument("lock", type=click.Path(path_type=Path), default=Path("plan.lock.json"), required=False)
_DIGEST: Final = click.option(
    "--digest", metavar="D", help="The digest that was reviewed; only the plan that has it is applied.  [required]",
)  # fmt: skip
_SNAPSHOT: Final = click.option(
    "--snapshot", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
    help="What runs now; needed where the plan was made from a snapshot.",
)  # fmt: skip
_DRY: Final = click.option("--dry-run", is_flag=True, help="Show the calls; change nothing and ask no cluster.")
_ADOPT: Final = click.option("--adopt", is_flag=True, help="Objects that are there already become ours.")
_ROLLBACK: Final = click.option(
    "--rollback", is_flag=True,
    help="Go back to the plan that was applied before, with the specs of its commit; its digest is needed.",
)  # fmt: skip
_DUE: Final = click.option(
    "--due", is_flag=True, help="Interrupt and let begin what the applied plan has by now; change nothing else."
)
_CLUSTER: Final = click.option(
    "--cluster", "clusters", multiple=True, metavar="NAME", help="With --due: only what begins in this cluster."
)
_PAUSE: Final = click.option(
    "--pause", multiple=True, metavar="TEAM|POOL",
    help="Hold back what has not begun, e.g. team/vision or pool/dc1/h100: --due leaves it.",
)  # fmt: skip
_RESUME: Final = click.option("--resume", multiple=True, metavar="TEAM|POOL", help="Let a paused team or pool go on.")


@options.verb(
    "apply",
    "Bring a reviewed plan to the clusters.",
    "planner apply plan.lock.json --digest sha256:41ab… --dry-run",
    "planner apply plan.lock.json --digest sha256:41ab… --snapshot now.yaml",
    "planner apply plan.lock.json --digest sha256:41ab… --allow-stopped 16",
    "planner apply --rollback --digest sha256:9c0e…",
    "planner apply state/applied.lock.json --digest sha256:41ab… --due --snapshot now.yaml",
    "planner apply --pause pool/dc1/h100",
    options=(
        _LOCK, _DIGEST, options.specs, reaching.STATE, STATE_BRANCH, _SNAPSHOT, reaching.AT, _DRY,
        *options.ALLOWANCES, _ADOPT, reaching.CONTEXT, reaching.TRUST, reaching.RECORD, _ROLLBACK, _DUE, _CLUSTER,
        _PAUSE, _RESUME,
    ),
)  # fmt: skip
def command(lock: Path, digest: str | None, specs: Path, root: Path, colour: str, **flags: Any) -> Exit:
    """Apply the plan in LOCK (default: plan.lock.json), if it is the one that was reviewed and still holds.

    Stops with 5 when anything that the plan was made from has changed, with 6 when it moves or stops more than the
    Policy allows, with 7 when a cluster fails half-way (the same command then goes on), with 8 when another run is
    under way. Only objects of the inventory are ever changed or removed.
    """
    from planner.apply.state import State

    wanted, state = Flags(**flags), State(root=root)
    message = f"Hold back or resume ({_holder()})" if wanted.pause or wanted.resume else f"State of {digest}"
    with kept(root, wanted.state_branch, specs, message, commits=not wanted.dry_run):
        if wanted.pause or wanted.resume:
            return _held_back(state, specs, wanted)
        return _run(lock, digest, specs, state, wanted)


def _run(lock: Path, digest: str | None, specs: Path, state: State, wanted: Flags) -> Exit:
    from planner.safety import Allowed

    lock = state.previous_path if wanted.rollback else lock
    plan = _reviewed(lock, digest)
    specset, seen = (
        reaching.specs_of(plan, specs, wanted.snapshot)
        if wanted.rollback or wanted.due
        else inputs.tree_with(inputs.files(specs), wanted.snapshot)[:2]
    )
    job = Job(
        plan=plan,
        specset=specset,
        snapshot=seen,
        at=reaching.moment(wanted.at, specset),
        allowed=Allowed(moved=wanted.allow_moved, stopped=wanted.allow_stopped, empty=wanted.allow_empty),
        specs=specs,
        again=_again(lock, plan.digest, specs, state.root, wanted),
        goes_back=wanted.rollback,
    )
    if wanted.clusters and not wanted.due:
        raise UsageError("--cluster needs --due: a plan is applied as a whole")
    if wanted.due:
        return _let_begin(job, state, wanted)
    return _shown(job, state, wanted) if wanted.dry_run else _applied(job, state, wanted)


def _held_back(state: State, specs: Path, flags: Flags) -> Exit:
    from planner.apply import lease
    from planner.commands import releasing

    specset = inputs.valid(specs)
    with lease.held(state.lease, _holder(), "a pause", lambda: int(time.time())):
        return releasing.hold(state, specset, flags.pause, flags.resume)


def _let_begin(job: Job, state: State, flags: Flags) -> Exit:
    from planner.apply import lease
    from planner.commands import releasing

    def found() -> Due:
        now = releasing.due_now(job.plan, state, job.specset, job.snapshot, job.at)
        return releasing.within(now, flags.clusters, job.specset)

    if flags.dry_run:
        return releasing.shown(found())
    with lease.held(state.lease, _holder(), "a release of due work", lambda: int(time.time())) as held:
        return releasing.let_begin(found(), state, reaching.backends(job.specset, _reach(state, flags)), held)


def _again(lock: Path, digest: str, specs: Path, root: Path, flags: Flags) -> str:
    """The command that does the same once more."""
    words = ["planner", "apply", str(lock), "--digest", digest, "--specs", str(specs), "--state", str(root)]
    words += ["--snapshot", str(flags.snapshot)] if flags.snapshot else []
    words += ["--state-branch", flags.state_branch] if flags.state_branch else []
    words += ["--record", str(flags.record)] if flags.record else []
    words += [word for context in flags.contexts for word in ("--context", context)]
    words += ["--allow-moved", str(flags.allow_moved)] if flags.allow_moved else []
    words += ["--allow-stopped", str(flags.allow_stopped)] if flags.allow_stopped else []
    words += ["--rollback"] * flags.rollback
    words += ["--allow-empty"] * flags.allow_empty + ["--trust-commands"] * flags.trust_commands
    return shlex.join(words)


def _reviewed(lock: Path, digest: str | None) -> Plan:
    """The plan in a file, if it is the reviewed one; anything else is refused."""
    if digest is None:
        raise UsageError("Missing option '--digest': only a plan that was reviewed is applied; copy it from the review")
    algorithm, _, digits = digest.partition(":")
    if algorithm != "sha256" or len(digits) != _DIGEST_DIGITS or set(digits) - set("0123456789abcdef"):
        raise UsageError(
            f"--digest: {quoted(digest)} is not a digest; copy all of it from the review, sha256: and 64 digits"
        )
    plan = inputs.lock(lock)
    if plan.digest != digest:
        raise Stale(
            f"{lock} is not the plan that was reviewed: its digest is {plan.digest}, the reviewed one is {digest};"
            " nothing was applied; review it, or apply the one that was reviewed"
        )
    return plan


def _shown(job: Job, state: State, flags: Flags) -> Exit:
    """Say what would be done."""
    from planner.apply import run

    known = state.known()
    _refuse_stale(job, state, known)
    request = _request(job, state, flags)
    found = run.todo(request, known)
    _refuse_unsafe(job, state, request, known)
    for step, calls in run.calls(request, found):
        console.out(printable(step.sentence) + "\n" + "".join(f"    {printable(call)}\n" for call in calls))
    console.out(f"{len(found.steps):,} steps would be done; nothing was changed\n")
    return Exit.OK


def _applied(job: Job, state: State, flags: Flags) -> Exit:
    """Do it, under the lock of the state folder."""
    from planner.apply import lease, run

    with lease.held(state.lease, _holder(), f"apply of {job.plan.digest}", lambda: int(time.time())) as held:
        known = state.known()
        _refuse_stale(job, state, known)
        request = _request(job, state, flags)
        _refuse_unsafe(job, state, request, known)
        outcome = run.apply(request, state, known, held, _tell)
    console.out(_told(job.plan, outcome))
    return Exit.OK


def _refuse_stale(job: Job, state: State, known: Known) -> None:
    from planner import pipeline
    from planner.apply.staleness import Facts, refuse_stale

    applied = state.applied()
    facts = Facts(
        at=job.at,
        specs_digest=job.specset.digest,
        planner_version=pipeline.planner_version(),
        solver_version=pipeline.solver_version(),
        max_plan_age=job.specset.policy.safety.max_plan_age,
        applied=applied.digest if applied else None,
        begun=None if known.complete else known.plan,
        goes_back=job.goes_back,
        snapshot=job.snapshot,
        snapshot_digest=pipeline.snapshot_digest(job.snapshot),
    )
    again = f"planner plan {shlex.quote(str(job.specs))}"
    refuse_stale(job.plan, facts, f"{again} --lock {shlex.quote(str(state.applied_path))}" if applied else again)


def _refuse_unsafe(job: Job, state: State, request: Request, known: Known) -> None:
    from planner.apply.run import removals_of_protected, todo
    from planner.safety import judged

    finished = {f"job/{item.job}" for item in job.snapshot.finished} if job.snapshot else set()
    breaches = judged(
        state.applied(), job.plan, job.specset, at=job.at, finished=finished, allowed=job.allowed
    ) + removals_of_protected(todo(request, known))
    if breaches:
        raise Blocked(diagnostics=[breach.diagnostic for breach in breaches])


def _request(job: Job, state: State, flags: Flags) -> Request:
    from planner.apply.collect import clusters_in_order
    from planner.apply.run import Request

    items = reaching.items_of(job.plan, job.specset)
    return Request(
        plan=job.plan,
        items=items,
        clusters=clusters_in_order(job.specset, items),
        backends=reaching.backends(job.specset, _reach(state, flags)),
        again=job.again,
        adopts=flags.adopt,
    )


def _reach(state: State, flags: Flags) -> reaching.Reach:
    return reaching.Reach(
        contexts=flags.contexts, work=state.work, record=flags.record, trust_commands=flags.trust_commands,
        adopt=flags.adopt,
    )  # fmt: skip


def _holder() -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()} (process {os.getpid()})"


def _tell(step: Step) -> None:
    console.err(f"done: {printable(step.sentence)}\n")


def _told(plan: Plan, outcome: Outcome) -> str:
    left = "".join(f"left: {printable(record.key)}: a namespace is not removed\n" for record in outcome.left)
    if not outcome.steps and not outcome.resumed:
        return f"{left}{plan.digest} is applied: nothing had to change\n"
    resumed = f", {outcome.resumed:,} by an earlier run" if outcome.resumed else ""
    return f"{left}{plan.digest} is applied: {len(outcome.steps):,} steps done{resumed}\n"
