"""The back ends that a cluster is read from: the commands that are run, and what reads their output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from planner.discovery.found import ClusterFacts, Text
from planner.discovery.models import Models
from planner.discovery.slurm import read as slurm


@dataclass(frozen=True, slots=True, kw_only=True)
class BackEnd:
    """Read-only commands, the first of which must work, and the reader of what they print, in any order."""

    commands: tuple[tuple[str, ...], ...]
    read: Callable[[Iterable[Text], Models, int], ClusterFacts]


BACK_ENDS: Final[Mapping[str, BackEnd]] = MappingProxyType({
    "slurm": BackEnd(commands=slurm.COMMANDS, read=slurm.read),
})  # fmt: skip
