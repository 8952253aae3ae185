"""What jobs and services have in common: devices, variants, environment, places."""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, Final, TypeAlias

from pydantic import BeforeValidator, Field

from planner import units
from planner.catalog import Vendor
from planner.spec.envelope import Envelope, Priority
from planner.spec.fields import (
    AsPairs,
    Count,
    Counts,
    Duration,
    Flag,
    Hosts,
    Line,
    Lines,
    Memory,
    Models,
    Money,
    Name,
    Positive,
    Share,
    Short,
    SpecModel,
    Taint,
    Time,
    Word,
    kind_of,
    refused,
)

_FILE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*){0,3}")


class Market(StrEnum):
    """Whether work may run on machines that the cloud takes back."""

    NEVER = "never"
    ALLOWED = "allowed"
    PREFER = "prefer"
    ONLY = "only"


class Markets(SpecModel):
    """Which markets of a cloud work may run on beside the regular one."""

    spot: Annotated[Market, Field(description="Machines that the cloud takes back.")] = Market.NEVER


class Isolation(StrEnum):
    """How far work that shares a device must be kept apart: hard means that memory and faults are."""

    NONE = "none"
    HARD = "hard"


class Link(StrEnum):
    """Whether the devices of a node must be joined by NVLink or xGMI."""

    NONE = "none"
    PREFERRED = "preferred"
    REQUIRED = "required"


class Within(StrEnum):
    """Domains of the topology, from the closest to the widest."""

    ISLAND = "island"
    SOCKET = "socket"
    NODE = "node"
    NVLINK_DOMAIN = "nvlink_domain"
    RACK = "rack"
    POOL = "pool"
    CLUSTER = "cluster"


def file_name(value: Any) -> Any:
    """Let only a plain relative path below the spec's own directory pass."""
    if not isinstance(value, str) or not _FILE.fullmatch(value):
        raise refused(
            "written",
            f"'{value}' is not a file beside the spec; write a relative path of letters, digits, '.', '_' and '-'.",
        )
    return value


FileName: TypeAlias = Annotated[str, BeforeValidator(file_name)]


def _gpus(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        raise refused(
            "written",
            "A number of devices is needed here; write for example 8, 1/8 or {count: 8, model: h100-sxm5-80gb}.",
        )
    if isinstance(value, int):
        return {"count": value}
    if not isinstance(value, str):
        return value
    if "/" in value:
        return {"share": value}
    raise refused("written", _gpus_advice(value))


def _gpus_advice(text: str) -> str:
    model, _, count = text.rpartition(":")
    if model and count.isdigit():
        return f"'{text}' is not how devices are asked for; write {{model: {model.lower()}, count: {count}}}."
    if re.fullmatch(r"[0-9]*\.[0-9]+", text):
        return (
            f"'{text}' is a decimal; write a share of one device as a fraction, for example {units.as_fraction(text)}."
        )
    if text.isdigit():
        return f"'{text}' is a text; write the number without quotes."
    return f"'{text}' is not a number of devices; write for example 8, 1/8 or {{count: 8, model: h100-sxm5-80gb}}."


class GpuRequest(SpecModel):
    """The devices that work needs in all."""

    count: Annotated[
        Count, Field(description="Devices in all; partitions where one is named; 0 for work on CPUs only.")
    ] = 1
    nodes: Annotated[Positive | None, Field(description="Over how many nodes they are divided evenly.")] = None
    models: Annotated[Models, Field(alias="model", description="Only this model or family.")] = ()
    vendor: Annotated[Vendor | None, Field(description="Only this vendor.")] = None
    memory: Annotated[Memory | None, Field(description="The least memory of a device.")] = None
    share: Annotated[Share | None, Field(description="This part of one device.")] = None
    partition: Annotated[Word | None, Field(description="A MIG profile or AMD mode.")] = None
    share_memory: Annotated[
        Memory | None, Field(description="The share that holds so much memory, rounded up to the pool's units.")
    ] = None
    isolation: Annotated[Isolation, Field(description="hard: sharers must be kept apart in memory and faults.")] = (
        Isolation.NONE
    )
    link: Annotated[Link, Field(description="Whether devices of a node must be joined by NVLink or xGMI.")] = Link.NONE

    @property
    def is_fraction(self) -> bool:
        """Whether only a part of a device is asked for, by share or by memory."""
        return self.share is not None or self.share_memory is not None


GPUS_SCHEMAS: Final = ({"type": "integer", "minimum": 0}, {"type": "string", "examples": ["1/8"]})
Gpus: TypeAlias = Annotated[GpuRequest, Short(_gpus, GPUS_SCHEMAS)]

_DURATION_KEYS: Final = frozenset({"expected", "limit", "by_model"})


def _times(value: Any) -> Any:
    if isinstance(value, dict):
        own = {key: item for key, item in value.items() if key in _DURATION_KEYS}
        models = {key: item for key, item in value.items() if key not in _DURATION_KEYS}
        return {**own, "by_model": models} if models else own
    return value if isinstance(value, TimeByModel) else {"expected": value}


LIMIT: Final = Fraction(5, 4)
"""How long a run may take where no limit is written, against what is expected."""


class TimeByModel(SpecModel):
    """How long something takes: once for all models, or model by model."""

    expected: Annotated[Duration | None, Field(description="How long it takes; on other models by their speed.")] = None
    by_model: Annotated[
        tuple[tuple[Word, Duration], ...],
        AsPairs(),
        Field(description="How long it takes on each of these models, and only these."),
    ] = ()
    limit: Annotated[
        Duration | None, Field(description="The longest it may take; by default 1.25 times the expected.")
    ] = None

    @property
    def is_given(self) -> bool:
        """Whether an expected length is known for any model."""
        return self.expected is not None or bool(self.by_model)

    def on(self, model: str) -> units.Duration | None:
        """What was written for a model, without regard to speeds."""
        return dict(self.by_model).get(model, self.expected if not self.by_model else None)

    def limit_of(self, expected: units.Duration) -> units.Duration:
        """The longest that a run of the length `expected` may take: `LIMIT` times that, where no limit is written."""
        return self.limit or units.Duration(units.ceil_div(expected.milliseconds * LIMIT.numerator, LIMIT.denominator))


TIMES_SCHEMAS: Final = (
    {"type": "string", "examples": ["18h"]},
    {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "examples": [{"h100-sxm5-80gb": "18h", "mi300x": "20h"}],
    },
)
Times: TypeAlias = Annotated[TimeByModel, Short(_times, TIMES_SCHEMAS)]


def _environment_value(value: Any) -> Any:
    return value if isinstance(value, dict | EnvironmentValue) else {"value": value}


class EnvironmentValue(SpecModel):
    """The value of an environment variable: a text, or a key of a secret that the back end holds."""

    value: Annotated[Lines | None, Field(description="The text.")] = None
    secret: Annotated[Word | None, Field(description="Name of the secret.")] = None
    key: Annotated[Word | None, Field(description="Key within the secret.")] = None


_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")


def _variable(value: Any) -> Any:
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
        raise refused("written", f"'{value}' is not the name of an environment variable; use letters, digits and '_'.")
    return value


Environment: TypeAlias = Annotated[
    tuple[
        tuple[
            Annotated[str, BeforeValidator(_variable)],
            Annotated[EnvironmentValue, Short(_environment_value, ({"type": "string"},))],
        ],
        ...,
    ],
    AsPairs(),
]


def _command(value: Any) -> Any:
    if isinstance(value, str):
        words = ", ".join(value.split())
        raise refused("written", f"A command is a list of words, which no shell splits; write [{words}].")
    if not isinstance(value, list | tuple):
        raise refused(
            "written", f"A command is a list of words, not {kind_of(value)}; write for example [torchrun, train.py]."
        )
    return value


Command: TypeAlias = Annotated[tuple[Lines, ...], BeforeValidator(_command)]


class Checkpoint(SpecModel):
    """How work saves what it has done."""

    every: Annotated[Duration, Field(description="Time between checkpoints.")]
    restart: Annotated[Duration, Field(description="Time to start again from one.")] = units.Duration(0)


class MaxCost(SpecModel):
    """A hard limit on cloud cash."""

    total: Annotated[Money | None, Field(description="In all.")] = None
    per_hour: Annotated[Money | None, Field(description="Per hour.")] = None


class WorkPlace(SpecModel):
    """Where work may run; what is not stated is not limited."""

    clusters: Annotated[tuple[Name, ...], Field(description="Only in these clusters.")] = ()
    pools: Annotated[tuple[Word, ...], Field(description="Only in these pools, written cluster/pool.")] = ()
    regions: Annotated[tuple[Word, ...], Field(description="Only at these sites, regions or edge locations.")] = ()
    exclude: Annotated[
        tuple[Word, ...], Field(alias="not", description="Not in these clusters, pools or regions.")
    ] = ()


class Needs(SpecModel):
    """What nodes must have."""

    rdma: Annotated[Flag, Field(description="RDMA between nodes.")] = False
    features: Annotated[tuple[Word, ...], Field(description="Features that the pool declares.")] = ()
    tolerations: Annotated[tuple[Taint, ...], Field(description="Taints that work tolerates, key=value:Effect.")] = ()


class Mount(SpecModel):
    """Something mounted into the containers: a claim, a directory of the host, or an empty directory."""

    path: Annotated[Word, Field(description="Where it appears in the container.")]
    claim: Annotated[Word | None, Field(description="A volume claim.")] = None
    host: Annotated[Word | None, Field(description="A directory of the host.")] = None
    empty: Annotated[Flag, Field(description="An empty directory that lives as long as the work.")] = False
    read_only: Annotated[Flag, Field(description="Whether it can only be read.")] = False


class Topology(SpecModel):
    """How close together the parts of a gang run."""

    within: Annotated[Within, Field(description="The domain that holds all parts.")]
    required: Annotated[Flag, Field(description="Whether this is a must; else the fewest domains are used.")] = False


class Pin(SpecModel):
    """Fixed by hand."""

    pool: Annotated[Word | None, Field(description="The pool, written cluster/pool.")] = None
    nodes: Annotated[Hosts, Field(description="The nodes.")] = ()
    devices: Annotated[tuple[Count, ...], Field(description="Device indices, the same in every node.")] = ()
    start: Annotated[Time | None, Field(description="When it starts.")] = None


class Variant(SpecModel):
    """One way to run work on one vendor or model. What it does not state, the work itself does."""

    name: Annotated[Name, Field(description="The name, unique in the work.")]
    vendor: Annotated[Vendor | None, Field(description="The vendor of its devices.")] = None
    models: Annotated[Models, Field(alias="model", description="Its model or family.")] = ()
    image: Annotated[Word | None, Field(description="The image.")] = None
    command: Annotated[Command, Field(description="The command.")] = ()
    env: Annotated[Environment, Field(description="Environment, in addition to that of the work.")] = ()
    gpus: Annotated[Gpus | None, Field(description="The devices that it needs.")] = None
    duration: Annotated[Times, Field(description="How long it takes.")] = TimeByModel()
    memory: Annotated[Memory | None, Field(description="Host memory per node.")] = None
    cpus: Annotated[Positive | None, Field(description="CPU cores per node.")] = None


_BLANK: Final = Variant(name="blank")


class Work(Envelope):
    """The fields that jobs and services share."""

    team: Annotated[Name, Field(description="The team that the work belongs to.")]
    priority: Annotated[Priority, Field(description="P0 to P3; by default the team's, else P2.")] = Priority.P2
    image: Annotated[Word | None, Field(description="The image, unless every variant has one.")] = None
    command: Annotated[Command, Field(description="The command, as a list of words.")] = ()
    gpus: Annotated[
        Gpus | None, Field(description="Devices: 8, 1/8, 0, or a mapping. Of a job in all, of a service per replica.")
    ] = None
    variants: Annotated[
        tuple[Variant, ...], Field(description="Ways to run it on different vendors or models; one is chosen.")
    ] = ()
    cpus: Annotated[
        Positive | None, Field(description="CPU cores per node; by default the node's fair share per device.")
    ] = None
    memory: Annotated[
        Memory | None, Field(description="Host memory per node; by default the node's fair share per device.")
    ] = None
    shm: Annotated[Memory | None, Field(description="Shared memory per node.")] = None
    gres: Annotated[Counts, Field(description="Other countable things per node.")] = ()
    cpus_per_gpu: Annotated[Positive | None, Field(description="CPU cores per device, instead of cpus.")] = None
    memory_per_gpu: Annotated[Memory | None, Field(description="Host memory per device, instead of memory.")] = None
    topology: Annotated[Topology | None, Field(description="How close together its parts run.")] = None
    market: Annotated[Markets, Field(description="Use of the spot market: never, allowed, prefer or only.")] = Markets()
    place: Annotated[WorkPlace, Field(description="Where it may run.")] = WorkPlace()
    data: Annotated[Word | None, Field(description="The site, region or edge location where its data is.")] = None
    egress: Annotated[Memory | None, Field(description="How much data a run elsewhere has to fetch.")] = None
    needs: Annotated[Needs, Field(description="What nodes must have.")] = Needs()
    env: Annotated[Environment, Field(description="Environment variables: texts, or keys of secrets.")] = ()
    mounts: Annotated[tuple[Mount, ...], Field(description="What is mounted.")] = ()
    user: Annotated[Line | None, Field(description="User that runs it.")] = None
    pull_secrets: Annotated[tuple[Word, ...], Field(description="Names of secrets to pull images with.")] = ()
    service_account: Annotated[Line | None, Field(description="kubernetes: the service account.")] = None
    template: Annotated[
        FileName | None, Field(description="A manifest or script beside the spec to lay the plan over.")
    ] = None
    pin: Annotated[Pin | None, Field(description="Fixed by hand.")] = None

    def ways(self) -> tuple[Variant, ...]:
        """The variants with everything filled in: the declared ones, else the work itself as one.

        Vendors follow from the variant, else from its models (known after loading), else from `gpus`, else are nvidia.
        """
        return tuple(self._filled(variant, variant.name) for variant in self.variants) or (self._filled(_BLANK, ""),)

    def _filled(self, variant: Variant, name: str) -> Variant:
        gpus = variant.gpus or self.gpus or GpuRequest()
        models = variant.models or gpus.models
        vendor = variant.vendor or gpus.vendor or Vendor.NVIDIA
        return variant.model_copy(
            update={
                "name": name or str(vendor),
                "vendor": vendor,
                "models": models,
                "image": variant.image or self.image,
                "command": variant.command or self.command,
                "env": tuple(sorted({**dict(self.env), **dict(variant.env)}.items())),
                "gpus": gpus.model_copy(update={"models": models, "vendor": vendor}),
                "duration": self._duration_of(variant),
                "memory": variant.memory or self.memory,
                "cpus": variant.cpus or self.cpus,
            }
        )

    def _duration_of(self, variant: Variant) -> TimeByModel:
        return variant.duration
