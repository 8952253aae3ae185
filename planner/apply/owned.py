"""What of a live object differs from ours: only fields that we put there; what others add or default is theirs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

_QUANTITY: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(m|[kMGTPE]|[KMGTPE]i)?")
_SCALES: Final = {
    "": Fraction(1),
    "m": Fraction(1, 1000),
    "k": Fraction(1000),
    **{unit: Fraction(1000 ** (power + 2)) for power, unit in enumerate("MGTPE")},
    **{f"{unit}i": Fraction(1024 ** (power + 1)) for power, unit in enumerate("KMGTPE")},
}
_SHOWN: Final = 120

Difference = tuple[str, str, str]
"""A path, the planned value and the live one, both as JSON; `-` for nothing."""


def differences(ours: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[Difference]:
    """Every field of `ours` that `live` has otherwise, in the order of `ours`.

    Quantities are compared by their amount. Items of a list that have names are compared by name, others by position.
    """
    yield from _of_mapping("", ours, live)


def _of_mapping(path: str, ours: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[Difference]:
    for key, value in ours.items():
        yield from _of_value(f"{path}.{key}" if path else key, value, live.get(key))


def _of_value(path: str, ours: Any, live: Any) -> Iterator[Difference]:
    if isinstance(ours, Mapping) and isinstance(live, Mapping):
        yield from _of_mapping(path, ours, live)
    elif isinstance(ours, list) and isinstance(live, list):
        yield from _of_list(path, ours, live)
    elif ours not in (None, [], {}) and not _same(ours, live):
        yield path, _shown(ours), _shown(live)


def _of_list(path: str, ours: Sequence[Any], live: Sequence[Any]) -> Iterator[Difference]:
    if all(isinstance(item, Mapping) and "name" in item for item in (*ours, *live)):
        by_name = {item["name"]: item for item in live}
        for item in ours:
            yield from _of_value(f"{path}[{item['name']}]", item, by_name.get(item["name"]))
    elif len(ours) != len(live):
        yield path, _shown(ours), _shown(live)
    else:
        for at, (one, other) in enumerate(zip(ours, live, strict=True)):
            yield from _of_value(f"{path}[{at}]", one, other)


def _same(ours: Any, live: Any) -> bool:
    if isinstance(ours, bool) or isinstance(live, bool):
        return ours is live
    if ours == live:
        return True
    amounts = [_amount(value) for value in (ours, live)]
    return None not in amounts and amounts[0] == amounts[1]


def _amount(value: Any) -> Fraction | None:
    """The amount that a number or a quantity such as `80Gi` or `500m` stands for."""
    match = _QUANTITY.fullmatch(str(value))
    return Fraction(match[1]) * _SCALES[match[2] or ""] if match else None


def _shown(value: Any) -> str:
    text = "-" if value is None else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
