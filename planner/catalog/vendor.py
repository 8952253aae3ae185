"""Facts that hold for all accelerators of a vendor, so that no other code has to branch on the vendor."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from planner.catalog.model import Naming, Partitioning

if TYPE_CHECKING:
    from planner.catalog.model import Accelerator, PartitionProfile, Vendor


class ComposeStyle(StrEnum):
    """How a compose file hands devices to a service: by id to a driver, or as device nodes with groups."""

    DEVICE_IDS = "device_ids"
    DEVICE_NODES = "device_nodes"


class LayoutStyle(StrEnum):
    """How the vendor's operator is told layouts: a file of mig-parted, or one of the device config manager."""

    MIG_PARTED = "mig_parted"
    CONFIG_MANAGER = "config_manager"


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorFacts:
    """What back ends need to know about a vendor; None where the vendor has no such thing or no source tells.

    In texts `{profile}`, `{memory_mode}` and `{index}` stand for values (`filled` puts them in). `{render}` is the
    number of a render node: `render_base` plus the device's index where the pool does not list them.
    `visible_devices` is the one variable that selects devices: a job gets this and no other vendor's.
    `driver_minimums` pairs a toolkit's major version with the oldest driver that runs it.
    `use_metrics` are the gauges by which the vendor's exporter tells how busy a device is, the best first, each with
    what makes percents of its values. `image_words` are this project's own convention, not a vendor's.
    """

    vendor: Vendor
    title: str
    resource: str | None
    partition_resource: str | None
    partitionable_whole_resource: str | None
    shared_resource: str | None
    memory_share_resource: str | None
    memory_percent_resource: str | None
    core_percent_resource: str | None
    taint_key: str | None
    taint_effect: str | None
    product_label_key: str | None
    partition_label_suffix: str | None
    shared_label_suffix: str | None
    partition_layout_label_key: str | None
    partition_state_label_key: str | None
    partition_layout_style: LayoutStyle | None
    runtime_class: str | None
    device_class: str | None
    partition_device_class: str | None
    device_selector: str | None
    partition_selector: str | None
    cdi_kind: str | None
    visible_devices: str | None
    foreign_visible_devices: tuple[str, ...]
    collective: str | None
    collective_env_prefix: str | None
    process_group_backend: str | None
    image_words: tuple[str, ...]
    apptainer_flag: str | None
    compose_style: ComposeStyle | None
    compose_driver: str | None
    compose_device_nodes: tuple[str, ...]
    compose_groups: tuple[str, ...]
    render_base: int | None
    slurm_env_flag: str | None
    slurm_autodetect: str | None
    slurm_device_file: str | None
    software_key: str | None
    driver_key: str | None
    driver_minimums: tuple[tuple[str, str], ...]
    use_metrics: tuple[tuple[str, int], ...]
    sources: tuple[str, ...]


def filled(text: str, **values: str | int) -> str:
    """Put `values` into the placeholders of a catalogue text; unlike str.format it reads nothing else."""
    for key, value in values.items():
        text = text.replace("{" + key + "}", str(value))
    return text


def resource_name(
    facts: VendorFacts,
    accelerator: Accelerator,
    *,
    naming: Naming = Naming.SINGLE,
    profile: PartitionProfile | None = None,
    memory_mode: str = "nps1",
) -> str | None:
    """Give the Kubernetes resource that a pod asks for to get one device, or one partition of it.

    Under mixed naming a MIG profile spells `+` as `.`, and a whole card that could be partitioned may itself carry a
    mode's name. None where no source tells.
    """
    whole = accelerator.resource or facts.resource
    if naming is Naming.SINGLE:
        return whole
    if profile is None:
        moded = accelerator.partitioning is Partitioning.WHOLE_CARD_MODE
        return facts.partitionable_whole_resource if moded else whole
    if facts.partition_resource is None:
        return None
    return filled(facts.partition_resource, profile=profile.name.replace("+", "."), memory_mode=memory_mode)


def visible_devices(facts: VendorFacts, accelerator: Accelerator) -> str | None:
    """Name the one variable by which a job on this accelerator selects its devices."""
    return accelerator.visible_devices or facts.visible_devices


def vendors_named_in(image: str, known: tuple[VendorFacts, ...]) -> tuple[Vendor, ...]:
    """Give the vendors that the last part of an image reference names by their words (`2.9-cuda12.8`, `rocm7.2`).

    Registry and namespace are left out: a mirror path may hold any word. Words are compared whole, digits cut off.
    """
    words = set(re.findall(r"[a-z]+", image.rsplit("/", 1)[-1].partition("@")[0].lower()))
    return tuple(facts.vendor for facts in known if not words.isdisjoint(facts.image_words))
