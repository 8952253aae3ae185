"""An existing object that serves, with the plan laid over it: its replicas, and where and with what they run."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from renderers.kubernetes.gangs import Path, Tree, parts_of
from renderers.kubernetes.overlay import Overlay, PodPlaces, lay, lay_metadata, lay_pod, places_of

if TYPE_CHECKING:
    from planner.diagnostics import Place
    from planner.specset.manifests import ManifestTemplate

STOP: Final = "serving.kserve.io/stop"
"""The annotation that lets no replica run."""
_PROBES: Final = ("startupProbe", "readinessProbe")
_PREDICTOR: Final[Path] = ("spec", "predictor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A kind that serves: its API, whether a replica has several nodes, how the plan is laid over it, and how many
    replicas it then states. `has_front`: its controller makes the Service before the replicas itself.
    """

    api: str
    of_groups: bool
    lay: Callable[[Overlay, Tree, Tree], None]
    replicas: Callable[[Tree], int]
    has_front: bool = False


def served_over(template: ManifestTemplate, spec_place: Place, made: Tree, pod: Tree) -> Overlay:
    """`template` with the replicas of `made` laid over it, whose pods look like `pod`.

    Raises `SpecError` with every place where the two contradict each other.
    """
    kind = template.tree["kind"]
    overlay = Overlay(template=template, spec_place=spec_place, tree=copy.deepcopy(template.tree))

    def act() -> None:
        served = SERVED[kind]
        if served.of_groups != SERVED[made["kind"]].of_groups:
            overlay.conflict(("kind",), f"kind is {kind}", f"a replica is planned as a {made['kind']}")
        lay_metadata(overlay, made["metadata"])
        served.lay(overlay, made["spec"], pod)

    return lay(overlay, SERVED[kind].api, kind, act)


def _deployment(overlay: Overlay, made: Tree, pod: Tree) -> None:
    for key in ("replicas", "strategy"):
        overlay.put(("spec", key), made[key])
    _pods(overlay, [("spec", "template")], pod)


def _groups(overlay: Overlay, made: Tree, pod: Tree) -> None:
    """A group may have a leader of its own, which holds devices or not."""
    group: Path = ("spec", "leaderWorkerTemplate")
    overlay.put(("spec", "replicas"), made["replicas"])
    overlay.agree((*group, "size"), made["leaderWorkerTemplate"]["size"])
    found = [path for key in ("leaderTemplate", "workerTemplate") if overlay.at(path := (*group, key)) is not None]
    _pods(overlay, found, pod)


def _pods(overlay: Overlay, templates: Sequence[Path], pod: Tree) -> None:
    parts = parts_of(overlay.tree, [(path, 1) for path in templates])
    if not parts:
        overlay.conflict(("spec",), "no pod that asks for devices", "the plan has some")
    for part in parts:
        places = places_of(part)
        lay_pod(overlay, places, pod)
        _answers(overlay, places.container, pod["spec"]["containers"][0])


def _predictor(overlay: Overlay, made: Tree, pod: Tree) -> None:
    """A predictor is a pod with the bounds of its replicas in it; none at all is said by an annotation."""
    container: Path = ("model",) if overlay.at((*_PREDICTOR, "model")) is not None else ("containers", 0)
    count = made["replicas"]
    overlay.put((*_PREDICTOR, "minReplicas"), count)
    overlay.put((*_PREDICTOR, "maxReplicas"), max(1, count))
    overlay.put(("metadata", "annotations", STOP), str(count == 0).lower())
    lay_pod(overlay, PodPlaces(marks=_PREDICTOR, spec=_PREDICTOR, container=(*_PREDICTOR, *container)), pod)


def _answers(overlay: Overlay, container: Path, made: Tree) -> None:
    """The stated port, and probes where the object has none of its own; they name the port by its number."""
    ports = made.get("ports", ())
    own = any(overlay.at((*container, probe)) for probe in (*_PROBES, "livenessProbe"))
    overlay.append((*container, "ports"), ports, _same_port)
    for key in _PROBES if ports and not own else ():
        if probe := made.get(key):
            number = ports[0]["containerPort"]
            overlay.put((*container, key), {**probe, "httpGet": {**probe["httpGet"], "port": number}})


def _same_port(old: Any, item: Any) -> bool:
    return isinstance(old, dict) and old.get("containerPort") == item["containerPort"]


SERVED: Final[Mapping[str, Served]] = MappingProxyType(
    {
        "Deployment": Served(
            api="apps/v1", of_groups=False, lay=_deployment, replicas=lambda tree: int(tree["spec"].get("replicas", 0))
        ),
        "LeaderWorkerSet": Served(
            api="leaderworkerset.x-k8s.io/v1",
            of_groups=True,
            lay=_groups,
            replicas=lambda tree: int(tree["spec"].get("replicas", 0)),
        ),
        "InferenceService": Served(
            api="serving.kserve.io/v1beta1",
            of_groups=False,
            lay=_predictor,
            replicas=lambda tree: int(tree["spec"]["predictor"]["minReplicas"]),
            has_front=True,
        ),
    }
)
"""The kinds that services are written as, or laid over."""
