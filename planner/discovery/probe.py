"""What a probe is: one vendor's way of telling the cards of this host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from planner.catalog import Vendor
from planner.discovery.facts import Device, Driver, Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a probe found. `missing` says why its library could not be asked at all."""

    devices: tuple[Device, ...] = ()
    pairs: tuple[Pair, ...] = ()
    driver: Driver | None = None
    nvlink_domain: str | None = None
    warnings: tuple[str, ...] = ()
    missing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A vendor, the number by which PCI knows it, and how to ask its library; `read` never raises.

    `installed` finds the vendor's toolkit on the host, for libraries that do not tell which they run.
    """

    vendor: Vendor
    pci_vendor: str
    library: str
    read: Callable[[], Reading]
    installed: Callable[[Path], str | None] | None = None
