"""Service: work that stays up; its replicas follow from load and latency."""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from planner import units, when
from planner.spec.fields import Duration, Memory, Part, Positive, Short, SpecModel, When, Word, refused
from planner.spec.work import FileName, TimeByModel, Times, Work

_NUMBER: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,3})?")


def _thousandths(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value * 1_000
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return int(Fraction(value) * 1_000)
    raise refused("written", "A number with at most three decimals is needed here; write for example 120 or 2.5.")


Thousandths: TypeAlias = Annotated[int, BeforeValidator(_thousandths, json_schema_input_type=int | str)]


class Load(SpecModel):
    """Requests at recurring times."""

    when: Annotated[When, Field(description="When it holds; the first entry that matches wins.")] = (
        when.When.otherwise()
    )
    milliqps: Annotated[Thousandths | None, Field(alias="qps", description="Requests per second.")] = None
    concurrent: Annotated[Positive | None, Field(description="Requests at once, instead of qps.")] = None


def _loads(value: Any) -> Any:
    if isinstance(value, dict) and "file" not in value and "steps" not in value:
        return {"steps": [value]}
    return {"steps": value} if isinstance(value, list) else value


class Loads(SpecModel):
    """The load of a service: recurring steps, or a file beside the spec."""

    steps: Annotated[tuple[Load, ...], Field(description="Recurring steps.")] = ()
    file: Annotated[FileName | None, Field(description="A CSV file with the columns time and qps.")] = None


class ServiceReplicas(SpecModel):
    """Bounds on the replicas."""

    min: Annotated[Positive, Field(description="The fewest.")] = 1
    max: Annotated[Positive | None, Field(description="The most.")] = None
    step: Annotated[Positive, Field(description="Replicas come and go in multiples of this.")] = 1


class ServedModel(SpecModel):
    """A model whose weights and cache decide how many devices a replica needs."""

    weights: Annotated[Memory, Field(description="Memory of the weights.")]
    kv_cache: Annotated[Memory, Field(description="Memory of the cache.")] = units.Memory(0)
    parallel: Annotated[
        tuple[Positive, ...], Field(min_length=1, description="Degrees of parallelism that the server offers.")
    ] = (1,)


class SpreadOver(StrEnum):
    """Over what replicas are spread."""

    NODE = "node"
    RACK = "rack"
    PLACE = "place"


class Spread(SpecModel):
    """How evenly replicas are spread."""

    over: Annotated[SpreadOver, Field(description="node, rack or place.")]
    max_skew: Annotated[Positive, Field(description="The largest difference between two of them.")] = 1


class Health(SpecModel):
    """How the server says that it is ready."""

    path: Annotated[Word, Field(description="The path to ask.")] = "/health"
    start_period: Annotated[Duration, Field(description="How long it may take to start.")] = units.Duration(300_000)


class Service(Work):
    """Work that stays up: inference."""

    kind: Annotated[Literal["Service"], Field(description="Service")] = "Service"
    load: Annotated[
        Loads,
        Short(_loads, ({"type": "array", "items": {"type": "object"}},)),
        Field(description="Requests per second or at once, at recurring times, or {file: load.csv}."),
    ]
    service_time: Annotated[Times, Field(description="Time of one request on one slot; by model as duration.")] = (
        TimeByModel()
    )
    latency_target: Annotated[Duration | None, Field(description="The goal for the time of one request.")] = None
    concurrency: Annotated[Positive, Field(description="Requests at once in one replica.")] = 1
    headroom: Annotated[Part, Field(description="Spare part: load is at most (1 - headroom) times capacity.")] = (
        units.Part(100_000)
    )
    milliqps_per_replica: Annotated[
        Thousandths | None,
        Field(alias="qps_per_replica", description="Measured capacity of one replica, instead of service_time."),
    ] = None
    replicas: Annotated[ServiceReplicas, Field(description="Bounds on the replicas.")] = ServiceReplicas()
    memory_reserve: Annotated[Part, Field(description="Part of a device's memory that the server takes.")] = units.Part(
        950_000
    )
    model: Annotated[
        ServedModel | None, Field(description="Weights and cache, from which the devices per replica follow.")
    ] = None
    spread: Annotated[Spread | None, Field(description="How evenly replicas are spread.")] = None
    port: Annotated[Positive, Field(le=65_535, description="The port of the server.")] = 8000
    health: Annotated[Health, Field(description="How the server says that it is ready.")] = Health()
