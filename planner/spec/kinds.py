"""The list of kinds: one row for each kind of document."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final, TypeAlias

from pydantic import Field

from planner.spec.accelerator import AcceleratorSpec
from planner.spec.cluster import Cluster
from planner.spec.envelope import Envelope
from planner.spec.job import Job
from planner.spec.policy import Policy
from planner.spec.service import Service
from planner.spec.snapshot import Snapshot
from planner.spec.team import Quota, Team

KINDS: Final[Mapping[str, type[Envelope]]] = MappingProxyType({
    "Accelerator": AcceleratorSpec,
    "Cluster": Cluster,
    "Job": Job,
    "Policy": Policy,
    "Quota": Quota,
    "Service": Service,
    "Snapshot": Snapshot,
    "Team": Team,
})  # fmt: skip

Spec: TypeAlias = Cluster | Team | Quota | Job | Service | Policy | AcceleratorSpec | Snapshot
AnySpec: TypeAlias = Annotated[Spec, Field(discriminator="kind")]
