"""Plan in, text out: one renderer for each back end.

`render` gives every file of a plan with its path below the output folder, and what no file can enforce; `verify` holds
parsed files against the plan. Nothing is written to disk here, and jinja2 is loaded only when the first template is
filled.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, assert_never

from planner.plan import Degraded
from planner.spec.backend import BackendType
from renderers import compose, kubernetes, slurm
from renderers.compose.verify import verify as verify_compose
from renderers.kubernetes.verify import verify as verify_kubernetes
from renderers.manifest import Manifest, Rendered, Renderer, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from planner.plan import Plan
    from planner.spec.cluster import Cluster
    from planner.specset import SpecSet

__all__ = ["RENDERERS", "Manifest", "Rendered", "Renderer", "render", "verify"]

RENDERERS: Final[Mapping[BackendType, Renderer]] = MappingProxyType(
    {
        BackendType.KUBERNETES: kubernetes.render,
        BackendType.SLURM: slurm.render,
        BackendType.COMPOSE: compose.render,
    }
)


def render(plan: Plan, specset: SpecSet) -> Rendered:
    """All files of all clusters, each written by the renderer of its back end."""
    return merged(_of_cluster(plan, specset, cluster) for cluster in specset.clusters)


def verify(rendered: Rendered, plan: Plan, specset: SpecSet, parse: Callable[[str], Sequence[Any]]) -> tuple[str, ...]:
    """What differs between the plan and the YAML that was rendered of it; nothing when all is as planned.

    `parse` gives the documents of a text with all keys. Slurm's scripts are held against the plan as they are written.
    """
    return tuple(fault for cluster in specset.clusters for fault in _faults(rendered, plan, specset, cluster, parse))


def _of_cluster(plan: Plan, specset: SpecSet, cluster: Cluster) -> Rendered:
    made = RENDERERS[cluster.backend.type](plan, specset, cluster)
    if cluster.backend.type is not BackendType.SLURM:
        return made
    services = {
        service.address
        for service in plan.services
        for step in service.steps
        if any(segment.cluster == cluster.name for segment in step.segments)
    }
    told = (
        Degraded(address=address, backend=str(cluster.backend.type), message="not written: services have no files yet.")
        for address in sorted(services)
    )
    return Rendered(manifests=made.manifests, degraded=(*made.degraded, *told))


def _faults(
    rendered: Rendered, plan: Plan, specset: SpecSet, cluster: Cluster, parse: Callable[[str], Sequence[Any]]
) -> tuple[str, ...]:
    documents = {
        manifest.path: parse(manifest.text)
        for manifest in rendered.manifests
        if manifest.path.startswith(f"{cluster.name}/") and manifest.path.endswith(".yaml")
    }
    match cluster.backend.type:
        case BackendType.KUBERNETES:
            return verify_kubernetes(documents, plan, specset, cluster, rendered.degraded)
        case BackendType.COMPOSE:
            return verify_compose(documents, plan, specset, cluster, rendered.degraded)
        case BackendType.SLURM:
            return ()
        case never:
            assert_never(never)
