"""How a service gets its devices: by id from a driver, or as device nodes and a group. The vendor's facts say which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, assert_never

from planner.catalog import ComposeStyle
from planner.catalog.vendor import filled
from renderers.refusal import Unsupported

if TYPE_CHECKING:
    from planner.catalog import VendorFacts
    from planner.spec.cluster import NodePool
    from renderers.payload import Payload

DEFAULT_RENDER_GID: Final = 109
"""The group of render devices where a pool does not say: a guess, which is why the plan then says `degraded`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a service is given: ids from a driver, or device nodes with the numeric groups that may open them."""

    driver: str = ""
    ids: tuple[str, ...] = ()
    device_nodes: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


def access_of(payload: Payload) -> Access:
    """The devices of a job on its only node; raises `Unsupported` where Compose cannot hand them out."""
    facts = payload.facts
    if facts is None or not payload.devices:
        return Access()
    _check_whole(payload)
    match facts.compose_style:
        case ComposeStyle.DEVICE_IDS:
            return Access(driver=facts.compose_driver or "", ids=ids_of(payload))
        case ComposeStyle.DEVICE_NODES:
            return _device_nodes(payload, facts)
        case None:
            raise Unsupported(f"no source tells how Compose hands out devices of {facts.title}")
        case unknown:
            assert_never(unknown)


def _check_whole(payload: Payload) -> None:
    if any(device.profile is not None for device in payload.devices):
        raise Unsupported("a partition is handed out by its UUID, which the specs do not know")


def ids_of(payload: Payload) -> tuple[str, ...]:
    """The UUID where the pool knows it, else the index: always text, which is what engines take.

    Raises `Unsupported` for partitions of devices.
    """
    _check_whole(payload)
    known = _uuids(payload.pool, payload.nodes[0].name)
    return tuple(known.get(index, str(index)) for index in _indices(payload))


def _indices(payload: Payload) -> tuple[int, ...]:
    return tuple(sorted({device.index for device in payload.devices}))


def _uuids(pool: NodePool, node: str) -> dict[int, str]:
    """The UUIDs of a node's devices by index, as far as the pool says them."""
    return {
        index: uuid
        for group, indices in zip(pool.gpus, pool.device_indices(), strict=True)
        for index, uuid in zip(indices, dict(group.uuids).get(node, ()), strict=False)
    }


def _device_nodes(payload: Payload, facts: VendorFacts) -> Access:
    """Nodes that all devices share once, the others once a device.

    The group is a number: images may lack its name, or know it by another number than the host.
    """
    paths = [
        filled(text, render=render_node(payload.pool, facts, index), index=index)
        for text in facts.compose_device_nodes
        for index in _indices(payload)
    ]
    gid = DEFAULT_RENDER_GID if payload.pool.render_gid is None else payload.pool.render_gid
    return Access(device_nodes=tuple(f"{path}:{path}" for path in dict.fromkeys(paths)), groups=(str(gid),))


def render_node(pool: NodePool, facts: VendorFacts, index: int) -> int:
    """The number of a device's render node: the pool's own list, else counted from the vendor's first."""
    if pool.render_nodes:
        if index >= len(pool.render_nodes):
            raise Unsupported(f"render_nodes of pool {pool.name} lists no device {index}")
        return pool.render_nodes[index]
    return (facts.render_base or 0) + index


def guesses_group(payload: Payload) -> bool:
    """Whether the group of the render devices is `DEFAULT_RENDER_GID` for want of a better one."""
    style = payload.facts.compose_style if payload.facts and payload.devices else None
    return style is ComposeStyle.DEVICE_NODES and payload.pool.render_gid is None
