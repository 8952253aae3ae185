"""The items of a tree, kind by kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from planner.catalog import Catalog
from planner.spec.accelerator import AcceleratorSpec
from planner.spec.cluster import Cluster
from planner.spec.envelope import Envelope
from planner.spec.job import Job
from planner.spec.policy import Policy
from planner.spec.service import Service
from planner.spec.snapshot import Snapshot
from planner.spec.team import Quota, Team
from planner.specset.faults import Faults, Item, also

S = TypeVar("S", bound=Envelope)

IMPLICIT_POLICY: Final = Policy.model_validate({"apiVersion": "planner/v1", "name": "default"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The items of a tree by kind, in the order of their files."""

    policy_item: Item[Policy] | None = None
    clusters: tuple[Item[Cluster], ...] = ()
    teams: tuple[Item[Team], ...] = ()
    quotas: tuple[Item[Quota], ...] = ()
    jobs: tuple[Item[Job], ...] = ()
    services: tuple[Item[Service], ...] = ()
    accelerators: tuple[Item[AcceleratorSpec], ...] = ()
    snapshots: tuple[Item[Snapshot], ...] = ()
    catalog: Catalog

    @property
    def policy(self) -> Policy:
        """The policy that applies: the one of the tree, else the defaults."""
        return self.policy_item.spec if self.policy_item else IMPLICIT_POLICY

    def items(self) -> Iterator[Item[Envelope]]:
        """All items."""
        if self.policy_item:
            yield self.policy_item
        for group in (
            self.accelerators,
            self.clusters,
            self.teams,
            self.quotas,
            self.jobs,
            self.services,
            self.snapshots,
        ):
            yield from group

    def work(self) -> Iterator[Item[Job] | Item[Service]]:
        """All jobs and services."""
        yield from self.jobs
        yield from self.services


def gather(items: Sequence[Item[Envelope]], catalog: Catalog, faults: Faults) -> Tree:
    """Sort items by kind; two of one address, or two policies, are errors."""
    first: dict[str, Item[Envelope]] = {}
    for item in items:
        other = first.setdefault(item.address, item)
        if other is not item:
            faults.add(
                "SPEC401", item, ("name",), "declared twice", help="rename or remove one of them",
                related=(also(other, "name", message="first declared here"),),
            )  # fmt: skip
    policies = _of(Policy, items)
    for item in policies[1:]:
        faults.add(
            "SPEC413", item, ("kind",), "a second Policy; at most one applies to a tree", help="merge the two",
            related=(also(policies[0], "kind", message="the first one"),),
        )  # fmt: skip
    return Tree(
        policy_item=policies[0] if policies else None,
        clusters=_of(Cluster, items),
        teams=_of(Team, items),
        quotas=_of(Quota, items),
        jobs=_of(Job, items),
        services=_of(Service, items),
        accelerators=_of(AcceleratorSpec, items),
        snapshots=_of(Snapshot, items),
        catalog=catalog,
    )


def _of(kind: type[S], items: Sequence[Item[Envelope]]) -> tuple[Item[S], ...]:
    return tuple(item for item in items if isinstance(item.spec, kind))  # type: ignore[misc]
