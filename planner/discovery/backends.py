"""The back ends that a cluster is read from: the commands that are run, and what reads their output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from planner.discovery.found import ClusterFacts, Text
from planner.discovery.kubernetes import read as kubernetes
from planner.discovery.models import Models
from planner.discovery.slurm import read as slurm


@dataclass(frozen=True, slots=True, kw_only=True)
class BackEnd:
    """Read-only commands, the first of which must work, and the reader of what they print, in any order.

    `absent` is how a command says that the cluster has no such thing.
    """

    commands: tuple[tuple[str, ...], ...]
    read: Callable[[Iterable[Text], Models, int], ClusterFacts]
    absent: str = ""


BACK_ENDS: Final[Mapping[str, BackEnd]] = MappingProxyType({
    "kubernetes": BackEnd(commands=kubernetes.COMMANDS, read=kubernetes.read, absent=kubernetes.ABSENT),
    "slurm": BackEnd(commands=slurm.COMMANDS, read=slurm.read),
})  # fmt: skip
