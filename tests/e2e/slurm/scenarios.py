"""Small plans for a Slurm of two vendors, whose jobs say where they ran and with which devices."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests import builders
from tests.e2e.labs.trees import Planned

CLUSTER = "small"
A100 = "a100-sxm4-80gb"
SLOT_SECONDS = 20
"""How long an hour of a plan takes here."""
SPARE_SECONDS = 5
"""What Slurm itself takes to begin and to end a job."""

SAY = (
    'echo "$PLANNER_ADDRESS|$SLURMD_NODENAME|${CUDA_VISIBLE_DEVICES-none}|${ROCR_VISIBLE_DEVICES-none}"'
    '"|${PET_NPROC_PER_NODE-none}|${PET_NNODES-none}|${MASTER_ADDR-none}" >>"$RECORD"; '
)
"""A line for each node: whose, where, the devices of either vendor, and what torchrun and its peers are told."""

POOLS: tuple[dict[str, Any], ...] = (
    {
        "name": "green",
        "nodes": "green-[1-3]",
        "gpus": {"model": A100, "count": 4},
        "cpus": 32,
        "memory": "256Gi",
        "gres_type": "a100",
        "features": ["nvidia", "nvlink"],
    },
    {
        "name": "red",
        "nodes": "red-[1-2]",
        "gpus": {"model": "mi300x", "count": 8},
        "cpus": 64,
        "memory": "512Gi",
        "gres_type": "mi300x",
        "features": ["amd"],
    },
    {"name": "grey", "nodes": "grey-1", "cpus": 8, "memory": "32Gi"},
)


def a_payload(name: str, gpus: Any, *, hours: int = 1, record: str = "/dev/null", **fields: Any) -> dict[str, Any]:
    """A job that says where it runs, and then sleeps for as long as it is planned to run."""
    seconds = hours * SLOT_SECONDS - SPARE_SECONDS
    own = {"command": ["sh", "-c", f"{SAY}sleep {seconds}"], "env": {"RECORD": record}, "gpus": gpus}
    return builders.a_job(name, duration=f"{hours}h", **(own | fields))


def green(count: int, **fields: Any) -> dict[str, Any]:
    """Devices of the NVIDIA nodes."""
    return {"model": A100, "count": count} | fields


def red(count: int, **fields: Any) -> dict[str, Any]:
    """Devices of the AMD nodes."""
    return {"model": "mi300x", "count": count} | fields


def planned(*jobs: dict[str, Any]) -> Planned:
    """The jobs planned on the small site."""
    backend = {"type": "slurm", "version": "22.05", "containers": "none"}
    documents = (builders.a_cluster(*POOLS, name=CLUSTER, backend=backend), *jobs)
    return Planned(specs=builders.loaded(*documents), plan=builders.planned(*documents, budget=0))


@cache
def small_site() -> Planned:
    """The site with one job."""
    return planned(a_payload("alone", green(1)))


def two_vendors(record: str) -> Planned:
    """A chain with a gang in its middle on NVIDIA nodes, a gang and an array on AMD nodes, and work without devices."""
    return planned(
        a_payload("prepare", green(1), record=record),
        a_payload("train", green(8, nodes=2), record=record, after=["prepare"]),
        a_payload("evaluate", green(2), record=record, after=["train"]),
        a_payload("side", green(3), record=record, window={"not_before": "2026-12-01T02:00:00Z"}),
        a_payload("simulate", red(16, nodes=2), hours=2, record=record),
        a_payload("tune", red(3), record=record, array=3),
        a_payload("tokenize", 0, record=record, cpus=4, memory="8Gi"),
    )
