"""What was discovered as a page for people: hosts, their cards, what differs, and what stayed unknown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from planner.discovery import describe, layout
from planner.discovery.facts import Device, HostFacts, Instance
from planner.discovery.merge import Fleet, Pool
from planner.hosts import fold
from planner.report.figures import plural
from planner.report.page import (
    Block,
    Column,
    Heading,
    Line,
    Page,
    Prose,
    Span,
    Table,
    bad,
    care,
    line,
    quiet,
)

_UNKNOWN: Final = quiet("unknown")
_CARDS: Final = (
    Column(title="Card", right=True),
    Column(title="Model", wraps=True),
    Column(title="Memory", right=True),
    Column(title="PCI address", optional=2),
    Column(title="NUMA", right=True, optional=3),
    Column(title="State", wraps=True),
)


def fleet_page(fleet: Fleet) -> Page:
    """Pools, each with the cards of its first host, then the differences and the warnings."""
    blocks: list[Block] = []
    for pool in fleet.pools:
        blocks += _pool(pool)
    if fleet.differences:
        blocks += [Heading(title="Differences"), Prose(lines=tuple(map(line, fleet.differences)), indent=2)]
    if fleet.warnings:
        lines = tuple(line(care("warning: "), warning) for warning in fleet.warnings)
        blocks += [Heading(title="Unknown or odd", note=plural(len(lines), "warning")), Prose(lines=lines, indent=2)]
    return Page(blocks=tuple(blocks))


def _counted(host: HostFacts) -> str:
    """The cards of a node by model, where nobody looked at them one by one."""
    models = [describe.model_of(device) for device in host.usable]
    return ", ".join(f"{models.count(model)} x {model}" for model in dict.fromkeys(models)) + " a node"


def _pool(pool: Pool) -> Iterator[Block]:
    host = pool.hosts[0]
    yield Heading(title=pool.name, note=f"{plural(len(pool.hosts), 'host')}: {fold(pool.nodes)}")
    yield Prose(lines=tuple(_host_lines(host)), indent=2)
    if host.scheduled is not None and host.devices:
        yield Prose(lines=(line(_counted(host)),), indent=2)
        return
    if len(pool.hosts) > 1:
        yield Prose(lines=(line(quiet(f"cards as on {host.name}:")),), indent=2)
    if host.devices:
        yield Table(columns=_CARDS, rows=tuple(_row(device) for device in host.devices))


def _host_lines(host: HostFacts) -> Iterator[Line]:
    memory = "unknown memory" if host.memory_mib is None else f"{host.memory_mib >> 10} GiB memory"
    cpus = "unknown CPUs" if host.cpus is None else f"{host.cpus} CPUs"
    yield line(", ".join([host.architecture or "unknown architecture", cpus, memory, _network(host)]))
    for driver in host.drivers:
        toolkit = f", newest toolkit {driver.toolkit}" if driver.toolkit else ""
        yield line(f"{driver.vendor} driver {driver.version or 'unknown'}{toolkit}")
    if joined := [group for group in _linked(host) if len(group) > 1]:
        yield line(f"linked with each other: {layout.shown(joined)}")
    if sockets := layout.sockets(host):
        yield line(f"by CPU socket: {layout.shown(sockets)}")
    if host.nvlink_domain:
        yield line(f"NVLink domain {host.nvlink_domain}")


def _network(host: HostFacts) -> str:
    if host.network is None:
        return "unknown network"
    rate = host.network.bits_per_second
    return f"{host.network.fabric}{f' {rate // 10**9} Gb/s' if rate else ''}{' with RDMA' if host.network.rdma else ''}"


def _linked(host: HostFacts) -> layout.Groups:
    pairs = [(pair.first, pair.second) for pair in host.pairs if pair.linked]
    return layout.joined([device.index for device in host.devices], pairs)


def _row(device: Device) -> tuple[Line, ...]:
    memory = _UNKNOWN if device.memory_mib is None else f"{device.memory_mib} MiB"
    return (
        line(str(device.index)),
        line(_model(device)),
        line(memory),
        line(device.pci_address or _UNKNOWN),
        line(_UNKNOWN if device.numa_node is None else str(device.numa_node)),
        _state(device),
    )


def _model(device: Device) -> str | Span:
    if not device.usable:
        return _UNKNOWN
    return device.model or f"{describe.proposed_name(device)} (not in the catalogue)"


def _state(device: Device) -> Line:
    if not device.usable:
        return line(bad(device.trouble))
    parts = ["divided: " + _instances(device.instances)] if device.divided else ["whole"]
    if device.unified:
        parts.append("shares the host's memory")
    if device.processes:
        used = "" if device.used_mib is None else f" of {device.used_mib} MiB"
        parts.append(f"in use by {plural(device.processes, 'process', 'processes')}{used}")
    return line(", ".join(parts))


def _instances(instances: Sequence[Instance]) -> str:
    """Instances of a profile counted: `3 x 1g.10gb (9728 MiB)`; what the driver claims is told where it is more."""
    if not instances:
        return "no partition"
    counts: dict[str, int] = {}
    for one in instances:
        memory = "memory unknown" if one.memory_mib is None else f"{one.memory_mib} MiB"
        claim = f", the driver claims {one.reported_mib}" if one.reported_mib not in {None, one.memory_mib} else ""
        text = f"{one.profile or 'unknown profile'} ({memory}{claim})"
        counts[text] = counts.get(text, 0) + 1
    return ", ".join(f"{count} x {text}" for text, count in counts.items())
