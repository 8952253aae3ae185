"""Objects of Kubernetes as `kubectl get -o json` prints them, and the values in them. Nothing in them is trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from planner.diagnostics import UsageError
from planner.discovery.found import Text
from planner.units import ceil_div

Tree = Mapping[str, Any]

_QUANTITY: Final = re.compile(r"([0-9]{1,18})(?:\.([0-9]{1,9}))?(m|k|[KMGTP]i?|)")
_NANO: Final = 10**9
_SCALES: Final = MappingProxyType({
    "": _NANO, "m": _NANO // 1000, "k": 10**3 * _NANO, "K": 10**3 * _NANO, "M": 10**6 * _NANO, "G": 10**9 * _NANO,
    "T": 10**12 * _NANO, "P": 10**15 * _NANO, "Ki": 2**10 * _NANO, "Mi": 2**20 * _NANO, "Gi": 2**30 * _NANO,
    "Ti": 2**40 * _NANO, "Pi": 2**50 * _NANO,
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """One object: its group without the version, its kind and names, and the rest as it came."""

    group: str
    kind: str
    name: str
    namespace: str
    tree: Tree

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels."""
        return texts(at(self.tree, "metadata", "labels"))

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations."""
        return texts(at(self.tree, "metadata", "annotations"))

    @property
    def spec(self) -> Tree:
        """What is wished."""
        return mapping(self.tree.get("spec"))

    @property
    def status(self) -> Tree:
        """What is."""
        return mapping(self.tree.get("status"))


def things(files: Iterable[Text]) -> tuple[Thing, ...]:
    """All objects of some files, sorted; `UsageError` for a file that holds none of them."""
    found: dict[tuple[str, str, str, str], Thing] = {}
    for text in files:
        for thing in _things(text):
            found[(thing.group, thing.kind, thing.namespace, thing.name)] = thing
    return tuple(found[key] for key in sorted(found))


def _things(text: Text) -> list[Thing]:
    try:
        tree = json.loads(text.data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"'{text.name}' is not the output of 'kubectl get -o json': {error}") from None
    if not isinstance(tree, dict) or not isinstance(tree.get("kind"), str):
        raise UsageError(f"'{text.name}' is not the output of 'kubectl get -o json': it has no kind")
    items = tree.get("items") if tree["kind"].endswith("List") else [tree]
    return [_thing(item) for item in sequence(items) if isinstance(item, dict)]


def _thing(tree: Tree) -> Thing:
    group, slash, _ = str(tree.get("apiVersion", "")).partition("/")
    return Thing(
        group=group if slash else "",
        kind=text_of(tree.get("kind")),
        name=text_of(at(tree, "metadata", "name")),
        namespace=text_of(at(tree, "metadata", "namespace")),
        tree=tree,
    )


def at(tree: Any, *path: str) -> Any:
    """The value at a path, None where it ends early."""
    for key in path:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def mapping(value: Any) -> Tree:
    """A mapping, empty for anything else."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> Sequence[Any]:
    """A list, empty for anything else."""
    return value if isinstance(value, list) else ()


def mappings(value: Any) -> list[Tree]:
    """The mappings of a list."""
    return [each for each in sequence(value) if isinstance(each, dict)]


def text_of(value: Any) -> str:
    """A text, empty for anything else."""
    return value if isinstance(value, str) else ""


def texts(value: Any) -> Mapping[str, str]:
    """A mapping of text to text; anything else in it is left out."""
    return {key: each for key, each in mapping(value).items() if isinstance(each, str)}


def quantity_nano(value: Any) -> int | None:
    """A quantity such as `64`, `191500m`, `2Ti`, in billionths; None for none."""
    match = _QUANTITY.fullmatch(str(value)) if isinstance(value, int | str) else None
    if match is None:
        return None
    scale = _SCALES[match[3]]
    return int(match[1]) * scale + int((match[2] or "").ljust(9, "0")) * scale // _NANO


def whole(value: Any) -> int | None:
    """A quantity in whole units, rounded down."""
    nano = quantity_nano(value)
    return None if nano is None else nano // _NANO


def mebibytes(value: Any, *, up: bool = False) -> int | None:
    """A quantity of bytes in MiB: rounded down for what there is, up for what is needed."""
    nano = quantity_nano(value)
    if nano is None:
        return None
    return ceil_div(nano, _NANO << 20) if up else nano // (_NANO << 20)


def seconds(value: Any) -> int | None:
    """A time as Kubernetes writes it, in seconds since 1970 UTC; None for none."""
    try:
        moment = datetime.fromisoformat(value.replace("Z", "+00:00")) if isinstance(value, str) else None
    except ValueError:
        return None
    return int(moment.timestamp()) if moment is not None and moment.tzinfo is not None else None
