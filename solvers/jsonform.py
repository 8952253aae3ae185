"""JSON form of problems and solutions: canonical bytes, exact round trip, errors that say where.

Object keys are the field names of the dataclasses, sorted; a field that has its default value is left out; `format`
names what the text holds. Reading follows the dataclasses' own type hints, so a field added there needs nothing here.
"""

from __future__ import annotations

import json
import types
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Union, cast, get_args, get_origin, get_type_hints

from solvers.problem import Problem
from solvers.solution import Solution

if TYPE_CHECKING:
    from collections.abc import Callable

FORMATS: tuple[tuple[type[Problem] | type[Solution], str], ...] = (
    (Problem, "planner/problem/v1"),
    (Solution, "planner/solution/v1"),
)


class JsonFormError(ValueError):
    """The text is no JSON form of what was asked for; says where, what was seen and what was expected."""


def to_json(thing: Problem | Solution) -> str:
    """Write a problem or solution as one line of ASCII JSON with sorted keys, ended by a newline."""
    tree = {"format": _tag(type(thing)), **_plain(thing)}
    return json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=True) + "\n"


def problem_from_json(text: str) -> Problem:
    """Read what `to_json` wrote of a problem; raise `JsonFormError` otherwise, also for an ill-formed problem."""
    return cast("Problem", _read(Problem, text))


def solution_from_json(text: str) -> Solution:
    """Read what `to_json` wrote of a solution; raise `JsonFormError` otherwise."""
    return cast("Solution", _read(Solution, text))


def _tag(kind: type) -> str:
    return next(tag for known, tag in FORMATS if known is kind)


def _plain(thing: Any) -> Any:
    if is_dataclass(thing):
        held = ((field, getattr(thing, field.name)) for field in fields(thing))
        return {field.name: _plain(entry) for field, entry in held if not _is_default(field, entry)}
    if isinstance(thing, tuple):
        return [_plain(entry) for entry in thing]
    return thing.value if isinstance(thing, Enum) else thing


def _is_default(field: Field[Any], entry: Any) -> bool:
    return field.default is not MISSING and type(entry) is type(field.default) and bool(entry == field.default)


def _read(kind: type, text: str) -> Any:
    try:
        tree = json.loads(text, object_pairs_hook=_object, parse_float=_refuse, parse_constant=_refuse)
    except RecursionError:
        raise JsonFormError("nested too deeply") from None
    except JsonFormError:
        raise
    except ValueError as error:
        raise JsonFormError(f"not JSON: {error}") from None
    tag = tree.pop("format", None) if isinstance(tree, dict) else None
    if tag != _tag(kind):
        raise JsonFormError(f"format is {tag!r}, expected {_tag(kind)!r}")
    return _build(kind, tree, kind.__name__.lower())


def _refuse(text: str) -> Any:
    raise JsonFormError(f"{text} is no integer: all numbers of this form are")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) < len(pairs):
        keys = [key for key, _ in pairs]
        raise JsonFormError(f"key {next(key for key in keys if keys.count(key) > 1)!r} appears twice in one object")
    return tree


def _build(hint: Any, tree: Any, where: str) -> Any:
    """Turn `tree` into what `hint` says: a dataclass, a tuple, an optional, an enum member or a scalar."""
    if is_dataclass(hint):
        return _dataclass(cast("type", hint), tree, where)
    if get_origin(hint) in {types.UnionType, Union}:
        inner = next(each for each in get_args(hint) if each is not type(None))
        return None if tree is None else _build(inner, tree, where)
    if get_origin(hint) is tuple:
        return _tuple(get_args(hint), tree, where)
    if issubclass(hint, Enum):
        if tree not in [member.value for member in hint]:
            raise JsonFormError(f"{where} is {tree!r}, expected one of {', '.join(str(m.value) for m in hint)}")
        return hint(tree)
    if type(tree) is not hint:
        raise JsonFormError(f"{where} is {tree!r}, expected {_WORDS[hint]}")
    return tree


_WORDS = {int: "an integer", str: "text", bool: "true or false"}


def _tuple(inner: tuple[Any, ...], tree: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(tree, list):
        raise JsonFormError(f"{where} is {tree!r}, expected a list")
    hints = (inner[0],) * len(tree) if len(inner) == 2 and inner[1] is Ellipsis else inner
    if len(hints) != len(tree):
        raise JsonFormError(f"{where} has {len(tree)} entries, expected {len(hints)}")
    return tuple(
        _build(hint, entry, f"{where}[{at}]") for at, (hint, entry) in enumerate(zip(hints, tree, strict=True))
    )


def _dataclass(kind: type, tree: Any, where: str) -> Any:
    if not isinstance(tree, dict):
        raise JsonFormError(f"{where} is {tree!r}, expected an object")
    hints = _hints(kind)
    if unknown := sorted(tree.keys() - hints.keys()):
        raise JsonFormError(f"{where} has no field {unknown[0]!r}, only {', '.join(hints)}")
    needed = {field.name for field in fields(kind) if field.default is MISSING}
    if missing := sorted(needed - tree.keys()):
        raise JsonFormError(f"{where} lacks {missing[0]!r}")
    return _made(kind, {name: _build(hints[name], tree[name], f"{where}.{name}") for name in sorted(tree)}, where)


def _made(kind: Callable[..., Any], arguments: dict[str, Any], where: str) -> Any:
    try:
        return kind(**arguments)
    except ValueError as error:
        raise JsonFormError(f"{where}: {error}") from None


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
