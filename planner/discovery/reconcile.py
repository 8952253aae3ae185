"""What a Cluster that people wrote says against what was discovered: which of its fields change, and which stay.

People hold things back on purpose and write round figures, so a field changes only where it promises more than there is
or something else. What speaks for a whole pool changes only when all nodes of the pool were discovered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from planner import hosts
from planner.catalog import Catalog
from planner.discovery.merge import Fleet, Pool
from planner.discovery.spec import node_list, pool_fields
from planner.units import Duration, Memory, Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A value to be put at `path` of a Cluster document; the last part of a path may be one past the end of a list."""

    path: tuple[str | int, ...]
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """The edits, in words what they change, and in words what differs but may not be changed from here."""

    edits: tuple[Edit, ...] = ()
    changes: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """A field that differs, the value it should have, and whether the hosts at hand may decide it."""

    key: str
    value: Any
    decided: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Home:
    """The pool of the document that a discovered pool belongs to."""

    index: int
    stated: Mapping[str, Any]
    nodes: frozenset[str]


def reconcile(stated: Mapping[str, Any], fleet: Fleet, back_end: str, catalog: Catalog) -> Reconciled:
    """Compare a Cluster document, as plain values, with a discovered fleet."""
    name, pools = str(stated.get("name", "")), list(stated.get("pools") or ())
    taken = {str(pool.get("name")) for pool in pools if isinstance(pool, dict)}
    edits: list[Edit] = []
    changes: list[str] = []
    held: list[str] = []
    for pool in fleet.pools:
        found = pool_fields(pool, back_end, catalog)
        home = _home(pools, pool, found, catalog)
        if home is None:
            found["name"] = _free(found["name"], taken)
            edits.append(Edit(path=("pools", len(pools) + len(taken)), value=found))
            changes.append(f"pool/{name}/{found['name']}: new, with {found['nodes']}")
            continue
        subject = f"pool/{name}/{home.stated.get('name')}"
        for wish in _wishes(home, pool, found, catalog):
            line = f"{subject}: {_line(home.stated.get(wish.key), wish.key, wish.value)}"
            if wish.decided:
                edits.append(Edit(path=("pools", home.index, wish.key), value=wish.value))
                changes.append(line)
            else:
                held.append(f"{line}; not all nodes of the pool were discovered")
    return Reconciled(edits=tuple(edits), changes=tuple(changes), held_back=tuple(held))


def _line(old: object, key: str, value: object) -> str:
    return f"{key}: {_short(value)}, not stated" if old is None else f"{key}: {_short(old)} -> {_short(value)}"


def _short(value: object) -> str:
    match value:
        case dict():
            inner = ", ".join(f"{key}: {_short(each)}" for key, each in value.items())
            text = f"{{{inner}}}"
        case list() | tuple():
            text = f"[{', '.join(map(_short, value))}]"
        case _:
            text = str(value)
    return text if len(text) <= 160 else f"{text[:159]}…"


def _free(name: str, taken: set[str]) -> str:
    number = 1
    while (free := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    taken.add(free)
    return free


def _home(pools: Sequence[Any], pool: Pool, found: Mapping[str, Any], catalog: Catalog) -> _Home | None:
    """The pool that has most of the nodes, else the only one that says the same of its nodes."""
    numbered = [(index, stated) for index, stated in enumerate(pools) if isinstance(stated, dict)]
    homes = [_Home(index=index, stated=stated, nodes=_nodes(stated)) for index, stated in numbered]
    nodes = set(pool.nodes)
    shared = [home for home in homes if home.nodes & nodes]
    if shared:
        return max(shared, key=lambda home: (len(home.nodes & nodes), -home.index))
    agreeing = [home for home in homes if all(_agrees(key, home.stated, found, catalog) for key in _STRICT)]
    return agreeing[0] if len(agreeing) == 1 else None


def _agrees(key: str, stated: Mapping[str, Any], found: Mapping[str, Any], catalog: Catalog) -> bool:
    return _keeps(key, stated.get(key), found.get(key), catalog)


_STRICT: Final = ("gpus", "cpus", "memory", "software")


def _nodes(stated: Mapping[str, Any]) -> frozenset[str]:
    """The names of a pool's nodes, also where only their number is stated."""
    nodes = stated.get("nodes")
    if isinstance(nodes, int) and not isinstance(nodes, bool):
        return frozenset(f"{stated.get('name')}-{number:04}" for number in range(1, nodes + 1))
    texts = [nodes] if isinstance(nodes, str) else nodes if isinstance(nodes, list) else []
    try:
        return frozenset(name for text in texts for name in hosts.expand(str(text)))
    except ValueError:
        return frozenset()


def _wishes(home: _Home, pool: Pool, found: Mapping[str, Any], catalog: Catalog) -> Iterator[_Wish]:
    """Fields that differ. What speaks for all nodes can only be decided when all of them were discovered."""
    together = home.nodes | set(pool.nodes)
    if together != home.nodes:
        yield _Wish(key="nodes", value=_with_nodes(home.stated.get("nodes"), together), decided=True)
    whole = home.nodes <= set(pool.nodes)
    for key, value in found.items():
        if key in {"name", "nodes"}:
            continue
        old = home.stated.get(key)
        wanted = _JOINED[key](old, value) if key in _JOINED else value
        if wanted is None or _keeps(key, old, wanted, catalog):
            continue
        yield _Wish(key=key, value=wanted, decided=whole or key in _BY_NODE)


def _with_nodes(old: object, together: frozenset[str] | set[str]) -> Any:
    """Nodes in the form in which they were written: a list of names stays one."""
    if isinstance(old, list) and all(isinstance(name, str) and "[" not in name for name in old):
        return [*old, *sorted(together - set(old))]
    return node_list(sorted(together))


def _keeps(key: str, old: Any, new: Any, catalog: Catalog) -> bool:
    """Whether what is stated may stay, given what was discovered."""
    if new is None:
        return True
    if old is None:
        return False
    if key == "gpus":
        return _same_groups(old, new, catalog)
    return _KEEPS.get(key, _equal)(old, new)


def _equal(old: Any, new: Any) -> bool:
    return bool(old == new)


def _not_more(old: Any, new: Any) -> bool:
    return isinstance(old, int) and old <= new


def _not_more_memory(old: Any, new: Any) -> bool:
    try:
        return Memory.parse(str(old)) <= Memory.parse(str(new))
    except ValueError:
        return False


def _same_versions(old: Any, new: Any) -> bool:
    """Versions agree as far as both go: 570.86 is what 570.86.15 is."""
    return isinstance(old, dict) and all(_same_version(old.get(key), version) for key, version in new.items())


def _same_version(old: object, new: object) -> bool:
    parts = [str(each).split(".") for each in (old, new)]
    length = min(map(len, parts))
    return old is not None and parts[0][:length] == parts[1][:length]


def _same_network(old: Any, new: Any) -> bool:
    try:
        rates = [Rate.parse(str(each["rate"])) if "rate" in each else None for each in (old, new)]
        others = all(old.get(key) == new.get(key, old.get(key)) for key in ("fabric", "rdma"))
    except (ValueError, TypeError, AttributeError):
        return False
    return others and (rates[1] is None or rates[0] == rates[1])


def _same_domains(old: Any, new: Any) -> bool:
    """Domains are the same when they have the same nodes, whatever people call them."""
    if not isinstance(old, dict):
        return False
    have = {_nodes({"nodes": nodes}) for nodes in old.values()}
    return all(any(_nodes({"nodes": nodes}) <= each for each in have) for nodes in new.values())


def _holds(old: Any, new: Any) -> bool:
    """Words that people added stay beside those that were found."""
    if isinstance(new, dict):
        return isinstance(old, dict) and all(old.get(key) == value for key, value in new.items())
    return isinstance(old, list) and set(new) <= set(map(str, old))


def _same_counts(old: Any, new: Any) -> bool:
    return isinstance(old, dict) and all(_not_more(old.get(key), count) for key, count in new.items())


def _not_longer(old: Any, new: Any) -> bool:
    try:
        return Duration.parse(str(old)) <= Duration.parse(str(new))
    except ValueError:
        return False


def _same_partitions(old: Any, new: Any) -> bool:
    """A list of profiles is leave to choose, and no description: it stays."""
    return isinstance(old, list) or bool(old == new)


def _same_groups(old: Any, new: Any, catalog: Catalog) -> bool:
    groups = [each if isinstance(each, list) else [] if each is None else [each] for each in (old, new)]
    if len(groups[0]) != len(groups[1]):
        return False
    return all(_same_group(one, other, catalog) for one, other in zip(*groups, strict=True))


def _same_group(old: Any, new: Any, catalog: Catalog) -> bool:
    """A family of several models says less than what was found, and is no longer enough."""
    if not isinstance(old, dict) or old.get("count") != new.get("count"):
        return False
    slugs = [each.slug for each in catalog.resolve(str(old.get("model", "")))] or [str(old.get("model"))]
    details = all(old.get(key) == new.get(key) for key in ("devices",) if key in old or key in new)
    uuids = all((old.get("uuids") or {}).get(node) == ids for node, ids in (new.get("uuids") or {}).items())
    memory = "memory" not in new or ("memory" in old and _not_more_memory(old["memory"], new["memory"]))
    return slugs == [new.get("model")] and details and uuids and memory


_KEEPS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "cpus": _not_more,
    "memory": _not_more_memory,
    "software": _same_versions,
    "network": _same_network,
    "nvlink_domains": _same_domains,
    "racks": _same_domains,
    "features": _holds,
    "labels": _holds,
    "taints": _holds,
    "gres": _same_counts,
    "max_duration": _not_longer,
    "partitions": _same_partitions,
}


def _join(old: Any, new: Any) -> Any:
    return {**old, **new} if isinstance(old, dict) else new


def _join_partitions(old: Any, new: Any) -> Any:
    """Partitions node by node: those of other nodes stay."""
    if isinstance(old, list):
        return None
    if not isinstance(old, dict) or "fixed" not in new:
        return new
    return {**old, "fixed": {**(old.get("fixed") or {}), **new["fixed"]}}


_JOINED: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "software": _join,
    "network": _join,
    "nvlink_domains": _join,
    "racks": _join,
    "gres": _join,
    "labels": _join,
    "partitions": _join_partitions,
}
_BY_NODE: Final = frozenset({"nvlink_domains", "racks"})
