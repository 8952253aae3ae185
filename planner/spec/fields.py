"""Types of fields: quantities, names, short forms, and mappings kept as sorted tuples."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, Final, TypeAlias, TypeVar, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictBool,
    StrictInt,
    ValidationInfo,
)
from pydantic_core import PydanticCustomError, core_schema

from planner import clock, hosts, units, when
from planner.names import NAME_PATTERN, parse_name

K = TypeVar("K")
V = TypeVar("V")


class SpecModel(BaseModel):
    """The root of all models: immutable, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, use_attribute_docstrings=False)


def refused(kind: str, sentence: str) -> PydanticCustomError:
    """An error whose text is already what the user is told. `kind` chooses the code of the diagnostic."""
    return PydanticCustomError(kind, "{sentence}", {"sentence": sentence})


@dataclass(frozen=True, slots=True)
class Written:
    """Annotation of a type that is read from one text by `parse`, and written back by `str`."""

    parse: Callable[[str], Any]
    examples: tuple[str, ...]
    what: str
    pattern: str = ""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.validate, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        pattern = {"pattern": f"^(?:{self.pattern})$"} if self.pattern else {}
        return {"type": "string", "examples": list(self.examples), **pattern}

    def validate(self, value: Any) -> Any:
        """Read a text; let a value that was read before pass; refuse the rest with an example of what to write."""
        if isinstance(value, str):
            try:
                return self.parse(value)
            except ValueError as error:
                raise refused("written", str(error)) from None
        if isinstance(value, bool | int):
            raise refused("bare_number", self._bare(value))
        if value is None or isinstance(value, list | dict):
            raise refused("written", f"{self.what} is needed here; write for example {self.examples[0]}.")
        return value

    def _bare(self, value: int) -> str:
        what = self.what[0].lower() + self.what[1:]
        if isinstance(value, bool):
            return f"{str(value).lower()} is not {what}; write for example {self.examples[0]}."
        examples = ", ".join(self.examples[:3])
        return f"{value} is a bare number: {what} needs its unit; write for example {examples}."


def _cached(parse: Callable[[str], V]) -> Callable[[str], V]:
    return lru_cache(maxsize=4096)(parse)


_MONEY: Final = r"[A-Z]{3} [0-9]+(\.[0-9]+)?"

Duration: TypeAlias = Annotated[
    units.Duration,
    Written(_cached(units.Duration.parse), ("36h", "20m", "90s", "1d12h", "PT36H", "1-12:00:00"), "A duration"),
]
Memory: TypeAlias = Annotated[
    units.Memory,
    Written(
        _cached(units.Memory.parse),
        ("80Gi", "512Mi", "80GB", "2Ti"),
        "A size",
        r"[0-9]+(\.[0-9]+)?([KMGTP]iB?|[kKMGTP]B)",
    ),
]
Money: TypeAlias = Annotated[
    units.Money, Written(_cached(units.Money.parse), ("USD 2.10",), "An amount of money", _MONEY)
]
Price: TypeAlias = Annotated[
    units.Price, Written(_cached(units.Price.parse), ("USD 2.10/h",), "A price per hour", _MONEY + "/h")
]
PowerPrice: TypeAlias = Annotated[
    units.PowerPrice,
    Written(_cached(units.PowerPrice.parse), ("USD 0.12/kWh",), "A price of electricity", _MONEY + "/kWh"),
]
DataPrice: TypeAlias = Annotated[
    units.DataPrice,
    Written(_cached(units.DataPrice.parse), ("USD 90/TB",), "A price of data", _MONEY + "/TB"),
]
Power: TypeAlias = Annotated[
    units.Power, Written(_cached(units.Power.parse), ("700W", "1.4kW"), "A power", r"[0-9]+(\.[0-9]+)?(W|kW|MW)")
]
Rate: TypeAlias = Annotated[
    units.Rate, Written(_cached(units.Rate.parse), ("400Gb/s", "25Gb/s"), "A data rate", r"[0-9]+(\.[0-9]+)?[kMGT]?b/s")
]
Part: TypeAlias = Annotated[
    units.Part, Written(_cached(units.Part.parse), ("20%", "0.5%"), "A part", r"[0-9]+(\.[0-9]+)?%")
]
PartPerHour: TypeAlias = Annotated[
    units.PartPerHour, Written(_cached(units.PartPerHour.parse), ("5%/h",), "A rate per hour", r"[0-9]+(\.[0-9]+)?%/h")
]
Share: TypeAlias = Annotated[
    Fraction, Written(_cached(units.parse_share), ("1/8", "1/2"), "A share of a device", r"[0-9]+/[0-9]+")
]
When: TypeAlias = Annotated[
    when.When,
    Written(
        _cached(when.parse), ("daily 09:00-21:00", "weekdays 20:00-08:00", "sat,sun", "otherwise"), "A recurring window"
    ),
]
Zone: TypeAlias = Annotated[
    str, Written(_cached(lambda text: clock.zone_of(text).key), ("UTC", "Asia/Shanghai"), "A time zone")
]


@dataclass(frozen=True, slots=True)
class _TimeText:
    """Annotation of a time, as seconds since 1970 UTC; without offset it is in the zone of the validation context."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.with_info_plain_validator_function(
            self.validate, serialization=core_schema.plain_serializer_function_ser_schema(units.format_time)
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "examples": ["2026-12-01T09:00:00+08:00", "2026-12-01T09:00:00", "2026-12-01"]}

    @staticmethod
    def validate(value: Any, info: ValidationInfo) -> int:
        if not isinstance(value, str):
            example = "2026-12-01T09:00:00+08:00"
            raise refused("bare_number", f"A time is written as a date with a clock time; write for example {example}.")
        try:
            return units.parse_time(value, (info.context or {}).get("zone", "UTC"))
        except ValueError as error:
            raise refused("written", str(error)) from None


Time: TypeAlias = Annotated[int, _TimeText()]
"""Seconds since 1970 UTC."""


def _is_text(value: Any, *, lines: bool) -> str:
    if isinstance(value, bool | int):
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        raise refused(
            "unquoted", f'Text is needed here, but YAML reads {shown} as something else; quote it: "{shown}".'
        )
    if not isinstance(value, str):
        raise refused("text", f"Text is needed here, not {kind_of(value)}.")
    if not lines and ("\n" in value or "\t" in value):
        raise refused("written", "This text must stay on one line, without tabs.")
    return value


def kind_of(value: Any) -> str:
    """What a YAML value is, in the words of messages."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "a truth value"
        case int():
            return "a number"
        case str():
            return "a text"
        case list() | tuple():
            return "a list"
        case _:
            return "a mapping"


def _line(value: Any) -> str:
    return _is_text(value, lines=False)


def _lines(value: Any) -> str:
    return _is_text(value, lines=True)


def _filled(value: Any) -> str:
    text = _is_text(value, lines=False)
    if not text.strip():
        raise refused("written", "This text must not be empty.")
    return text


def _name(value: Any) -> str:
    text = _is_text(value, lines=False)
    try:
        return parse_name(text)
    except ValueError as error:
        raise refused("name", str(error)) from None


Line: TypeAlias = Annotated[str, BeforeValidator(_line)]
"""Free text on one line."""
Lines: TypeAlias = Annotated[str, BeforeValidator(_lines)]
"""Free text."""
Word: TypeAlias = Annotated[str, BeforeValidator(_filled)]
"""Text on one line that is not empty."""
Name: TypeAlias = Annotated[str, BeforeValidator(_name), Field(json_schema_extra={"pattern": f"^{NAME_PATTERN}$"})]
_TAINT: Final = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._/-]{0,252}(=[A-Za-z0-9._-]{0,63})?:(NoSchedule|PreferNoSchedule|NoExecute)"
)


def _taint(value: Any) -> str:
    text = _is_text(value, lines=False)
    if not _TAINT.fullmatch(text):
        raise refused(
            "written",
            f"'{text}' is not a taint; write key=value:Effect, for example nvidia.com/gpu=present:NoSchedule.",
        )
    return text


Taint: TypeAlias = Annotated[str, BeforeValidator(_taint)]
"""key=value:Effect, as Kubernetes writes it."""
Flag: TypeAlias = StrictBool
Count: TypeAlias = Annotated[StrictInt, Field(ge=0, le=10_000_000)]
Positive: TypeAlias = Annotated[StrictInt, Field(ge=1, le=10_000_000)]


@dataclass(frozen=True, slots=True, eq=False)
class Short:
    """Annotation of a field that may be written in a short form: `expand` turns that into the long one.

    `schemas` describe the short forms; with `or_item` one item may stand for a list of one.
    """

    expand: Callable[[Any], Any]
    schemas: tuple[Mapping[str, Any], ...] = ()
    or_item: bool = False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(self.expand, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        inner = schema["schema"] if schema["type"] == "function-before" else schema
        long = handler(inner)
        return {"anyOf": [*map(dict, self.schemas), *([long["items"]] if self.or_item else []), long]}


@dataclass(frozen=True, slots=True)
class AsPairs:
    """Annotation of `tuple[tuple[K, V], ...]`: written as a mapping, kept as pairs sorted by key."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        key, value = get_args(get_args(source)[0])
        mapping = core_schema.dict_schema(handler.generate_schema(key), handler.generate_schema(value))
        return core_schema.no_info_before_validator_function(
            _as_mapping,
            core_schema.no_info_after_validator_function(_sorted_pairs, mapping),
            serialization=core_schema.plain_serializer_function_ser_schema(dict),
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return handler(schema["schema"]["schema"])


def _as_mapping(value: Any) -> Any:
    return dict(value) if isinstance(value, tuple) else value


def _sorted_pairs(mapping: dict[Any, Any]) -> tuple[tuple[Any, Any], ...]:
    return tuple(sorted(mapping.items(), key=lambda pair: pair[0]))


Labels: TypeAlias = Annotated[tuple[tuple[Word, Line], ...], AsPairs()]
Counts: TypeAlias = Annotated[tuple[tuple[Word, Count], ...], AsPairs()]


def _hosts(value: Any) -> Any:
    """A host list, or a list of them, as single names."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise refused("written", "Nodes are needed here; write a host list such as h100-[001-004], or a list of names.")
    try:
        names = tuple(name for text in texts for name in hosts.expand(text))
    except ValueError as error:
        raise refused("written", str(error)) from None
    if len(set(names)) < len(names):
        raise refused("written", "A node is named twice; list each node once.")
    return names


HOSTS_SCHEMAS: Final = ({"type": "string", "examples": ["h100-[001-016]"]},)
Hosts: TypeAlias = Annotated[tuple[str, ...], Short(_hosts, HOSTS_SCHEMAS)]
"""Names of nodes, in the order of the host list."""


def _models(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Models: TypeAlias = Annotated[
    tuple[Word, ...], Short(_models, ({"type": "string", "examples": ["h100-sxm5-80gb", "mi300x"]},))
]
"""Models: one name as written, and after loading the catalogue slugs that it stands for."""
