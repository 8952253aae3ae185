"""Best fit: each pod, one after another, goes to the host and GPU on which it leaves least."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.openb import UNITS, Host, Pod


def best_fit(machines: Sequence[Host], wanted: Sequence[Pod]) -> int:
    """Thousandths of GPUs allocated once every pod has been offered, in the given order, and stays where it fits.

    What is left of a host is the sum of what is left of its CPUs, memory and GPUs, each in parts of the largest host's;
    among the GPUs of a host, a share goes to the fullest that has room for it.
    """
    most = max(host.gpus for host in machines)
    room = np.array([(host.cpu, host.memory) for host in machines], dtype=np.float64)
    free = np.array([[UNITS] * host.gpus + [0] * (most - host.gpus) for host in machines], dtype=np.int64)
    models = np.array([host.model for host in machines])
    scale = np.array([*room.max(axis=0), most * UNITS])
    total = 0
    for pod in wanted:
        fits = (room >= (pod.cpu, pod.memory)).all(axis=1) & ((free >= max(1, pod.share)).sum(axis=1) >= pod.gpus)
        if pod.models:
            fits &= np.isin(models, pod.models)
        if not fits.any():
            continue
        left = np.column_stack((room, free.sum(axis=1))) / scale
        host = int(np.where(fits, left.sum(axis=1), np.inf).argmin())
        room[host] -= (pod.cpu, pod.memory)
        devices = np.where(free[host] >= max(1, pod.share), free[host], UNITS + 1).argsort(kind="stable")[: pod.gpus]
        free[host, devices] -= pod.share
        total += pod.asks
    return total


def typed_first(wanted: Sequence[Pod]) -> tuple[Pod, ...]:
    """The order of who knows all pods: those with several GPUs, then those that name models, then the others."""
    return tuple(sorted(wanted, key=lambda pod: (pod.gpus < 2, not pod.models)))
