"""Objects as block YAML: keys in the order in which they were put, every value quoted by the environment of YAML."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from renderers.environment import yaml_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Tree = dict[str, Any]

_PLAIN_KEY: Final = re.compile(r"[a-z]+[A-Z][A-Za-z]*|[a-z]{4,}")
_WORDS: Final = frozenset({"true", "false", "null"})


def document(tree: Mapping[str, Any], notes: Sequence[str] = (), changes: Sequence[str] = ()) -> str:
    """One object as a file; `notes` and `changes` stand above it as comments, quoted so that each stays on its line."""
    head = [f"# Not enforced: {yaml_value(note)}" for note in notes]
    head += [f"# Laid on: {yaml_value(change)}" for change in changes]
    return "\n".join((*head, *_mapping(tree, ""))) + "\n"


def _mapping(tree: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in tree.items():
        name = _key(key)
        if isinstance(value, dict) and value:
            yield f"{indent}{name}:"
            yield from _mapping(value, indent + "  ")
        elif isinstance(value, list | tuple) and any(isinstance(item, dict) for item in value):
            yield f"{indent}{name}:"
            yield from _sequence(value, indent + "  ")
        else:
            yield f"{indent}{name}: {_inline(value)}"


@lru_cache(maxsize=4_096)
def _key(key: str) -> str:
    """A key as it is written: bare where every reader takes it for text."""
    return key if _PLAIN_KEY.fullmatch(key) and key not in _WORDS else yaml_value(key)


def _sequence(items: Sequence[Any], indent: str) -> Iterator[str]:
    for item in items:
        if isinstance(item, dict) and item:
            lines = _mapping(item, indent + "  ")
            yield f"{indent}- {next(lines)[len(indent) + 2 :]}"
            yield from lines
        else:
            yield f"{indent}- {_inline(item)}"


def _inline(value: Any) -> str:
    """A value on its line: null and nested flow collections occur only in what users bring along."""
    match value:
        case None:
            return "null"
        case dict():
            return "{" + ", ".join(f"{yaml_value(key)}: {_inline(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_inline, value)) + "]"
        case _:
            return yaml_value(value)
