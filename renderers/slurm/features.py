"""Which version of Slurm knows what: the one place where versions are compared."""

from __future__ import annotations

import re
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

Version = tuple[int, int]


class Feature(StrEnum):
    """Something that not every version has."""

    GPUS_PER_NODE = "--gpus-per-node"
    HET_JOBS = "#SBATCH hetjob"
    BLOCK_TOPOLOGY = "topology/block"
    BLOCK_SIZES = "BlockSizes"
    NODELIST_IN_BLOCKS = "--nodelist under topology/block"


SINCE: Final[Mapping[Feature, Version]] = MappingProxyType(
    {
        Feature.GPUS_PER_NODE: (19, 5),
        Feature.HET_JOBS: (20, 2),
        Feature.BLOCK_TOPOLOGY: (23, 11),
        Feature.BLOCK_SIZES: (24, 5),
        Feature.NODELIST_IN_BLOCKS: (25, 11),
    }
)
"""The first version that has a feature."""


def parse(text: str | None) -> Version | None:
    """The year and month of a version such as `24.05.3` or `slurm 22-05-8`; None where none is given or can be read."""
    numbers = re.findall(r"[0-9]{1,4}", text or "")
    return (int(numbers[0]), int(numbers[1])) if len(numbers) > 1 else None


def has(version: Version | None, feature: Feature) -> bool:
    """Whether `version` has `feature`; a cluster that does not say its version has what every supported version has."""
    return (version or OLDEST_SUPPORTED) >= SINCE[feature]


OLDEST_SUPPORTED: Final[Version] = (22, 5)


def nodes_are_named_by_exclusion(version: Version | None, *, blocks: bool) -> bool:
    """Whether nodes must be chosen by `--exclude`.

    Under topology/block a job with `--nodelist` may never start; only leaving nodes out is safe there. `blocks` says
    whether the pool has NVLink domains, for which sites use that plugin; a version that is not known may have it.
    """
    if not blocks or has(version, Feature.NODELIST_IN_BLOCKS):
        return False
    return version is None or has(version, Feature.BLOCK_TOPOLOGY)
