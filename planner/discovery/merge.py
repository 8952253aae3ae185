"""Many hosts as pools of identical nodes, with what tells the pools apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from planner.catalog import Accelerator, Catalog
from planner.diagnostics import UsageError
from planner.discovery import describe
from planner.discovery.facts import Device, HostFacts
from planner.names import NAME_LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Hosts that are alike: they differ in nothing but a hundredth of their memory."""

    name: str
    hosts: tuple[HostFacts, ...]

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the hosts, sorted."""
        return tuple(host.name for host in self.hosts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The pools of some hosts, the cards that need an Accelerator of their own, and what is to be told of them."""

    pools: tuple[Pool, ...]
    unknown: tuple[Device, ...]
    differences: tuple[str, ...]
    warnings: tuple[str, ...]


def merge(hosts: Iterable[HostFacts], catalog: Catalog) -> Fleet:
    """Join hosts into pools. The order of `hosts` does not matter; one that is told twice raises `UsageError`."""
    ordered = sorted(hosts, key=lambda host: host.name)
    for before, after in pairwise(ordered):
        if before.name == after.name:
            raise UsageError(f"the host {before.name} is told twice; merge one file for each host")
    alike = _alike(ordered, catalog)
    names = _names([hosts[0] for hosts in alike], catalog)
    pools = tuple(Pool(name=name, hosts=tuple(hosts)) for name, hosts in zip(names, alike, strict=True))
    return Fleet(
        pools=pools,
        unknown=_unknown(ordered),
        differences=_differences(pools, catalog),
        warnings=tuple(f"{host.name}: {warning}" for host in ordered for warning in host.warnings),
    )


def _alike(hosts: Sequence[HostFacts], catalog: Catalog) -> list[list[HostFacts]]:
    """Hosts in groups, in the order of the models they hold and then of their names."""
    groups: dict[str, list[HostFacts]] = {}
    for host in hosts:
        groups.setdefault(describe.identity(describe.fields(host, catalog)), []).append(host)
    split = [part for group in groups.values() for part in _by_memory(group)]
    return sorted(split, key=lambda group: (_models(group[0]), group[0].name))


def _by_memory(hosts: Sequence[HostFacts]) -> list[list[HostFacts]]:
    """Hosts whose memory differs by at most a hundredth together; unknown memory apart."""
    parts: list[list[HostFacts]] = []
    for host in sorted(hosts, key=lambda host: (host.memory_mib or 0, host.name)):
        least = parts[-1][0].memory_mib if parts else None
        close = bool(least) and ((host.memory_mib or 0) - (least or 0)) * 100 <= (least or 0)
        if parts and (close or least == host.memory_mib):
            parts[-1].append(host)
        else:
            parts.append([host])
    return [sorted(part, key=lambda host: host.name) for part in parts]


def _models(host: HostFacts) -> tuple[str, ...]:
    return tuple(sorted({describe.model_of(device) for device in host.usable}))


def _names(firsts: Sequence[HostFacts], catalog: Catalog) -> list[str]:
    """A name for each pool: the family of its cards, numbered where several pools have the same."""
    seen: dict[str, int] = {}
    names: list[str] = []
    for host in firsts:
        name = _family(host, catalog)
        seen[name] = seen.get(name, 0) + 1
        names.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return names


def _family(host: HostFacts, catalog: Catalog) -> str:
    families = [_family_of(catalog.get(model), model) for model in _models(host)]
    name = "-".join(dict.fromkeys(families)) or "cpu"
    return name[: NAME_LENGTH - 4].strip("-")


def _family_of(accelerator: Accelerator | None, model: str) -> str:
    return accelerator.family if accelerator and accelerator.family else model


def _unknown(hosts: Sequence[HostFacts]) -> tuple[Device, ...]:
    """One card of each model that the catalogue does not know, by the name that is proposed."""
    found: dict[str, Device] = {}
    for device in (device for host in hosts for device in host.usable if device.model is None):
        found.setdefault(describe.model_of(device), device)
    return tuple(device for _, device in sorted(found.items()))


def _differences(pools: Sequence[Pool], catalog: Catalog) -> tuple[str, ...]:
    """What tells pools of the same models apart, field by field, and hosts of one pool by their memory."""
    told: list[str] = []
    for position, pool in enumerate(pools):
        memory = sorted({host.memory_mib for host in pool.hosts if host.memory_mib is not None})
        if len(memory) > 1:
            told.append(f"{pool.name}: memory of its nodes is {memory[0]} to {memory[-1]} MiB; the least is used")
        twin = next((other for other in pools[:position] if _models(other.hosts[0]) == _models(pool.hosts[0])), None)
        if twin is not None:
            told += _apart(twin, pool, catalog)
    return tuple(told)


def _apart(one: Pool, other: Pool, catalog: Catalog) -> list[str]:
    left, right = (_flat(describe.fields(pool.hosts[0], catalog)) for pool in (one, other))
    keys = [key for key in left | right if left.get(key) != right.get(key)]
    values = [(key, _shown(left.get(key)), _shown(right.get(key))) for key in keys]
    return [f"{one.name} and {other.name} differ in {key}: {mine} / {its}" for key, mine, its in values]


def _flat(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields with those of mappings one by one, as `software.driver`."""
    flat: dict[str, Any] = {}
    for key, value in fields.items():
        flat |= {f"{key}.{name}": each for name, each in value.items()} if isinstance(value, dict) else {key: value}
    return flat


def _shown(value: Any) -> str:
    return "unknown" if value is None else value if isinstance(value, str) else json.dumps(value)
