"""The files of one Slurm cluster.

CLUSTER/accounts.sh             makes QOS and accounts what the plan needs at a moment
CLUSTER/proposals/*.conf        site files to compare with the site's own
CLUSTER/submit.sh               submits what is not there yet, in the order of dependencies
CLUSTER/jobs/TEAM.JOB.sbatch    one script a job, `TEAM.JOB.INDEX.sbatch` for an element of an array
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from planner.units import format_time, parse_time
from renderers import environment
from renderers.manifest import Manifest, Rendered
from renderers.payload import jobs_of
from renderers.refusal import Unsupported
from renderers.slurm import limits, reading, words
from renderers.slurm.body import Body, body, own_body
from renderers.slurm.header import CHANGEABLE, Options, header, job_name, settings
from renderers.slurm.overlay import Overlaid, overlay
from renderers.slurm.proposals import proposals
from renderers.slurm.setup import accounts
from renderers.slurm.submission import Step, elements, held, lines, ordered, parents_of

if TYPE_CHECKING:
    from planner.plan import Degraded, Plan
    from planner.spec.cluster import Cluster
    from planner.specset import SpecSet
    from renderers.payload import Payload

JOBS: Final = "jobs"
LOOK_BACK_SECONDS: Final = 60 * 86_400
"""How far back the accounts are searched for a run that has succeeded: it is the same run as long as its spec is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Script:
    """A job and its script, or why there is none."""

    payload: Payload
    text: str = ""
    conflicts: tuple[str, ...] = ()
    comment: str = ""
    settings: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def file(self) -> str:
        return f"{JOBS}/{words.stem(self.payload.address)}.sbatch"


def render(plan: Plan, specset: SpecSet, cluster: Cluster) -> Rendered:
    """The scripts of a cluster's jobs and the program that submits them; nothing where it runs no job."""
    made = tuple(_written(payload, specset) for payload in jobs_of(plan, specset, cluster))
    written = {item.payload.address: item for item in made if item.text}
    steps = ordered(tuple(_step(item, written) for item in written.values()))
    manifests = tuple(_manifest(cluster, item) for item in written.values())
    if steps:
        manifests = (*manifests, _submission(plan, specset, cluster, steps))
    degraded = tuple(note for item in made for note in _notes(item, written))
    site = (_accounts(plan, specset, cluster), _proposals(specset, cluster)) if steps else ()
    return Rendered(
        manifests=tuple(sorted((*manifests, *(item for part in site for item in part.manifests)))),
        degraded=(
            *(limits.of_cluster(cluster) if made else ()),
            *(note for part in site for note in part.degraded),
            *degraded,
        ),
    )


def _proposals(specset: SpecSet, cluster: Cluster) -> Rendered:
    try:
        return Rendered(manifests=tuple(proposals(specset, cluster)))
    except Unsupported as error:
        return Rendered(degraded=(limits.degraded(f"cluster/{cluster.name}", f"no site files are proposed: {error}"),))


def _accounts(plan: Plan, specset: SpecSet, cluster: Cluster) -> Rendered:
    """The program for accounts, and what Slurm counts otherwise than the quotas; a name it cannot take is told."""
    try:
        notes = tuple(limits.of_accounts(plan, specset, cluster))
        return Rendered(manifests=(accounts(plan, specset, cluster),), degraded=notes)
    except Unsupported as error:
        return Rendered(degraded=(limits.degraded(f"cluster/{cluster.name}", f"no accounts are written: {error}"),))


def script(payload: Payload, specset: SpecSet) -> str:
    """The batch script of a job; raises `Unsupported` where Slurm has no words for it."""
    return _script(payload, specset).text


def _script(payload: Payload, specset: SpecSet) -> _Script:
    own = payload.job.template
    template = specset.attachment(payload.address, own) if own else b""
    what = own_body(payload) if own else body(payload)
    team = specset.team(payload.job.team)
    mark = _mark(header(payload, team), what, template)
    head = header(payload, team, mark)
    made = _overlaid(head, what, template) if own else Overlaid(text=_head(head) + _body(what))
    reading.check(_head(head) if own else made.text, payload)
    return _Script(
        payload=payload,
        text=made.text,
        conflicts=made.conflicts,
        comment=words.comment(payload.address, payload.placement.spec, mark),
        settings=settings(head),
    )


def _overlaid(components: tuple[Options, ...], what: Body, template: bytes) -> Overlaid:
    if len(components) > 1:
        raise Unsupported("its parts are not alike, which cannot be laid over a script of one part")
    return overlay(_head(components), environment.render("slurm/exports.sh.j2", body=what), template)


def _body(what: Body) -> str:
    return environment.render("slurm/body.sh.j2", body=what)


def _head(components: tuple[Options, ...]) -> str:
    return environment.render("slurm/head.sbatch.j2", components=components)


def _mark(components: tuple[Options, ...], what: Body, template: bytes) -> str:
    """When a job is planned to start and to end does not change what it does: a queued one keeps what it was told."""
    names = frozenset(name for name, _ in CHANGEABLE)
    kept = tuple(tuple(item for item in options if item.name not in names) for options in components)
    given = tuple(tuple(item for item in options if item.name in names) for options in components)
    does = _body(replace(what, start="", end="")) + template.decode(errors="replace")
    if len(components) > 1:
        kept = components
    return words.mark(_head(kept) + does, _head(given))


def _written(payload: Payload, specset: SpecSet) -> _Script:
    try:
        return _script(payload, specset)
    except Unsupported as error:
        return _Script(payload=payload, refusal=str(error))


def _manifest(cluster: Cluster, item: _Script) -> Manifest:
    return Manifest(
        path=f"{cluster.name}/{item.file}", text=item.text, addresses=(item.payload.address,), executable=True
    )


def _step(item: _Script, written: dict[str, _Script]) -> Step:
    after = tuple(address for parent in parents_of(item.payload) for address in elements(parent, written))
    return Step(
        address=item.payload.address,
        start=parse_time(item.payload.segment.start, "UTC"),
        name=job_name(item.payload),
        file=item.file,
        after=after,
        comment=item.comment,
        settings=item.settings,
    )


def _submission(plan: Plan, specset: SpecSet, cluster: Cluster, steps: tuple[Step, ...]) -> Manifest:
    start = parse_time(plan.inputs.start, "UTC")
    text = environment.render(
        "slurm/submit.sh.j2",
        since=_local(start),
        long_before=_local(start - LOOK_BACK_SECONDS),
        steps=lines(steps),
        held=held(plan, specset),
        teams=tuple(team.name for team in specset.teams),
    )
    addresses = tuple(sorted(step.address for step in steps))
    return Manifest(path=f"{cluster.name}/submit.sh", text=text, addresses=addresses, executable=True)


def _local(epoch_seconds: int) -> str:
    """A time in UTC as Slurm's programs read it where UTC is their zone."""
    return format_time(epoch_seconds).removesuffix("Z")


def _notes(item: _Script, written: dict[str, _Script]) -> tuple[Degraded, ...]:
    if item.refusal:
        return (limits.refused(item.payload, item.refusal),)
    missing = tuple(parent for parent in parents_of(item.payload) if not elements(parent, written))
    conflicts = (limits.degraded(item.payload.address, text) for text in item.conflicts)
    return (*limits.of_job(item.payload, missing), *conflicts)
