"""The back ends that a cluster is read from: how each is looked at, and what reads what was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from planner.discovery.compose import look as compose_host
from planner.discovery.compose import read as compose
from planner.discovery.found import ClusterFacts, Text
from planner.discovery.kubernetes import read as kubernetes
from planner.discovery.models import Models
from planner.discovery.running import outputs
from planner.discovery.slurm import read as slurm


@dataclass(frozen=True, slots=True, kw_only=True)
class BackEnd:
    """`look` gives what read-only commands print, and sentences on those that failed; `read` reads it, in any order.

    `look` takes the name of the host at hand, which only `is_a_host` needs: there it is the host that is looked at.
    """

    look: Callable[[str], tuple[tuple[Text, ...], tuple[str, ...]]]
    read: Callable[[Iterable[Text], Models, int], ClusterFacts]
    is_a_host: bool = False


BACK_ENDS: Final[Mapping[str, BackEnd]] = MappingProxyType({
    "kubernetes": BackEnd(look=lambda _: outputs(kubernetes.COMMANDS, kubernetes.ABSENT), read=kubernetes.read),
    "slurm": BackEnd(look=lambda _: outputs(slurm.COMMANDS), read=slurm.read),
    "compose": BackEnd(look=compose_host.look, read=compose.read, is_a_host=True),
})  # fmt: skip
