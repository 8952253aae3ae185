"""Which version of Kueue knows what: the one place where versions are compared."""

from __future__ import annotations

import re
from typing import Final

Version = tuple[int, ...]

NEWEST: Final[Version] = (999,)
"""What is assumed where a cluster does not say which version it runs."""

KUEUE_APIS: Final = (((0, 15), "kueue.x-k8s.io/v1beta2"), ((0,), "kueue.x-k8s.io/v1beta1"))
"""The API to write, by the first version that serves it; newest first."""
COHORT_FIELDS: Final = (((0, 15), "cohortName"), ((0,), "cohort"))
"""What a ClusterQueue calls its cohort, likewise."""
COHORT_OBJECTS: Final[Version] = (0, 11)
"""Since when a cohort is an object of the API above, with a quota of its own."""
TOPOLOGY_OBJECTS: Final[Version] = (0, 14)
"""Since when a topology is an object of the API above."""
ADMISSION_GATES: Final[Version] = (0, 19)
"""Since when `kueue.x-k8s.io/admission-gated-by` is on by default."""


def parse(text: str | None) -> Version:
    """The numbers of a version such as `v0.17.0`; `NEWEST` where none is given or none can be read."""
    numbers = re.findall(r"[0-9]{1,6}", text.split("-")[0]) if text else []
    return tuple(map(int, numbers)) or NEWEST


def since(table: tuple[tuple[Version, str], ...], version: Version) -> str:
    """The entry of the newest row that `version` has reached."""
    return next(entry for first, entry in table if version >= first)
