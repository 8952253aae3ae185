"""What names of extended resources mean: whole devices of a vendor, shares of them, or partitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from planner.catalog import Vendor, VendorFacts, vendors
from planner.discovery.kubernetes.objects import whole


class Meaning(StrEnum):
    """What one unit of a resource is."""

    DEVICE = "device"
    SHARE = "share"
    MODE = "mode"
    PARTITION = "partition"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An amount of one resource. A mode divides whole cards (`profile` with its `memory_mode`), a partition is cut out
    of one.
    """

    name: str
    facts: VendorFacts
    meaning: Meaning
    count: int
    profile: str = ""
    memory_mode: str = ""

    @property
    def vendor(self) -> Vendor:
        """Whose devices these are."""
        return self.facts.vendor


def held(resources: Mapping[str, Any]) -> tuple[Held, ...]:
    """The amounts of devices among resources that are not zero, vendor by vendor in the catalogue's order."""
    order = tuple(vendors())
    found = [each for name in sorted(resources) for each in _held(name, whole(resources[name]) or 0)]
    return tuple(sorted(found, key=lambda each: (order.index(each.vendor), each.name)))


def _held(name: str, count: int) -> Iterator[Held]:
    for facts in vendors().values() if count > 0 else ():
        if name in {facts.resource, facts.partitionable_whole_resource}:
            yield Held(name=name, facts=facts, meaning=Meaning.DEVICE, count=count)
        elif name == facts.shared_resource:
            yield Held(name=name, facts=facts, meaning=Meaning.SHARE, count=count)
        elif match := _partition(facts, name):
            mode = match.groupdict().get("memory_mode") or ""
            meaning = Meaning.MODE if mode else Meaning.PARTITION
            yield Held(name=name, facts=facts, meaning=meaning, count=count, profile=match["profile"], memory_mode=mode)


def _partition(facts: VendorFacts, name: str) -> re.Match[str] | None:
    if facts.partition_resource is None:
        return None
    pattern = re.escape(facts.partition_resource)
    for key, values in (("profile", r"[a-z0-9.+]+"), ("memory_mode", r"nps[0-9]+")):
        pattern = pattern.replace(re.escape("{" + key + "}"), f"(?P<{key}>{values})")
    return re.fullmatch(pattern, name)
