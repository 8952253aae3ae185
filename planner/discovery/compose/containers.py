"""Containers as what runs: the planner's own by their labels, all others by their project."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from planner.catalog import VendorFacts, vendors
from planner.discovery.facts import HostFacts
from planner.discovery.found import Ended, Seat, Use
from planner.discovery.kubernetes.objects import at, mapping, mappings, seconds, sequence, text_of
from planner.names import is_address
from planner.units import ceil_div

_ADDRESS: Final = "planner.dev/address"
_SPEC: Final = "planner.dev/spec-hash"
_PROJECT: Final = ("com.docker.compose.project", "io.podman.compose.project")
_ALL: Final = "all"
_CDI: Final = "cdi"
_NANO: Final = 10**9
_BY_SIGNAL: Final = 128
"""From this exit code on it was a signal that ended a container."""


def uses(host: HostFacts, found: list[Mapping[str, Any]], untold: list[str]) -> Iterator[Use]:
    """The containers that run; `untold` grows by devices that the host does not have. Environments are not read."""
    for tree in found:
        state = mapping(tree.get("State"))
        if state.get("Running") is not True and text_of(state.get("Status")) != "running":
            continue
        address, spec = _marked(tree)
        asked = set(_asked(mapping(tree.get("HostConfig")), host))
        known = {device.index for device in host.devices}
        for index in sorted(asked - known):
            untold.append(f"container {_name(tree)} holds device {index}, which {host.name} does not have")
        limits = mapping(tree.get("HostConfig"))
        cpus, memory = limits.get("NanoCpus"), limits.get("Memory")
        yield Use(
            name=f"{host.name}/{_name(tree)}",
            owner="/".join(filter(None, (_project(tree), _name(tree)))),
            seats=(Seat(node=host.name, devices=tuple(sorted(asked & known))),),
            address=address,
            spec=spec,
            started_at=seconds(_whole_seconds(state.get("StartedAt"))),
            cpus=ceil_div(cpus, _NANO) if isinstance(cpus, int) and cpus > 0 else None,
            memory_mib=ceil_div(memory, 1 << 20) if isinstance(memory, int) and memory > 0 else None,
        )


def ended(found: list[Mapping[str, Any]]) -> Iterator[Ended]:
    """The planner's own runs that ended by themselves: those that were stopped go on after the next plan."""
    for tree in found:
        state, (address, spec) = mapping(tree.get("State")), _marked(tree)
        at_end, code = seconds(_whole_seconds(state.get("FinishedAt"))), state.get("ExitCode")
        over = text_of(state.get("Status")) == "exited" and isinstance(code, int) and code < _BY_SIGNAL
        if address.startswith("job/") and over and at_end:
            yield Ended(address=address, spec=spec, succeeded=code == 0, at=at_end)


def _whole_seconds(value: Any) -> str:
    """A time without the parts of a second that only newer readers take."""
    return re.sub(r"\.[0-9]+", "", text_of(value)).replace(" +0000 UTC", "Z").replace(" ", "T")


def _marked(tree: Mapping[str, Any]) -> tuple[str, str]:
    """The address and spec hash in a container's labels, both or none."""
    labels = _labels(tree)
    address, spec = text_of(labels.get(_ADDRESS)), text_of(labels.get(_SPEC))
    mine = is_address(address) and address.startswith(("job/", "service/")) and spec.startswith("sha256:")
    return (address, spec) if mine else ("", "")


def _labels(tree: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(at(tree, "Config", "Labels"))


def _project(tree: Mapping[str, Any]) -> str:
    return next((text for key in _PROJECT if (text := text_of(_labels(tree).get(key)))), "")


def _name(tree: Mapping[str, Any]) -> str:
    return text_of(tree.get("Name")).lstrip("/") or text_of(tree.get("Id"))[:12]


def _asked(config: Mapping[str, Any], host: HostFacts) -> Iterator[int]:
    """The indices of devices in every way in which engines hand them out."""
    requests = mappings(config.get("DeviceRequests"))
    paths = [text_of(each.get("PathOnHost")) for each in mappings(config.get("Devices"))]
    for facts in vendors().values():
        mine = [device for device in host.devices if device.vendor is facts.vendor]
        by_name = {str(device.index): device.index for device in mine}
        by_name |= {device.uuid: device.index for device in mine if device.uuid}
        nodes = {device.render_node: device.index for device in mine if device.render_node is not None}
        for request in requests:
            yield from _requested(request, facts, by_name)
        for path in paths:
            yield from _at_path(path, facts, nodes, by_name)


def _requested(request: Mapping[str, Any], facts: VendorFacts, by_name: Mapping[str, int]) -> Iterator[int]:
    driver, ids = text_of(request.get("Driver")), [text_of(each) for each in sequence(request.get("DeviceIDs"))]
    if driver == _CDI:
        ids = [each.removeprefix(f"{facts.cdi_kind}=") for each in ids if each.startswith(f"{facts.cdi_kind}=")]
    elif facts.compose_driver is None or driver not in {"", facts.compose_driver}:
        return
    if request.get("Count") == -1 or _ALL in ids:
        yield from by_name.values()
    for each in ids:
        index = by_name.get(each, int(each) if each.isdecimal() else None)
        if index is not None:
            yield index


def _at_path(path: str, facts: VendorFacts, nodes: Mapping[int, int], by_name: Mapping[str, int]) -> Iterator[int]:
    """A device node that is one card's, or the name of one under CDI."""
    if facts.cdi_kind and path.startswith(f"{facts.cdi_kind}="):
        name = path.removeprefix(f"{facts.cdi_kind}=")
        yield from (index for key, index in by_name.items() if name in {_ALL, key})
    for text in facts.compose_device_nodes:
        pattern = re.escape(text).replace(re.escape("{render}"), "([0-9]{1,4})")
        match = re.fullmatch(pattern, path)
        if match and match.groups() and (index := nodes.get(int(match[1]))) is not None:
            yield index
