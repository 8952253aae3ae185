"""Compose hosts from files: the facts of each host, and what its engine tells of its containers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from planner.diagnostics import UsageError
from planner.discovery.compose.containers import ended, uses
from planner.discovery.facts import HostFacts, from_json
from planner.discovery.found import ClusterFacts, Text
from planner.discovery.models import Models
from planner.discovery.resolve import resolved


def read(texts: Iterable[Text], models: Models, taken_at: int) -> ClusterFacts:
    """Read the output of `planner discover --format json` of hosts, and that of `docker inspect`, as `NODE.….json`.

    A list of containers belongs to the only host, else to the one by whose name and a dot its file's name begins.
    `UsageError` for a file that is neither, or for containers of a host that is not told.
    """
    ordered = sorted(texts, key=lambda each: each.name)
    lists = [each for each in ordered if each.data.lstrip().startswith(b"[")]
    hosts = {host.name: host for host in (_host(each, models) for each in ordered if each not in lists)}
    if not hosts:
        raise UsageError("none of the files tells a host; it comes from 'planner discover --format json'")
    untold: list[str] = []
    found = [(_owner(each, hosts), _containers(each)) for each in lists]
    return ClusterFacts(
        back_end="compose",
        hosts=tuple(hosts[name] for name in sorted(hosts)),
        uses=tuple(use for host, trees in found for use in uses(host, trees, untold)),
        ended=tuple(one for _, trees in found for one in ended(trees)),
        untold=tuple(untold),
    )


def _host(text: Text, models: Models) -> HostFacts:
    try:
        return resolved(from_json(text.data), models.catalog)
    except ValueError as error:
        raise UsageError(f"'{text.name}': {error}") from None


def _owner(text: Text, hosts: Mapping[str, HostFacts]) -> HostFacts:
    if len(hosts) == 1:
        return next(iter(hosts.values()))
    file = text.name.rpartition("/")[2]
    mine = [name for name in hosts if file.startswith(f"{name}.")]
    if not mine:
        raise UsageError(f"'{text.name}' tells containers of no host that is told; call it NODE.containers.json")
    return hosts[max(mine, key=len)]


def _containers(text: Text) -> list[Mapping[str, Any]]:
    try:
        trees = json.loads(text.data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"'{text.name}' is not the output of 'docker inspect': {error}") from None
    found = [tree for tree in trees if isinstance(tree, dict)]
    if any("State" not in tree for tree in found):
        raise UsageError(f"'{text.name}' is not the output of 'docker inspect' of containers")
    return sorted(found, key=lambda tree: str(tree.get("Name", "")))
