"""An existing object with the plan laid over it: every field stays, what is laid on is said, conflicts are errors."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from planner.diagnostics import Diagnostic, Related, Severity, SpecError
from renderers.kubernetes.gangs import Gang, Part, domains, gang_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from planner.diagnostics import Place
    from planner.specset.manifests import ManifestTemplate

Tree = dict[str, Any]
Path = tuple[str | int, ...]

_CODE: Final = "SPEC423"
_HOST: Final = frozenset({"cpu", "memory", "ephemeral-storage"})


class Overlay:
    """One object in the making: `tree` is changed in place, `changes` and `faults` grow with it."""

    def __init__(self, template: ManifestTemplate, spec_place: Place, tree: Tree) -> None:
        self.template = template
        self.spec_place = spec_place
        self.tree = tree
        self.changes: list[str] = []
        self.faults: list[Diagnostic] = []

    def at(self, path: Path) -> Any:
        """The value at a path; None where there is none."""
        node: Any = self.tree
        for part in path:
            inside = isinstance(node, dict) and part in node
            listed = isinstance(node, list) and isinstance(part, int) and part < len(node)
            if not (inside or listed):
                return None
            node = node[part]
        return node

    def put(self, path: Path, value: Any) -> None:
        """Set a value whatever stood there, and say so where that changes anything."""
        old = self.at(path)
        if old == value:
            return
        node: Any = self.tree
        for part in path[:-1]:
            node = node.setdefault(part, {}) if isinstance(node, dict) else node[part]
        node[path[-1]] = value
        where = ".".join(map(str, path))
        self.changes.append(f"{where} added" if old is None else f"{where} replaced, was {_brief(old)}")

    def agree(self, path: Path, value: Any) -> None:
        """Set a value that the template may not contradict."""
        old = self.at(path)
        if old is None or old == value:
            self.put(path, value)
        else:
            self.conflict(path, f"{'.'.join(map(str, path))} is {_brief(old)}", f"the plan has {_brief(value)}")

    def conflict(self, path: Path, seen: str, wanted: str) -> None:
        """Note that the template says one thing and the plan another."""
        self.faults.append(
            Diagnostic(
                code=_CODE,
                severity=Severity.ERROR,
                summary=f"{seen} in the template, and {wanted}",
                place=self.template.place(*path),
                help="remove it from the template, or make both the same",
                related=(Related(place=self.spec_place, message="planned for this"),),
            )
        )

    def merge(self, path: Path, values: Mapping[str, Any]) -> None:
        """Each of `values` agrees with what stands below a path."""
        for key, value in values.items():
            self.agree((*path, key), value)

    def append(self, path: Path, items: Sequence[Any], same: Callable[[Any, Any], bool]) -> None:
        """Add items to a list, but for those that `same` finds there."""
        held = list(self.at(path) or ())
        added = [item for item in items if not any(same(old, item) for old in held)]
        if added:
            self.put_quietly(path, [*held, *added])
            names = ", ".join(_brief(item.get("name", item.get("key", item))) for item in added)
            self.changes.append(f"{'.'.join(map(str, path))}: {names} added")

    def put_quietly(self, path: Path, value: Any) -> None:
        """Set a value and leave it to the caller to say so."""
        count = len(self.changes)
        self.put(path, value)
        del self.changes[count:]


def _brief(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def laid_over(template: ManifestTemplate, spec_place: Place, made: Tree, pod: Tree, count: int) -> Overlay:
    """`template` with the object `made` laid over it, whose pods look like `pod` and are `count` in number.

    Raises `SpecError` with every place where the two contradict each other.
    """
    overlay = Overlay(template=template, spec_place=spec_place, tree=copy.deepcopy(template.tree))
    return lay(overlay, made["apiVersion"], made["kind"], lambda: _lay(overlay, made, pod, count))


def lay(overlay: Overlay, api: str, kind: str, act: Callable[[], None]) -> Overlay:
    """Do what changes the overlay of an object of that API and kind; `SpecError` where anything contradicts it."""
    if (seen := overlay.tree.get("apiVersion")) != api:
        overlay.conflict(("apiVersion",), f"apiVersion is {seen}", f"only {api} is read")
    try:
        act()
    except (AttributeError, KeyError, TypeError, ValueError):
        overlay.conflict((), "the object does not have the shape of its kind", f"a {kind} is needed")
    if overlay.faults:
        raise SpecError(overlay.faults)
    return overlay


def _lay(overlay: Overlay, made: Tree, pod: Tree, count: int) -> None:
    lay_metadata(overlay, made["metadata"])
    gang = gang_of(overlay.tree)
    overlay.put(gang.suspend, True)
    if gang.limit is not None:
        overlay.put(gang.limit, made["spec"]["activeDeadlineSeconds"])
    if "entrypoint" in made["spec"]:
        overlay.put(("spec", "entrypoint"), made["spec"]["entrypoint"])
    if made["kind"] == "TrainJob":
        _trainer(overlay, made["spec"])
    else:
        _gang(overlay, gang, pod, count)


def lay_metadata(overlay: Overlay, made: Tree) -> None:
    """Lay name, namespace, labels and annotations over those of the object."""
    overlay.agree(("metadata", "namespace"), made["namespace"])
    overlay.put(("metadata", "name"), made["name"])
    overlay.merge(("metadata", "labels"), made["labels"])
    for key, value in made["annotations"].items():
        overlay.put(("metadata", "annotations", key), value)


def _trainer(overlay: Overlay, made: Tree) -> None:
    """A TrainJob has no pod of its own: what runs stands in its trainer, where it runs in a patch of the runtime."""
    trainer = made["trainer"]
    overlay.agree(("spec", "trainer", "numNodes"), trainer["numNodes"])
    overlay.put(("spec", "trainer", "numProcPerNode"), trainer["numProcPerNode"])
    for key in ("image", "command"):
        if trainer.get(key):
            overlay.put(("spec", "trainer", key), trainer[key])
    _resources(overlay, ("spec", "trainer", "resourcesPerNode"), trainer["resourcesPerNode"])
    overlay.append(("spec", "trainer", "env"), trainer["env"], _same_name)
    if overlay.at(("spec", "runtimeRef")) is None:
        overlay.put(("spec", "runtimeRef"), made["runtimeRef"])
    overlay.append(("spec", "runtimePatches"), made["runtimePatches"], lambda old, item: bool(old == item))


def _gang(overlay: Overlay, gang: Gang, pod: Tree, count: int) -> None:
    if not gang.parts:
        overlay.conflict(("spec",), "no pod that asks for devices", "the plan has some")
        return
    held = sum(part.count for part in gang.parts)
    if gang.counts and held != count and len(gang.parts) == 1 and gang.parts[0].count == 1:
        for path in gang.counts:
            overlay.agree(path, count)
        if count > 1 and gang.completion_mode is not None:
            overlay.agree(gang.completion_mode, "Indexed")
    elif held != count:
        overlay.conflict((*gang.counts, gang.parts[0].path)[0], f"{held} pods with devices", f"the plan has {count}")
    for part in gang.parts:
        lay_pod(overlay, places_of(part), pod)


@dataclass(frozen=True, slots=True, kw_only=True)
class PodPlaces:
    """Where an object keeps the parts of a pod: its labels and annotations, its fields, and the container at work."""

    marks: Path
    spec: Path
    container: Path


def places_of(part: Part) -> PodPlaces:
    """The places of a pod template."""
    spec = (*part.path, "spec")
    return PodPlaces(marks=(*part.path, "metadata"), spec=spec, container=(*spec, "containers", part.container))


def lay_pod(overlay: Overlay, places: PodPlaces, made: Tree) -> None:
    """Lay the placement and the container of the pod `made` over the pod at `places`."""
    spec, inside = made["spec"], places.spec
    for kind in ("labels", "annotations"):
        overlay.merge((*places.marks, kind), made["metadata"][kind])
    overlay.merge((*inside, "nodeSelector"), spec.get("nodeSelector", {}))
    if "subdomain" in spec and overlay.at((*inside, "subdomain")) is None:
        overlay.put((*inside, "subdomain"), spec["subdomain"])
    for key in ("schedulerName", "priorityClassName", "serviceAccountName"):
        if key in spec:
            overlay.agree((*inside, key), spec[key])
    _affinity(overlay, (*inside, "affinity"), spec.get("affinity", {}))
    for key in ("tolerations", "imagePullSecrets"):
        overlay.append((*inside, key), spec.get(key, ()), lambda old, item: bool(old == item))
    overlay.append((*inside, "resourceClaims"), spec.get("resourceClaims", ()), _same_name)
    _container(overlay, inside, places.container, spec)


def _container(overlay: Overlay, inside: Path, path: Path, spec: Tree) -> None:
    made = spec["containers"][0]
    for key in ("image", "command"):
        if made.get(key):
            overlay.put((*path, key), made[key])
    overlay.append((*path, "env"), made["env"], _same_name)
    _resources(overlay, (*path, "resources"), made["resources"])
    held = {mount.get("mountPath") for mount in overlay.at((*path, "volumeMounts")) or ()}
    mounts = [mount for mount in made["volumeMounts"] if mount["mountPath"] not in held]
    overlay.append((*path, "volumeMounts"), mounts, lambda old, item: False)
    wanted = {mount["name"] for mount in mounts}
    overlay.append((*inside, "volumes"), [item for item in spec["volumes"] if item["name"] in wanted], _same_name)


def _same_name(old: Any, item: Any) -> bool:
    return isinstance(old, dict) and old.get("name") == item["name"]


def _resources(overlay: Overlay, path: Path, made: Tree) -> None:
    """Devices as planned in place of those of the template, of which there must be as many.

    What the template says of CPU and memory stays.
    """
    for section in ("requests", "limits"):
        held = overlay.at((*path, section)) or {}
        wanted = {name: amount for name, amount in made.get(section, {}).items() if name not in _HOST}
        for name in [name for name in held if name not in wanted and _is_device(name)]:
            _device(overlay, (*path, section, name), held, wanted)
        for name, amount in made.get(section, {}).items():
            same = str(held.get(name)) == amount
            if not same and not (name in _HOST and name in held):
                overlay.agree((*path, section, name), amount)
    if "claims" in made:
        overlay.append((*path, "claims"), made["claims"], _same_name)


def _device(overlay: Overlay, path: Path, held: Tree, wanted: Mapping[str, str]) -> None:
    """Take away devices by another name than the plan's, where the plan has as many."""
    name = str(path[-1])
    amount = held[name]
    if list(wanted.values()) == [str(amount)]:
        del held[name]
        overlay.changes.append(f"{'.'.join(map(str, path))} replaced by {', '.join(wanted)}")
    else:
        planned = ", ".join(f"{key}: {value}" for key, value in wanted.items()) or "no such device"
        overlay.conflict(path, f"{name} is {amount}", f"the plan has {planned}")


def _is_device(name: str) -> bool:
    return name.partition("/")[0] in domains()


def _affinity(overlay: Overlay, path: Path, made: Tree) -> None:
    """The planned nodes are one more condition of each alternative that the template allows."""
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    if node := made.get("nodeAffinity"):
        at = (*path, "nodeAffinity", required, "nodeSelectorTerms")
        (wanted,) = node[required]["nodeSelectorTerms"]
        held = overlay.at(at) or [{}]
        terms = [
            {**term, "matchExpressions": [*wanted["matchExpressions"], *term.get("matchExpressions", ())]}
            for term in held
        ]
        overlay.put(at, terms)
    if apart := made.get("podAntiAffinity"):
        overlay.append((*path, "podAntiAffinity", required), apart[required], lambda old, item: bool(old == item))
