"""What schedulers with one queue a team count: a team's devices of all flavors of the cluster together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from renderers.kubernetes.emit import document
from renderers.kubernetes.flavors import CPU, MEMORY
from renderers.kubernetes.naming import dns_label
from renderers.kubernetes.priorities import PRIORITIES, pod_priority, priority_class
from renderers.kubernetes.quota import share_of
from renderers.kubernetes.scene import CLUSTER_FOLDER
from renderers.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from renderers.kubernetes.scene import Scene

Amounts = dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamHolding:
    """What one team has of all flavors: devices, and each resource in cores, MiB and pieces.

    `limit` is None where any flavor can be borrowed without limit; `kept` is what of the guarantee is not lent.
    """

    devices: int
    limit_devices: int | None
    guaranteed: tuple[tuple[str, int], ...]
    kept: tuple[tuple[str, int], ...]
    limit: tuple[tuple[str, int], ...] | None
    weight: int


def queue_name(team: str) -> str:
    """The queue of a team."""
    return dns_label(f"team-{team}")


def held_by(scene: Scene, team: str, moment: int) -> TeamHolding:
    """What a team has at a moment."""
    guaranteed, kept, limit = Amounts(), Amounts(), Amounts()
    devices, most, weight, is_limited = 0, 0, 1, True
    for flavor, held in zip(scene.flavors, scene.held(team, scene.flavors, moment), strict=True):
        ceiling = flavor.devices if held.borrowing is None else min(flavor.devices, held.nominal + held.borrowing)
        is_limited = is_limited and (held.borrowing is not None or not flavor.devices)
        lent = held.nominal if held.lending is None else held.lending
        devices, most, weight = devices + held.nominal, most + ceiling, max(weight, held.weight)
        for resource, _ in flavor.capacity:
            for amounts, count in ((guaranteed, held.nominal), (kept, held.nominal - lent), (limit, ceiling)):
                amounts[resource] = amounts.get(resource, 0) + share_of(count, flavor, resource)
    host = {CPU, MEMORY}
    return TeamHolding(
        devices=devices,
        limit_devices=most if is_limited else None,
        guaranteed=tuple(sorted(guaranteed.items())),
        kept=tuple(sorted(kept.items())),
        limit=tuple(sorted(item for item in limit.items() if item[0] not in host)) if is_limited else None,
        weight=weight,
    )


def priorities(scene: Scene) -> Iterator[Manifest]:
    """The priority classes of pods."""
    for priority, value, description in PRIORITIES:
        yield Manifest(
            path=f"{scene.cluster.name}/{CLUSTER_FOLDER}/priority-{priority_class(priority)}.yaml",
            text=document(pod_priority(priority, value, description)),
            addresses=(f"cluster/{scene.cluster.name}",),
        )
