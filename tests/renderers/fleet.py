"""Spec sets and plans for the tests of renderers: specs as YAML text, placements said in one line each."""

from __future__ import annotations

from planner.catalog import load as load_catalog
from planner.diagnostics import as_text
from planner.plan import (
    Cost,
    Costs,
    Device,
    Inputs,
    NodeUse,
    Parameters,
    Placement,
    Plan,
    Segment,
    Status,
    sealed,
)
from planner.specset import SourceFile, SpecSet, load
from planner.units import format_time, parse_time

START = "2026-12-01T00:00:00Z"
HOUR = 3_600

FLEET = """
apiVersion: planner/v1
kind: Cluster
name: dc1
backend: kubernetes
pools:
  - name: h100
    nodes: h100-[001-004]
    gpus: {model: h100-sxm5-80gb, count: 8}
    cpus: 192
    memory: 2Ti
    taints: ["nvidia.com/gpu=present:NoSchedule", "team=infra:NoSchedule"]
  - name: mi300x
    nodes: mi-[1-2]
    gpus: {model: mi300x, count: 8}
    cpus: 192
    memory: 2Ti
    taints: ["amd.com/gpu:NoSchedule"]
  - name: login
    nodes: cpu-[1-2]
    cpus: 64
    memory: 256Gi
---
apiVersion: planner/v1
kind: Team
name: vision
---
apiVersion: planner/v1
kind: Team
name: nlp
namespace: team-nlp
---
apiVersion: planner/v1
kind: Quota
name: vision-h100
team: vision
gpus: {model: h100-sxm5-80gb}
guaranteed: 16
limit: 24
lend: 8
---
apiVersion: planner/v1
kind: Quota
name: nlp-h100
team: nlp
gpus: {model: h100-sxm5-80gb}
guaranteed: 8
weight: 2
"""


def specset_of(*texts: str) -> SpecSet:
    """The specs in `texts`, each of which may hold several documents; they must be valid."""
    files = [SourceFile(f"specs/{index}.yaml", text.encode()) for index, text in enumerate(texts)]
    result = load(files)
    assert result.specset is not None, as_text(result.diagnostics)
    return result.specset


def a_job(name: str, *fields: str, team: str = "vision") -> str:
    """A job's document; `fields` are further lines of YAML, each a field."""
    given = {field.partition(":")[0] for field in fields}
    missing = {"image": "registry.acme/train:1", "duration": "2h"}
    rest = [f"{key}: {value}" for key, value in missing.items() if key not in given]
    return "\n".join(["apiVersion: planner/v1", "kind: Job", f"name: {name}", f"team: {team}", *fields, *rest])


def a_node(name: str, *devices: int | Device, role: str | None = None) -> NodeUse:
    """A node with devices by index."""
    return NodeUse(
        name=name,
        role=role,
        devices=tuple(item if isinstance(item, Device) else Device(index=item) for item in devices),
    )


def a_segment(pool: str, *nodes: NodeUse, specs: SpecSet, variant: str = "", start: int = 0, hours: int = 2) -> Segment:
    """A segment in `cluster/pool` that begins `start` hours after `START`; the model is the pool's first."""
    groups = specs.pool(pool).gpus
    accelerator = load_catalog().get(groups[0].model) if groups and any(node.devices for node in nodes) else None
    vendor = str(accelerator.vendor) if accelerator else None
    begin = parse_time(START, "UTC") + start * HOUR
    return Segment(
        start=format_time(begin),
        end=format_time(begin + hours * HOUR),
        cluster=pool.partition("/")[0],
        pool=pool,
        variant=variant or vendor or "nvidia",
        vendor=vendor,
        model=accelerator.slug if accelerator else None,
        nodes=nodes,
    )


def a_placement(address: str, *segments: Segment, specs: SpecSet, limit_seconds: int = 9_000) -> Placement:
    """A job's placement."""
    job = specs.job(address.partition("/")[2])
    return Placement(
        address=address,
        spec=specs.spec_hash(address),
        team=job.team,
        priority=job.priority.value,
        submitted=START,
        gpus=sum(len(node.devices) for node in segments[0].nodes),
        finish=segments[-1].end,
        limit_seconds=limit_seconds,
        segments=segments,
    )


def plan_of(*placements: Placement, specs: SpecSet) -> Plan:
    """A sealed plan of these placements."""
    return sealed(
        Plan(
            inputs=Inputs(
                specs_digest=specs.digest,
                start=START,
                slot_seconds=HOUR,
                slots=168,
                parameters=Parameters(effort="quick"),
                planner_version="0",
                solver_version="0",
            ),
            status=Status(complete=True, proof="optimal", value_micros=0),
            placements=tuple(sorted(placements, key=lambda item: item.address)),
            costs=Costs(currency="USD", total=Cost(name="total", cash_micros=0, power_micros=0, chargeback_micros=0)),
        )
    )
