"""Names drawn together: elements of an array job, and numbered nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from planner.report.figures import ranges_text

_ELEMENT: Final = re.compile(r"(.+)\[([0-9]{1,9})\]")
_INDICES_WIDTH: Final = 14
_INDICES_SHOWN: Final = 3
_NUMBERED: Final = re.compile(r"(.*?)([0-9]+)")


def work_name(address: str) -> str:
    """A job or service as lists show it: `vision/resnet` for `job/vision/resnet`; services keep their kind."""
    return address.removeprefix("job/")


def element_of(address: str) -> tuple[str, int | None]:
    """An address as its array and its index there; anything else comes back as it is, with None."""
    match = _ELEMENT.fullmatch(address)
    return (match[1], int(match[2])) if match else (address, None)


def array_name(addresses: Iterable[str]) -> str:
    """Elements of one array job as one name: `vision/sweep[0-3,7]`."""
    parts = [element_of(address) for address in addresses]
    indices = [index for _, index in parts if index is not None]
    name = work_name(parts[0][0])
    return f"{name}[{_indices_text(indices)}]" if indices else name


def _indices_text(indices: list[int]) -> str:
    """Indices with runs drawn together; of many scattered ones the first few, and how many more: `1,6,20,+5`."""
    text = ranges_text(indices)
    if len(text) <= _INDICES_WIDTH:
        return text
    shown = sorted(indices)[:_INDICES_SHOWN]
    return f"{','.join(map(str, shown))},+{len(indices) - len(shown)}"


def array_names(addresses: Iterable[str]) -> tuple[str, ...]:
    """Addresses as lists show them, elements of the same array drawn together, in order of the first of each."""
    groups: dict[str, list[str]] = {}
    for address in addresses:
        groups.setdefault(element_of(address)[0], []).append(address)
    return tuple(array_name(group) for group in groups.values())


def fold_nodes(names: Iterable[str]) -> str:
    """Node names with runs of numbers drawn together: `h100-[001-004]`; names that end otherwise stay as they are."""
    groups: dict[tuple[str, int], list[int]] = {}
    plain: list[str] = []
    for name in sorted(set(names)):
        match = _NUMBERED.fullmatch(name)
        if match:
            groups.setdefault((match[1], len(match[2])), []).append(int(match[2]))
        else:
            plain.append(name)
    folded = [prefix + _folded(numbers, width) for (prefix, width), numbers in groups.items()]
    return ",".join(sorted(folded + plain))


def _folded(numbers: list[int], width: int) -> str:
    if len(numbers) == 1:
        return str(numbers[0]).zfill(width)
    parts = (part.split("-") for part in ranges_text(numbers).split(","))
    return "[" + ",".join("-".join(number.zfill(width) for number in part) for part in parts) + "]"
