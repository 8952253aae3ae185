"""What a renderer makes: files with their paths, and what the back end cannot enforce."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from planner.plan import Degraded, Plan
    from planner.spec.cluster import Cluster
    from planner.specset import SpecSet


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Manifest:
    """One file: its path below the output folder (POSIX, the cluster's name first), its text, and whose it is.

    `addresses` names the workloads, teams, quotas or pools that the file exists for, sorted.
    """

    path: str
    text: str
    addresses: tuple[str, ...] = ()
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """All files of one or several clusters in the order of their paths, and what no file can say."""

    manifests: tuple[Manifest, ...] = ()
    degraded: tuple[Degraded, ...] = ()


class Renderer(Protocol):
    """Writes one cluster's part of a plan in the words of its back end; pure, and the same bytes for the same input."""

    def __call__(self, plan: Plan, specset: SpecSet, cluster: Cluster) -> Rendered:
        """The files of `cluster`, all below a folder of its name."""
        ...


def merged(parts: Iterable[Rendered]) -> Rendered:
    """Several results as one, sorted; two files of one path are a defect of a renderer and refused."""
    every = tuple(parts)
    manifests = sorted(manifest for part in every for manifest in part.manifests)
    for one, other in pairwise(manifests):
        if one.path == other.path:
            raise ValueError(f"two files are called '{one.path}'")
    degraded = sorted({item for part in every for item in part.degraded}, key=_degraded_key)
    return Rendered(manifests=tuple(manifests), degraded=tuple(degraded))


def _degraded_key(item: Degraded) -> tuple[str, str, str]:
    return item.address, item.backend, item.message
