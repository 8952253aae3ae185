"""Accelerator: a model that the catalogue does not have."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from planner import units
from planner.catalog import Unit, Vendor
from planner.spec.envelope import Envelope
from planner.spec.fields import Count, Labels, Memory, Positive, Power, SpecModel, Word, refused


def _speed(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1_000:
        return value * units.MILLION
    try:
        ppm = Fraction(value) * units.MILLION if isinstance(value, str) and "/" not in value else Fraction(0)
    except (ValueError, ZeroDivisionError):
        ppm = Fraction(0)
    if ppm.denominator != 1 or not 0 < ppm < 1_000 * units.MILLION:
        raise refused(
            "written", "A speed relative to the reference model is needed here; write for example 1.4 or 0.25."
        )
    return int(ppm)


Speed: TypeAlias = Annotated[int, BeforeValidator(_speed, json_schema_input_type=int | str | float)]


class PartitionSpec(SpecModel):
    """One way to cut a piece out of a device."""

    name: Annotated[Word, Field(description="The profile, for example 1g.10gb, or the mode, for example CPX.")]
    max_instances: Annotated[Positive, Field(description="How many of them one device holds.")]
    memory_slices: Annotated[Positive | None, Field(description="Memory slices that one takes.")] = None
    compute_slices: Annotated[Positive | None, Field(description="Compute slices that one takes.")] = None
    placements: Annotated[tuple[Count, ...] | None, Field(description="Memory slices at which one may begin.")] = None
    memory: Annotated[Memory | None, Field(description="Memory of one.")] = None
    memory_modes: Annotated[
        tuple[Word, ...], Field(description="Memory modes that the mode allows, for example nps1.")
    ] = ()


class AcceleratorSpec(Envelope):
    """A model that the catalogue does not have, or knows too little of: it replaces an entry of the same name."""

    kind: Annotated[Literal["Accelerator"], Field(description="Accelerator")] = "Accelerator"
    vendor: Annotated[Vendor, Field(description="Who makes it.")]
    memory: Annotated[Memory | None, Field(description="Memory of one counted device.")] = None
    speed_ppm: Annotated[
        Speed | None,
        Field(alias="speed", description="Measured throughput relative to the catalogue's reference model."),
    ] = None
    power: Annotated[Power | None, Field(description="Power of one counted device.")] = None
    link: Annotated[Word | None, Field(description="What joins devices of a node, for example NVLink4.")] = None
    island: Annotated[Positive | None, Field(description="How many devices of a node it joins.")] = None
    memory_slots: Annotated[
        Positive | None, Field(description="Into how many memory slices a device is divided; 8 with MIG.")
    ] = None
    partitions: Annotated[tuple[PartitionSpec, ...], Field(description="Partitions with their legal placements.")] = ()
    labels: Annotated[Labels, Field(description="Node labels by which Kubernetes knows the model.")] = ()
    gres_types: Annotated[
        tuple[Word, ...], Field(description="Spellings of the type in Slurm, the preferred one first.")
    ] = ()
    aliases: Annotated[tuple[Word, ...], Field(description="Other names of the model.")] = ()
    family: Annotated[Word | None, Field(description="The family it belongs to; by default the name.")] = None
    unit: Annotated[Unit, Field(description="What one counted device is: gpu, die or card.")] = Unit.GPU
