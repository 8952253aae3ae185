"""Host lists such as `h100-[001-016]`: to names and back, zeros kept."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

MOST_NODES: Final = 100_000
_NODE: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
_RANGE: Final = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_PART: Final = re.compile(r"[A-Za-z0-9._-]*(?:\[[0-9,-]*\][A-Za-z0-9._-]*)*")
_BRACKETS: Final = re.compile(r"\[([^\]]*)\]")


def is_node_name(text: str) -> bool:
    """Whether `text` is a legal name of one node."""
    return _NODE.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def expand(text: str) -> tuple[str, ...]:
    """The names that a host list stands for, sorted as it counts them.

    Raises `ValueError` with a sentence for anything that is not a list of names and padded ranges, that repeats a name,
    or that stands for more than 100,000 names.
    """
    parts = _split(text)
    size = sum(_size(part, text) for part in parts)
    if size > MOST_NODES:
        raise ValueError(f"'{text}' stands for {size} nodes; at most {MOST_NODES} are allowed.")
    names = tuple(str(name) for part in parts for name in NodeSet(part, resolver=RESOLVER_NOGROUP))
    for name in names:
        if not is_node_name(name):
            raise ValueError(f"'{name}' is not the name of a node: use letters, digits, '-', '_' and '.'.")
    if len(set(names)) < size:
        raise ValueError(f"'{text}' names a node twice; list each node once.")
    return names


def fold(names: Iterable[str]) -> str:
    """The shortest host list for some names; only numbers of equal width share a range."""
    nodes = NodeSet(resolver=RESOLVER_NOGROUP)
    nodes.fold_axis = (-1,)
    for name in sorted(set(names)):
        nodes.update(NodeSet(name, resolver=RESOLVER_NOGROUP))
    return str(nodes)


def _split(text: str) -> list[str]:
    """The parts between the commas that stand outside brackets."""
    parts = re.split(r",(?![^\[]*\])", text)
    for part in parts:
        stripped = part.strip()
        if not stripped or not _PART.fullmatch(stripped):
            raise ValueError(f"'{text}' is not a host list; write for example node-[001-016], or a,b,c.")
    return [part.strip() for part in parts]


def _size(part: str, text: str) -> int:
    size = 1
    for inside in _BRACKETS.findall(part):
        size *= sum(_range_size(piece, text) for piece in inside.split(","))
    return size


def _range_size(piece: str, text: str) -> int:
    match = _RANGE.fullmatch(piece)
    if match is None:
        raise ValueError(
            f"'[{piece}]' in '{text}' is not a range of numbers; write for example [001-016] or [1,3,5-7]."
        )
    first, last = match[1], match[2] or match[1]
    if int(last) < int(first):
        raise ValueError(f"The range '{piece}' in '{text}' ends before it begins; write {last}-{first}.")
    if len(first) != len(last) and (first.startswith("0") or last.startswith("0")):
        raise ValueError(
            f"The range '{piece}' in '{text}' begins and ends with different numbers of digits; pad both alike."
        )
    return int(last) - int(first) + 1
