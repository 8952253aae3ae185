"""The openb cluster as a problem of one slot: which of its pods run at once on 6,212 GPUs that may be shared.

The trace's times are a sample and say nothing of load, so all pods want to run at the same time: 98 % of all GPUs.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from solvers.problem import Mode, Node, Part, Pool, Problem, Task
from solvers.solution import Solution

UNITS: Final = 1000
"""Quota units of one GPU: the trace asks for thousandths of it."""

MICROS: Final = 1000
"""What a thousandth of a GPU that is allocated is worth, so that a GPU is worth 10^6 micros."""

CPU_ONLY_WORTH: Final = 10**10
"""What a pod without a GPU is worth: more than all GPUs together, so that none of them gives way to pods with one."""

_DATA: Final = Path(__file__).parent / "data" / "openb"
_TIER: Final = "host"


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A machine: thousandths of CPUs, MiB of memory, GPUs of one model (empty: it has none)."""

    name: str
    cpu: int
    memory: int
    gpus: int
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """What wants to run: on `gpus` GPUs, `share` thousandths of each, of one of some models (empty: any).

    `share` is 1000 for whole GPUs; less only where there is one GPU, and 0 where there is none.
    """

    name: str
    cpu: int
    memory: int
    gpus: int
    share: int
    models: tuple[str, ...]

    @property
    def asks(self) -> int:
        """Thousandths of a GPU in all."""
        return self.gpus * self.share


def hosts() -> tuple[Host, ...]:
    """Read all machines in the order of the trace."""
    return tuple(
        Host(
            name=row["sn"],
            cpu=int(row["cpu_milli"]),
            memory=int(row["memory_mib"]),
            gpus=int(row["gpu"]),
            model=row["model"],
        )
        for row in _rows("nodes.csv.gz")
    )


def pods(workload: str) -> tuple[Pod, ...]:
    """Read the pods of a workload, `default` or `gpuspec33` (a third of those with a GPU name models), as they came."""
    return tuple(
        Pod(
            name=row["name"],
            cpu=int(row["cpu_milli"]),
            memory=int(row["memory_mib"]),
            gpus=int(row["num_gpu"]),
            share=int(row["gpu_milli"]),
            models=tuple(sorted(set(filter(None, row["gpu_spec"].split("|"))))),
        )
        for row in _rows(f"pods_{workload}.csv.gz")
    )


def _rows(name: str) -> Iterator[dict[str, str]]:
    with gzip.open(_DATA / name, "rt", newline="") as lines:
        yield from csv.DictReader(lines)


def packing(machines: tuple[Host, ...], wanted: tuple[Pod, ...]) -> Problem:
    """One pool a model, whose devices are divided as a shared pool's are: each host has CPUs and memory and no
    devices, and beside it lies a cell for each of its GPUs.

    A pod takes CPU and memory of a host and what it asks for of cells beside it, so that no share is ever split over
    two GPUs. Its value is what it allocates, or `CPU_ONLY_WORTH`.
    """
    models = sorted({host.model for host in machines})
    groups = [tuple(host for host in machines if host.model == model) for model in models]
    pools = tuple(_pool(model or "cpu", group) for model, group in zip(models, groups, strict=True))
    return Problem(
        slots=1,
        pools=pools,
        tasks=tuple(_task(pod, models, groups) for pod in wanted),
        units=UNITS,
    )


def _pool(name: str, group: tuple[Host, ...]) -> Pool:
    hosts_ = (Node(name=host.name, capacity=(0, host.cpu, host.memory), domains=(at,)) for at, host in enumerate(group))
    cells = (
        Node(name=f"{host.name}/{index}", capacity=(UNITS, 0, 0), domains=(at,))
        for at, host in enumerate(group)
        for index in range(host.gpus)
    )
    return Pool(name=name, resources=("gpu", "cpu_milli", "memory_mib"), nodes=(*hosts_, *cells), tiers=(_TIER,))


def _task(pod: Pod, models: list[str], groups: list[tuple[Host, ...]]) -> Task:
    parts = [Part(count=1, use=(0, pod.cpu, pod.memory))]
    if pod.gpus:
        parts.append(Part(count=pod.gpus, use=(pod.share, 0, 0)))
    modes = tuple(
        Mode(name=model or "cpu", pool=at, parts=tuple(parts), duration=1, limit=1, within=0)
        for at, (model, group) in enumerate(zip(models, groups, strict=True))
        if pod.gpus <= max(host.gpus for host in group) and (not pod.models or model in pod.models)
    )
    return Task(name=pod.name, modes=modes, worth_micros=pod.asks * MICROS if pod.gpus else CPU_ONLY_WORTH)


def allocated(problem: Problem, solution: Solution) -> int:
    """Thousandths of GPUs that the plan allocates."""
    return sum(problem.tasks[one.task].modes[run.mode].devices for one in solution.assignments for run in one.runs)


def placed_without_gpu(problem: Problem, solution: Solution) -> int:
    """How many pods without a GPU the plan places."""
    return sum(problem.tasks[one.task].modes[0].devices == 0 for one in solution.assignments)


def percent(milli: int, gpus: int) -> float:
    """Thousandths of a GPU in percent of all GPUs."""
    return round(100 * milli / (gpus * UNITS), 2)
