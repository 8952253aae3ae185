"""A Slurm cluster and plans for it, said in a few words."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from planner.plan import Device, NodeUse, Plan
from planner.specset import SpecSet
from renderers.manifest import Rendered
from renderers.slurm import render
from renderers.slurm.reading import Component, components
from tests.renderers.fleet import a_job, a_node, a_placement, a_segment, plan_of, specset_of

SHELLCHECK = Path(sys.executable).parent / "shellcheck"

TEAM = "apiVersion: planner/v1\nkind: Team\nname: vision\n"
POOL = """
  - name: h100
    nodes: gpu-[001-016]
    gpus: {model: h100-sxm5-80gb, count: 8}
    cpus: 192
    memory: 2Ti
    gres: {nvme: 4}
    partition: gpu
    features: [ib, hopper]
    max_duration: 7d
"""


def a_cluster(backend: str = "slurm", pools: str = POOL) -> str:
    """A document of one Slurm cluster called `hpc`."""
    return f"apiVersion: planner/v1\nkind: Cluster\nname: hpc\nbackend: {backend}\npools:{pools}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Specs, a plan and what was rendered of it."""

    specs: SpecSet
    plan: Plan
    rendered: Rendered

    def text(self, path: str) -> str:
        """The text of a file below the cluster's folder."""
        return {item.path: item.text for item in self.rendered.manifests}[f"hpc/{path}"]

    def script(self, name: str = "train") -> str:
        """The script of a job of team vision."""
        return self.text(f"jobs/vision.{name}.sbatch")

    def options(self, name: str = "train") -> Component:
        """The directives of a job that is not heterogeneous."""
        (component,) = components(self.script(name))
        return component

    def messages(self, address: str = "job/vision/train") -> list[str]:
        """What the plan cannot hold Slurm to at an address."""
        return [item.message for item in self.rendered.degraded if item.address == address]


def whole_nodes(count: int, *, first: int = 1, devices: int = 8) -> tuple[NodeUse, ...]:
    """Nodes of pool h100 with all their devices."""
    return tuple(a_node(f"gpu-{number:03}", *range(devices)) for number in range(first, first + count))


def a_site(
    *fields: str,
    nodes: tuple[NodeUse, ...] | None = None,
    cluster: str = "",
    pool: str = "h100",
    team: str = TEAM,
    limit_seconds: int = 9_000,
    start: int = 0,
    variant: str = "",
) -> Site:
    """One job `train`, with further lines of YAML, on some nodes (by default a whole one)."""
    specs = specset_of(cluster or a_cluster(), team, a_job("train", *fields))
    segment = a_segment(f"hpc/{pool}", *(nodes or whole_nodes(1)), specs=specs, start=start, variant=variant)
    placement = a_placement("job/vision/train", segment, specs=specs, limit_seconds=limit_seconds)
    plan = plan_of(placement, specs=specs)
    return Site(specs=specs, plan=plan, rendered=render(plan, specs, specs.cluster("hpc")))


def a_chain(jobs: dict[str, tuple[str, ...]], *, extra: tuple[str, ...] = ()) -> Site:
    """Jobs of one device each, by name, with those that they wait for; one after the other on one node."""
    documents = [
        a_job(name, "command: ['true']", "gpus: 1", f"after: [{', '.join(after)}]" if after else "")
        for name, after in jobs.items()
    ]
    specs = specset_of(a_cluster(), TEAM, *documents, *extra)
    placements = [
        a_placement(
            f"job/vision/{name}",
            a_segment("hpc/h100", a_node("gpu-001", Device(index=0)), specs=specs, start=2 * index),
            specs=specs,
        )
        for index, name in enumerate(jobs)
    ]
    plan = plan_of(*placements, specs=specs)
    return Site(specs=specs, plan=plan, rendered=render(plan, specs, specs.cluster("hpc")))


def lint(text: str, shell: str = "bash") -> str:
    """What bash or sh and shellcheck say about a script; nothing when all is well."""
    parsed = subprocess.run([shell, "-n"], input=text, text=True, capture_output=True, check=False)
    checked = subprocess.run([SHELLCHECK, "-"], input=text, text=True, capture_output=True, check=False)
    return parsed.stderr + checked.stdout + checked.stderr
