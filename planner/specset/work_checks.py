"""Checks of jobs and services, alone and against the fleet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from planner.diagnostics import Severity, quoted
from planner.spec.job import Elastic, Job
from planner.spec.policy import OnInvalid
from planner.spec.service import Service, ServiceReplicas
from planner.spec.work import GpuRequest, TimeByModel, Variant
from planner.specset import fit
from planner.specset.faults import Faults, Item
from planner.specset.tree import Tree
from planner.yamlio import Path, written

Work = Item[Job] | Item[Service]


def check(tree: Tree, faults: Faults) -> None:
    """Report work that contradicts itself, or that nothing in the fleet can ever run."""
    classes = fit.classes(tree)
    severity = Severity.ERROR if tree.policy.on_invalid is OnInvalid.STOP else Severity.WARNING
    judged: dict[fit.Wish, tuple[str, str, str] | None] = {}
    for item in tree.work():
        before = len(faults.found)
        _complete(item, faults)
        _contradictions(item, faults)
        if isinstance(item.spec, Job):
            _job(item, item.spec, faults)
        else:
            _service(item, item.spec, faults)
        if len(faults.found) == before:
            _fits(item, classes, severity, judged, faults)


def _complete(item: Work, faults: Faults) -> None:
    """Work has devices, an image and a length, in itself or in every variant."""
    for name, lacking, help_text in _missing(item.spec):
        of = f" (variant {lacking})" if lacking else ""
        faults.add("SPEC203", item, (), f"'{name}' is missing{of}", help=help_text)


def _missing(spec: Job | Service) -> Iterator[tuple[str, str, str]]:
    """Fields that neither the work nor all its variants have: the field, the first variant without it, and advice."""
    has_devices = spec.gpus is not None or bool(spec.roles if isinstance(spec, Job) else spec.model)
    if not has_devices and (lacking := _lacking(spec, lambda variant: variant.gpus is not None)) is not None:
        yield "gpus", lacking, "add 'gpus:' with how many devices it needs in all; 0 for work on CPUs only"
    has_image = spec.image is not None or spec.template is not None
    if not has_image and (lacking := _lacking(spec, lambda variant: variant.image is not None)) is not None:
        yield "image", lacking, "add 'image:', or 'template:' with a manifest that has one"
    has_length = isinstance(spec, Service) or spec.duration.is_given
    if not has_length and (lacking := _lacking(spec, lambda variant: variant.duration.is_given)) is not None:
        yield "duration", lacking, "add 'duration:' with how long it is expected to run, for example 18h"


def _lacking(spec: Job | Service, has: Callable[[Variant], bool]) -> str | None:
    """The name of the first variant without something; empty when there are no variants, None when all have it."""
    if not spec.variants:
        return ""
    return next((variant.name for variant in spec.variants if not has(variant)), None)


def _contradictions(item: Work, faults: Faults) -> None:
    spec = item.spec
    if spec.variants:
        _variants(item, faults)
    if spec.gpus is not None:
        _request(item, ("gpus",), spec.gpus, faults)
    for one, other in (("cpus", "cpus_per_gpu"), ("memory", "memory_per_gpu")):
        if getattr(spec, one) is not None and getattr(spec, other) is not None:
            faults.add("SPEC212", item, (other,), f"{one} and {other} exclude each other", help="keep one of them")
    if spec.env or any(variant.env for variant in spec.variants):
        _environment(item, faults)
    if spec.mounts:
        _mounts(item, faults)


def _variants(item: Work, faults: Faults) -> None:
    names: set[str] = set()
    for index, variant in enumerate(item.spec.variants):
        path = ("variants", index)
        if variant.name in names:
            summary = f"two variants have the name {quoted(variant.name)}"
            faults.add("SPEC401", item, (*path, "name"), summary, help="rename one of them")
        names.add(variant.name)
        if variant.gpus is not None:
            _request(item, (*path, "gpus"), variant.gpus, faults)


def _mounts(item: Work, faults: Faults) -> None:
    for index, mount in enumerate(item.spec.mounts):
        path = ("mounts", index)
        if sum((mount.claim is not None, mount.host is not None, mount.empty)) != 1:
            help_text = "keep one: claim: NAME, host: /DIRECTORY or empty: true"
            faults.add("SPEC212", item, path, "a mount has exactly one of claim, host and empty", help=help_text)
        if not mount.path.startswith("/"):
            summary = f"{quoted(mount.path)} is not an absolute path"
            faults.add("SPEC206", item, (*path, "path"), summary, help=f"write /{mount.path}")


def _environment(item: Work, faults: Faults) -> None:
    for path, pairs in (
        (("env",), item.spec.env),
        *((("variants", index, "env"), one.env) for index, one in enumerate(item.spec.variants)),
    ):
        for name, value in pairs:
            if (value.value is not None) == (value.secret is not None) or (value.secret is None) != (value.key is None):
                faults.add(
                    "SPEC212", item, (*path, name), f"the variable {name} has neither a text nor a key of a secret",
                    help=f"write {name}: \"text\", or {name}: {{secret: NAME, key: KEY}}",
                )  # fmt: skip


def _request(item: Work, path: Path, gpus: GpuRequest, faults: Faults) -> None:
    if gpus.nodes is not None and gpus.count % gpus.nodes:
        down, up = gpus.count // gpus.nodes * gpus.nodes, -(-gpus.count // gpus.nodes) * gpus.nodes
        choices = f"{down} or {up}" if down else str(up)
        faults.add(
            "SPEC414", item, (*path, "count"), f"{gpus.count} devices cannot be divided evenly over {gpus.nodes} nodes",
            help=f"count is the total of all nodes: write {choices}, or another number of nodes",
        )  # fmt: skip
    stated = [name for name in ("share", "share_memory", "partition") if getattr(gpus, name) is not None]
    if len(stated) > 1:
        faults.add(
            "SPEC212",
            item,
            (*path, stated[1]),
            f"{stated[0]} and {stated[1]} exclude each other",
            help="keep one of them",
        )
    if gpus.count == 0 and (stated or gpus.models or gpus.vendor or gpus.memory):
        faults.add(
            "SPEC212",
            item,
            path,
            "work without devices cannot ask what they are like",
            help="set count, or write gpus: 0 alone",
        )


def _job(item: Work, spec: Job, faults: Faults) -> None:
    window, array = spec.window, spec.array
    if window.not_before is not None and window.deadline is not None and window.deadline <= window.not_before:
        help_text = "write a later deadline, or an earlier not_before"
        faults.add("SPEC409", item, ("window", "deadline"), "the deadline is not after not_before", help=help_text)
    if array is not None and array.last < array.first:
        summary = f"the array ends at {array.last}, before it begins at {array.first}"
        faults.add("SPEC408", item, ("array",), summary, help=f"write {array.last}-{array.first}")
    if spec.checkpoint is not None and spec.checkpoint.every.milliseconds == 0:
        summary = "checkpoints need some time between them"
        faults.add("SPEC208", item, ("checkpoint", "every"), summary, help="write for example 20m")
    _limits(item, spec, faults)
    _bounds(item, spec.replicas, faults)
    if spec.roles and spec.replicas is not None:
        help_text = "only a gang of alike parts shrinks and grows: remove one of them"
        faults.add("SPEC212", item, ("replicas",), "roles and replicas exclude each other", help=help_text)
    if spec.roles:
        _roles(item, spec, faults)


def _limits(item: Work, spec: Job, faults: Faults) -> None:
    own: list[tuple[Path, TimeByModel]] = [(("duration",), spec.duration)]
    own += [(("variants", index, "duration"), variant.duration) for index, variant in enumerate(spec.variants)]
    for path, times in own:
        longest = max([time for time in (times.expected, *dict(times.by_model).values()) if time], default=None)
        if longest and times.limit and longest > times.limit and written(item.document, (*path, "limit")):
            summary = f"limit {times.limit} is below the expected {longest}"
            faults.add("SPEC419", item, (*path, "limit"), summary, help=f"write at least {longest}")


def _bounds(item: Work, replicas: Elastic | ServiceReplicas | None, faults: Faults) -> None:
    if replicas is not None and replicas.max is not None and replicas.max < replicas.min:
        summary = f"max {replicas.max} is below min {replicas.min}"
        faults.add("SPEC415", item, ("replicas", "max"), summary, help=f"write at least {replicas.min}")


def _roles(item: Work, spec: Job, faults: Faults) -> None:
    if len({role.name for role in spec.roles}) < len(spec.roles):
        faults.add("SPEC401", item, ("roles",), "two roles have the same name", help="rename one of them")
    for index, role in enumerate(spec.roles):
        for name, stated in (("model", role.gpus.models), ("vendor", role.gpus.vendor)):
            if stated:
                help_text = "all parts of a gang run on one model: state it in the job's variants"
                faults.add(
                    "SPEC212", item, ("roles", index, "gpus", name), f"a role has no {name} of its own", help=help_text
                )
    if spec.gpus is not None:
        help_text = "the roles say how many devices the job needs: remove gpus"
        faults.add("SPEC212", item, ("gpus",), "gpus and roles exclude each other", help=help_text)


def _service(item: Work, spec: Service, faults: Faults) -> None:
    _bounds(item, spec.replicas, faults)
    if not spec.load.steps and spec.load.file is None:
        faults.add(
            "SPEC203", item, ("load",), "the load is empty", help="write for example [{when: otherwise, qps: 25}]"
        )
    _steps(item, spec, faults)
    by_rate = spec.load.file is not None or any(step.milliqps is not None for step in spec.load.steps)
    if by_rate and not spec.service_time.is_given and spec.milliqps_per_replica is None:
        help_text = "add 'service_time:' with the time of one request, or 'qps_per_replica:' as measured"
        faults.add("SPEC203", item, (), "'service_time' is missing", help=help_text)


def _steps(item: Work, spec: Service, faults: Faults) -> None:
    ended = False
    for index, step in enumerate(spec.load.steps):
        path = ("load", index)
        if (step.milliqps is None) == (step.concurrent is None):
            help_text = "keep qps for requests per second, or concurrent for requests at once"
            faults.add("SPEC212", item, path, "a load has exactly one of qps and concurrent", help=help_text)
        if ended:
            summary = f"{step.when} can never hold: 'otherwise' comes before it"
            faults.add("SPEC422", item, path, summary, help="put otherwise last")
        ended = ended or step.when.is_otherwise


def _fits(
    item: Work,
    classes: Sequence[fit.Class],
    severity: Severity,
    judged: dict[fit.Wish, tuple[str, str, str] | None],
    faults: Faults,
) -> None:
    """Whether some variant can run somewhere; the reason is told when none can. Alike work is judged once."""
    reasons: list[tuple[Path, tuple[str, str, str]]] = []
    for variant, path in _ways(item.spec):
        wish = fit.wish_of(item.spec, variant)
        if wish not in judged:
            judged[wish] = fit.refusal(wish, classes)
        reason = judged[wish]
        if reason is None:
            return
        reasons.append((path, reason))
    for path, (code, summary, help_text) in reasons:
        faults.add(code, item, path, summary, help=help_text, severity=severity)


def _ways(spec: Job | Service) -> Iterator[tuple[Variant | None, Path]]:
    """The variants with the path to what says which devices they need."""
    if not spec.variants:
        yield None, ("gpus",) if spec.gpus is not None else ("roles",)
    for index, variant in enumerate(spec.variants):
        yield variant, ("variants", index)
