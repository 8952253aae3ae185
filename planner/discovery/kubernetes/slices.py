"""Devices that drivers of dynamic resource allocation offer, and who claims which of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from planner.catalog import Vendor, VendorFacts, vendors
from planner.discovery.facts import Device, Driver
from planner.discovery.kubernetes.objects import Thing, at, mapping, mappings, mebibytes, text_of, whole
from planner.discovery.models import Models

_GROUP: Final = "resource.k8s.io"
_MOST_DEVICES: Final = 1_024
_DIGITS: Final = re.compile(r"([0-9]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """The devices of one node in the order of their numbers, the drivers below them, and the name of each by driver,
    pool and device, with its number.
    """

    devices: tuple[Device, ...] = ()
    drivers: tuple[Driver, ...] = ()
    numbers: tuple[tuple[tuple[str, str, str], int], ...] = ()
    untold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    """One device of a slice, with its plain attributes."""

    key: tuple[str, str, str]
    facts: VendorFacts
    told: Mapping[str, Any]
    memory: Any

    @property
    def is_whole(self) -> bool:
        """Whether it is a device and no part of one: by the type that claims of whole devices select."""
        return f'.type == "{self.told.get("type")}"' in (self.facts.device_selector or "")

    @property
    def order(self) -> tuple[int, list[Any]]:
        """Its own index where it has one, else its place by name, numbers in it as numbers."""
        index = self.told.get("index")
        named = [int(part) if part.isdigit() else part for part in _DIGITS.split(self.key[2])]
        return (index if isinstance(index, int) else 0, named)


def offered(found: Sequence[Thing], models: Models) -> dict[str, Offered]:
    """What is offered by node. Parts of devices are told, since slices do not say where on their device they are."""
    by_node: dict[str, list[_Item]] = {}
    for thing in _newest(found):
        if node := text_of(thing.spec.get("nodeName")):
            by_node.setdefault(node, []).extend(_items(thing))
    return {node: _offered(node, items, models) for node, items in sorted(by_node.items())}


def _newest(found: Sequence[Thing]) -> Iterator[Thing]:
    """The slices of the newest generation of each pool; others are about to go."""
    mine = [thing for thing in found if (thing.group, thing.kind) == (_GROUP, "ResourceSlice")]
    newest: dict[tuple[str, str], int] = {}
    for thing in mine:
        newest[_pool(thing)] = max(_generation(thing), newest.get(_pool(thing), 0))
    return (thing for thing in mine if _generation(thing) == newest[_pool(thing)])


def _pool(thing: Thing) -> tuple[str, str]:
    return text_of(thing.spec.get("driver")), text_of(at(thing.tree, "spec", "pool", "name"))


def _generation(thing: Thing) -> int:
    return whole(at(thing.tree, "spec", "pool", "generation")) or 0


def _items(thing: Thing) -> Iterator[_Item]:
    driver, pool = _pool(thing)
    facts = next((each for each in vendors().values() if driver and each.device_class == driver), None)
    for device in mappings(thing.spec.get("devices")) if facts else ():
        inside = mapping(device.get("basic")) or device
        told = {
            name.rpartition("/")[2]: next(iter(mapping(value).values()), None)
            for name, value in mapping(inside.get("attributes")).items()
        }
        assert facts is not None, "without facts there are no devices"
        key = (driver, pool, text_of(device.get("name")))
        yield _Item(key=key, facts=facts, told=told, memory=at(inside, "capacity", "memory"))


def _offered(node: str, items: Iterable[_Item], models: Models) -> Offered:
    items = list(items)
    wholes = sorted((item for item in items if item.is_whole), key=lambda item: (item.facts.vendor, *item.order))
    parts = sorted({f"{item.told.get('profile') or item.told.get('partitionProfile')}" for item in items} - {"None"})
    numbered = wholes[:_MOST_DEVICES]
    drivers = {item.facts.vendor: _driver(item) for item in reversed(numbered)}
    return Offered(
        devices=tuple(replace(_device(item, models), index=at) for at, item in enumerate(numbered)),
        drivers=tuple(driver for _, driver in sorted(drivers.items()) if driver is not None),
        numbers=tuple((item.key, at) for at, item in enumerate(numbered)),
        untold=tuple(f"node {node} offers partitions {name}: where on their cards is not told" for name in parts),
    )


def _device(item: _Item, models: Models) -> Device:
    name, memory = text_of(item.told.get("productName")), mapping(item.memory).get("value", item.memory)
    model = models.of(name, item.facts.vendor)
    return Device(
        index=0,
        vendor=Vendor(item.facts.vendor),
        model=model.slug if model else None,
        name=name or None,
        uuid=text_of(item.told.get("uuid")) or None,
        memory_mib=mebibytes(memory) or None,
        architecture=text_of(item.told.get("architecture")) or None,
    )


def _driver(item: _Item) -> Driver | None:
    version, toolkit = text_of(item.told.get("driverVersion")), text_of(item.told.get("cudaDriverVersion"))
    if not version and not toolkit:
        return None
    return Driver(vendor=item.facts.vendor, version=version or None, toolkit=toolkit or None)


def claimed(found: Sequence[Thing], offers: Mapping[str, Offered]) -> dict[tuple[str, str], list[tuple[str, int]]]:
    """The devices that pods hold by claims: node and number, by the namespace and name of the pod."""
    places = {key: (node, number) for node, offer in offers.items() for key, number in offer.numbers}
    held: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for thing in found:
        if (thing.group, thing.kind) != (_GROUP, "ResourceClaim"):
            continue
        results = mappings(at(thing.tree, "status", "allocation", "devices", "results"))
        mine = [place for one in results if (place := places.get(_key(one))) is not None]
        for user in mappings(thing.status.get("reservedFor")):
            if user.get("resource") == "pods" and mine:
                held.setdefault((thing.namespace, text_of(user.get("name"))), []).extend(mine)
    return held


def _key(result: Mapping[str, Any]) -> tuple[str, str, str]:
    return text_of(result.get("driver")), text_of(result.get("pool")), text_of(result.get("device"))
