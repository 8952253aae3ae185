"""Plan in, text out: one renderer for each back end.

`render` gives every file of a plan with its path below the output folder, and what no file can enforce. Nothing is
written to disk here, and jinja2 is loaded only when the first template is filled.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from planner.spec.backend import BackendType
from renderers import compose, kubernetes, slurm
from renderers.manifest import Manifest, Rendered, Renderer, merged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner.plan import Plan
    from planner.specset import SpecSet

__all__ = ["RENDERERS", "Manifest", "Rendered", "Renderer", "render"]

RENDERERS: Final[Mapping[BackendType, Renderer]] = MappingProxyType(
    {
        BackendType.KUBERNETES: kubernetes.render,
        BackendType.SLURM: slurm.render,
        BackendType.COMPOSE: compose.render,
    }
)


def render(plan: Plan, specset: SpecSet) -> Rendered:
    """All files of all clusters, each written by the renderer of its back end."""
    return merged(RENDERERS[cluster.backend.type](plan, specset, cluster) for cluster in specset.clusters)
