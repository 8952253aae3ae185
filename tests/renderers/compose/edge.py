"""A Compose cluster and plans for it, said in a few words, and projects as Compose reads them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft7Validator

from planner.plan import NodeUse, Plan
from planner.specset import SpecSet
from renderers.compose import render
from renderers.compose.verify import verify
from renderers.manifest import Rendered
from tests.renderers.fleet import a_job, a_placement, a_segment, plan_of, specset_of

SCHEMA = Path(__file__).parents[2] / "schemas" / "compose-spec.json"
TEAM = "apiVersion: planner/v1\nkind: Team\nname: vision\n"
GREEN = """
  - name: green
    nodes: [till-nv]
    gpus: {model: l4, count: 4}
    cpus: 16
    memory: 128Gi
"""
RED = """
  - name: red
    nodes: [till-amd]
    gpus: {model: radeon-pro-w7900, count: 4}
    cpus: 16
    memory: 128Gi
    render_gid: 105
    render_nodes: [128, 136, 144, 152]
"""


def a_cluster(pools: str = GREEN + RED, backend: str = "compose") -> str:
    """A document of one Compose cluster called `store`."""
    return (
        f"apiVersion: planner/v1\nkind: Cluster\nname: store\nbackend: {backend}\nplace: {{edge: store}}\npools:{pools}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Specs, a plan and what was rendered of it."""

    specs: SpecSet
    plan: Plan
    rendered: Rendered

    def projects(self) -> dict[str, Any]:
        """The projects by path, parsed and valid."""
        texts = {item.path: item.text for item in self.rendered.manifests if item.path.endswith("/compose.yaml")}
        found = {path: yaml.safe_load(text) for path, text in texts.items()}
        for project in found.values():
            assert [error.message for error in validator().iter_errors(project)] == []
        return found

    def project(self, host: str = "till-nv") -> Any:
        """The project of a host."""
        return self.projects()[f"store/{host}/compose.yaml"]

    def service(self, name: str = "job", host: str = "till-nv") -> Any:
        """The service of a job of team vision."""
        return self.project(host)["services"][f"vision.{name}"]

    def faults(self) -> tuple[str, ...]:
        """What differs from the plan."""
        documents = {path: [project] for path, project in self.projects().items()}
        return verify(documents, self.plan, self.specs, self.specs.cluster("store"), self.rendered.degraded)

    def messages(self, address: str = "job/vision/job") -> list[str]:
        """What the plan cannot hold Compose to at an address."""
        return [item.message for item in self.rendered.degraded if item.address == address]


@cache
def validator() -> Draft7Validator:
    """The schema of Compose files."""
    return Draft7Validator(json.loads(SCHEMA.read_text()))


def an_edge(*fields: str, node: NodeUse, cluster: str = "", pool: str = "green", team: str = TEAM) -> Edge:
    """One job `job`, with further lines of YAML, on one node."""
    return several({"job": (fields, (node,), pool, 0)}, cluster=cluster, team=team)


Planned = tuple[tuple[str, ...], tuple[NodeUse, ...], str, int]


def several(jobs: dict[str, Planned], *, cluster: str = "", team: str = TEAM) -> Edge:
    """Jobs by name: lines of YAML, nodes, pool, and the hour at which each starts for two hours."""
    documents = [a_job(name, *fields) for name, (fields, _, _, _) in jobs.items()]
    specs = specset_of(cluster or a_cluster(), team, *documents)
    placements = [
        a_placement(f"job/vision/{name}", a_segment(f"store/{pool}", *nodes, specs=specs, start=start), specs=specs)
        for name, (_, nodes, pool, start) in jobs.items()
    ]
    plan = plan_of(*placements, specs=specs)
    return Edge(specs=specs, plan=plan, rendered=render(plan, specs, specs.cluster("store")))
