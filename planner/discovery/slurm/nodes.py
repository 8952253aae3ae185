"""Slurm's nodes, partitions, switches and reservations as hosts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from planner.catalog import Vendor
from planner.discovery.facts import Device, HostFacts, Scheduled
from planner.discovery.found import Broken
from planner.discovery.models import UNTYPED, Models
from planner.discovery.slurm.records import Gres, Record, gres, moment, nodes, number, records, rest_of, seconds, stated
from planner.hosts import is_node_name

_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
_BROKEN: Final = frozenset(
    {"DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "ERROR", "INVAL", "NOT_RESPONDING", "UNKNOWN"}
)
_SLICED: Final = re.compile(r"[0-9]+g\.[0-9]+gb", re.IGNORECASE)
_DEVICE: Final = "gpu"
_SHARED: Final = frozenset({"shard", "mps"})
_MOST_DEVICES: Final = 1_024
_RESTRICTIONS: Final = ("AllowAccounts", "AllowGroups", "AllowQos", "QoS", "QOS", "DenyAccounts", "DenyQos")
_FREE: Final = frozenset({"", "DENY_ACCOUNTS", "ALL"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """The nodes of a cluster, those that take no work, and what could not be expressed."""

    hosts: tuple[HostFacts, ...]
    broken: tuple[Broken, ...]
    untold: tuple[str, ...]


def inventory(texts: Mapping[str, str], models: Models, taken_at: int) -> Inventory:
    """Read the outputs of `scontrol show node`, `partition`, `topology` and `reservation`, each with `-o`.

    `texts` has them by those names; only nodes are needed. `UsageError` where the type of a card is not clear.
    """
    lines = [line for line in texts.get("node", "").splitlines() if line.startswith("NodeName=")]
    found = [(line, record) for line, record in ((line, next(records(line))) for line in lines) if _is_node(record)]
    models.require(_types(record for _, record in found))
    partitions = list(records(texts.get("partition", "")))
    racks, blocks = _racks(texts.get("topology", ""))
    hosts = [_host(record, partitions, racks, models) for _, record in found]
    broken = [*_states(found), *_maintained(texts.get("reservation", ""), taken_at)]
    untold = [*map(_restricted, partitions), *_booked(texts.get("reservation", ""), taken_at), *_uncounted(found)]
    if blocks:
        untold.append("blocks of topology.conf are written as racks; write nvlink_domains where NVLink joins them")
    return Inventory(
        hosts=tuple(sorted(hosts, key=lambda host: host.name)),
        broken=tuple(broken),
        untold=tuple(sentence for sentence in untold if sentence),
    )


def _is_node(record: Record) -> bool:
    return is_node_name(record.get("NodeName", ""))


def _types(found: Iterable[Record]) -> list[str]:
    return [item.type or UNTYPED for record in found for item in _cards(record)]


def _cards(record: Record) -> tuple[Gres, ...]:
    """Whole cards; a MIG device is told apart by the slices in its type."""
    items = gres(record.get("Gres"))
    return tuple(item for item in items if item.name == _DEVICE and not _SLICED.search(item.type))


def _host(record: Record, partitions: Sequence[Record], racks: Mapping[str, str], models: Models) -> HostFacts:
    memory, kept = number(record.get("RealMemory")), number(record.get("MemSpecLimit"))
    return HostFacts(
        name=record["NodeName"],
        architecture=_ARCHITECTURES.get(record.get("Arch", "")),
        cpus=number(record.get("CPUEfctv")) or number(record.get("CPUTot")),
        memory_mib=memory - min(kept or 0, memory) if memory else None,
        devices=_devices(record, models),
        back_ends=("slurm",),
        scheduled=_scheduled(record, partitions, racks),
    )


def _devices(record: Record, models: Models) -> tuple[Device, ...]:
    words = [item.type or UNTYPED for item in _cards(record) for _ in range(min(item.count, _MOST_DEVICES))]
    found = [models.of(word) for word in words[:_MOST_DEVICES]]
    return tuple(
        Device(index=index, vendor=Vendor(model.vendor), model=model.slug, name=model.slug)
        for index, model in enumerate(model for model in found if model is not None)
    )


def _scheduled(record: Record, partitions: Sequence[Record], racks: Mapping[str, str]) -> Scheduled:
    partition = _partition(record, partitions)
    types = {item.type for item in _cards(record)}
    features = stated(record.get("AvailableFeatures"))
    return Scheduled(
        partition=partition.get("PartitionName") if partition else None,
        features=tuple(sorted({word for word in features.split(",") if word})),
        gres=tuple(sorted((item.name, item.count) for item in _others(record) if item.count)),
        gres_type=types.pop() or None if len(types) == 1 else None,
        rack=racks.get(record["NodeName"]),
        max_run_seconds=seconds(partition.get("MaxTime")) if partition else None,
    )


def _others(record: Record) -> Iterable[Gres]:
    return (item for item in gres(record.get("Gres")) if item.name != _DEVICE and item.name not in _SHARED)


def _partition(record: Record, partitions: Sequence[Record]) -> Record | None:
    """Of the partitions that a node is in, the one with the fewest nodes: the most said of it."""
    names = set(stated(record.get("Partitions")).split(","))
    mine = [each for each in partitions if each.get("PartitionName") in names]
    up = [each for each in mine if each.get("State") == "UP"] or mine
    return min(up, key=lambda each: (number(each.get("TotalNodes")) or 0, each["PartitionName"]), default=None)


def _racks(text: str) -> tuple[dict[str, str], bool]:
    """The leaf switch, or else the block, of each node; and whether there are blocks."""
    racks: dict[str, str] = {}
    leaves = [each for each in records(text) if each.get("SwitchName") and not stated(each.get("Switches"))]
    blocks = [each for each in records(text) if each.get("BlockName")]
    for record in (*blocks, *leaves):
        name = record.get("SwitchName") or record["BlockName"]
        racks |= dict.fromkeys(nodes(record.get("Nodes")), name)
    return racks, bool(blocks)


def _states(found: Iterable[tuple[str, Record]]) -> Iterable[Broken]:
    for line, record in found:
        state = record.get("State", "")
        words = set(re.split(r"[^A-Z_]+", state.upper()))
        if words & _BROKEN or "*" in state:
            yield Broken(node=record["NodeName"], reason=rest_of(line, "Reason") or state)


def _maintained(text: str, taken_at: int) -> Iterable[Broken]:
    for record in records(text):
        start, end = moment(record.get("StartTime")), moment(record.get("EndTime"))
        if _is_maintenance(record) and start is not None and end is not None and start <= taken_at < end:
            reason = f"reservation {record.get('ReservationName', '')}"
            yield from (Broken(node=node, reason=reason, until=end) for node in nodes(record.get("Nodes")))


def _is_maintenance(record: Record) -> bool:
    return "MAINT" in record.get("Flags", "").split(",")


def _booked(text: str, taken_at: int) -> Iterable[str]:
    for record in records(text):
        name, start, end = record.get("ReservationName"), moment(record.get("StartTime")), moment(record.get("EndTime"))
        if name is None or (end is not None and end <= taken_at):
            continue
        if not _is_maintenance(record):
            yield f"reservation {name} of {stated(record.get('Nodes')) or 'no nodes'} is not written: plans know none"
        elif start is None or start > taken_at:
            yield f"reservation {name} begins later: write it under unavailable of the pool"


def _restricted(record: Record) -> str:
    """Who may not use a partition: specs say that in teams' places."""
    told = [f"{key}={record[key]}" for key in _RESTRICTIONS if stated(record.get(key)) not in _FREE]
    return f"partition {record.get('PartitionName')}: {' '.join(told)} is not written" if told else ""


def _uncounted(found: Iterable[tuple[str, Record]]) -> Iterable[str]:
    for _, record in found:
        node = record["NodeName"]
        for item in gres(record.get("Gres")):
            if item.name == _DEVICE and _SLICED.search(item.type):
                yield f"node {node}: {item.count} partitions {item.type}: Slurm does not tell on which card they are"
            elif item.name in _SHARED:
                yield f"node {node}: {item.name}:{item.count} is not written; sharing is for you to choose"
