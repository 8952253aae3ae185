"""What changes over time: for each phase of the plan, the objects whose quotas or replicas differ between phases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from planner.units import format_time
from renderers import environment
from renderers.kubernetes.scene import CLUSTER_FOLDER
from renderers.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from renderers.kubernetes.scene import Scene

FOLDER: Final = "phases"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """What holds from `start` (RFC 3339) until the next phase: complete, so that phases may be left out."""

    start: str
    folder: str
    manifests: tuple[Manifest, ...]


def phases_of(scene: Scene, moments: Iterable[int], objects: Callable[[int], Iterable[Manifest]]) -> tuple[Phase, ...]:
    """The phases of a cluster, each from one of `moments` on; none where all stays as it is.

    Each holds every object that any phase changes and no other.
    """
    trees: list[tuple[int, dict[str, Manifest]]] = []
    for moment in sorted({scene.begin, *moments}):
        tree = {manifest.path: manifest for manifest in objects(moment)}
        if not trees or tree != trees[-1][1]:
            trees.append((moment, tree))
    if len(trees) == 1:
        return ()
    first = trees[0][1]
    changing = sorted(path for path in first if any(tree[path] != first[path] for _, tree in trees))
    return tuple(_phase(scene, moment, [tree[path] for path in changing]) for moment, tree in trees)


def _phase(scene: Scene, moment: int, manifests: list[Manifest]) -> Phase:
    start = format_time(moment)
    # Without colons, which file systems and archives of Windows refuse.
    folder = f"{scene.cluster.name}/{FOLDER}/{start.replace('-', '').replace(':', '')}"
    moved = sorted(replace(manifest, path=f"{folder}/{_flat(manifest.path)}") for manifest in manifests)
    names = [manifest.path.rpartition("/")[2] for manifest in moved]
    listing = Manifest(
        path=f"{folder}/kustomization.yaml", text=environment.render("kubernetes/kustomization.yaml.j2", paths=names)
    )
    return Phase(start=start, folder=folder, manifests=(*moved, listing))


def _flat(path: str) -> str:
    """The name of a file in the folder of a phase; that of an object in a namespace begins with the namespace."""
    _, folder, name = path.split("/")
    return name if folder == CLUSTER_FOLDER else f"{folder}-{name}"


def is_of_a_phase(path: str) -> bool:
    """Whether a file belongs to a phase; a namespace of the same name as their folder is one level less deep."""
    _, folder, *rest = path.split("/")
    return folder == FOLDER and len(rest) > 1


def files_of(phases: Iterable[Phase]) -> Iterator[Manifest]:
    """All files of the phases."""
    return (manifest for phase in phases for manifest in phase.manifests)
