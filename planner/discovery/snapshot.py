"""What runs on a cluster as a Snapshot document: the planner's own work, foreign use, and what is down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planner.discovery.found import Broken, ClusterFacts, Ended, Seat, Use
from planner.hosts import fold
from planner.spec.envelope import API_VERSION
from planner.units import Memory, format_time

OWNER_LENGTH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeHome:
    """Where a node is in the specs: `dc1/h100`, with the indices of its devices."""

    pool: str
    devices: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A Snapshot document, and in sentences what could not be written into it."""

    document: dict[str, Any]
    untold: tuple[str, ...]


def snapshot(
    facts: ClusterFacts,
    name: str,
    taken_at: int,
    homes: Mapping[str, NodeHome],
    hash_of: Callable[[str], str | None] = lambda _: None,
) -> Taken:
    """The Snapshot of a cluster. `homes` says where its nodes are in the specs, `hash_of` gives a job's spec hash now.

    A device that the back end does not number gets the lowest number that is free on its node.
    """
    untold: list[str] = []
    uses = [use for use in _seated(facts.uses, homes, untold) if use.seats]
    body = {
        "running": [_running(use, homes, hash_of) for use in uses if use.address.startswith("job/")],
        "services": [each for use in uses if use.address.startswith("service/") for each in _service(use, homes)],
        "finished": [_finished(ended, hash_of) for ended in facts.ended],
        "down": _down(facts.broken, homes),
        "foreign": [each for use in uses if not use.address for each in _foreign(use, homes)],
    }
    idle = sum(not any(seat.devices for seat in use.seats) for use in uses if not use.address)
    if idle:
        untold.append(f"{idle} running jobs hold no devices; what they take of CPUs and memory is not written")
    head = {"apiVersion": API_VERSION, "kind": "Snapshot", "name": name, "taken_at": format_time(taken_at)}
    return Taken(document=head | {key: value for key, value in body.items() if value}, untold=tuple(untold))


def _seated(uses: Sequence[Use], homes: Mapping[str, NodeHome], untold: list[str]) -> Iterator[Use]:
    """Uses on known nodes, with every device numbered."""
    busy: dict[str, set[int]] = {}
    for seat in (seat for use in uses for seat in use.seats):
        busy.setdefault(seat.node, set()).update(seat.devices)
    for use in sorted(uses, key=lambda each: (each.started_at or 0, each.name)):
        lost = sorted({seat.node for seat in use.seats if seat.node not in homes})
        if lost:
            untold.append(f"{use.name} runs on {fold(lost)}, which no pool has; it is not written there")
        seats = [
            _numbered(seat, homes[seat.node], busy[seat.node], use, untold) for seat in use.seats if seat.node in homes
        ]
        yield replace(use, seats=tuple(sorted(seats, key=lambda seat: seat.node)))


def _numbered(seat: Seat, home: NodeHome, busy: set[int], use: Use, untold: list[str]) -> Seat:
    if not seat.count:
        return seat
    free = [index for index in home.devices if index not in busy][: seat.count]
    if len(free) < seat.count:
        untold.append(f"{use.name} holds {seat.count} devices of {seat.node}, where {len(free)} are left")
    busy.update(free)
    return replace(seat, devices=tuple(sorted({*seat.devices, *free})), count=0)


def _nodes(seats: Sequence[Seat]) -> list[dict[str, Any]]:
    return [
        {"name": seat.node} | ({"devices": [{"index": index} for index in seat.devices]} if seat.devices else {})
        for seat in seats
    ]


def _running(use: Use, homes: Mapping[str, NodeHome], hash_of: Callable[[str], str | None]) -> dict[str, Any]:
    started = {"started_at": format_time(use.started_at or 0)}
    where = {"pool": homes[use.seats[0].node].pool, "nodes": _nodes(use.seats)}
    return {"job": _key(use.address)} | where | started | {"spec": _full(use.address, use.spec, hash_of)}


def _service(use: Use, homes: Mapping[str, NodeHome]) -> Iterator[dict[str, Any]]:
    """A service pool by pool; replicas in several pools are counted by the nodes that they are on."""
    pools = sorted({homes[seat.node].pool for seat in use.seats})
    for pool in pools:
        mine = [seat for seat in use.seats if homes[seat.node].pool == pool]
        replicas = use.replicas if len(pools) == 1 else len(mine)
        yield {
            "service": use.address.removeprefix("service/"),
            "replicas": replicas,
            "pool": pool,
            "nodes": _nodes(mine),
        }


def _finished(ended: Ended, hash_of: Callable[[str], str | None]) -> dict[str, Any]:
    return {
        "job": _key(ended.address),
        "spec": _full(ended.address, ended.spec, hash_of),
        "state": "succeeded" if ended.succeeded else "failed",
        "at": format_time(ended.at),
    }


def _key(address: str) -> str:
    return address.removeprefix("job/")


def _full(address: str, spec: str, hash_of: Callable[[str], str | None]) -> str:
    """The whole hash of a spec where the back end keeps only its beginning, and the spec is still that one."""
    now = hash_of(address)
    return now if now is not None and now.startswith(spec) else spec


def _down(broken: Sequence[Broken], homes: Mapping[str, NodeHome]) -> list[dict[str, Any]]:
    """Nodes by pool, reason and end; a node that is down for several reasons is so until the last ends."""
    worst: dict[str, Broken] = {}
    for each in broken:
        before = worst.get(each.node)
        if before is None or (before.until is not None and (each.until is None or each.until > before.until)):
            worst[each.node] = each
    groups: dict[tuple[str, str, int], list[str]] = {}
    for node, each in worst.items():
        if node in homes:
            groups.setdefault((homes[node].pool, each.reason, each.until or 0), []).append(node)
    return [
        {"pool": pool, "nodes": fold(nodes), "until": format_time(until) if until else "unknown"}
        | ({"reason": _line(reason)} if reason else {})
        for (pool, reason, until), nodes in sorted(groups.items())
    ]


def _line(text: str) -> str:
    return "".join(mark if mark.isprintable() else " " for mark in text)[:OWNER_LENGTH].strip()


def _foreign(use: Use, homes: Mapping[str, NodeHome]) -> Iterator[dict[str, Any]]:
    """Foreign use pool by pool; without any device it is none, as naming no device means all of them."""
    seats = [seat for seat in use.seats if seat.devices]
    for pool in sorted({homes[seat.node].pool for seat in seats}):
        mine = [seat for seat in seats if homes[seat.node].pool == pool]
        yield {
            "pool": pool,
            "nodes": _nodes(mine),
            **({"memory": str(Memory(use.memory_mib))} if use.memory_mib else {}),
            **({"cpus": use.cpus} if use.cpus else {}),
            "owner": _line(use.owner),
            "until": format_time(use.until) if use.until else "unknown",
        }
