"""Racks and NVLink domains as labels of nodes, and as levels of what schedulers call a topology."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from planner.spec.work import Within
from renderers.kubernetes.naming import HOSTNAME, dns_label, label_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from planner.spec.cluster import Cluster, NodePool
    from renderers.payload import Payload

Tree = dict[str, Any]
Domains = dict[str, str]
"""The domain of each node; what belongs to none is absent."""

RACK: Final = "planner.dev/rack"
NVLINK: Final = "planner.dev/nvlink-domain"
LABELS: Final = MappingProxyType({Within.RACK: RACK, Within.NVLINK_DOMAIN: NVLINK})


def racks_of(pool: NodePool) -> Domains:
    """The rack of each node."""
    return _domains(pool, pool.racks, pool.nodes_per_rack, "rack")


def nvlink_domains_of(pool: NodePool) -> Domains:
    """The NVLink domain of each node."""
    return _domains(pool, pool.nvlink_domains, pool.nodes_per_nvlink_domain, "nvlink")


def _domains(pool: NodePool, named: Sequence[tuple[str, Sequence[str]]], each: int | None, word: str) -> Domains:
    if named:
        return {node: label_value(name) for name, nodes in named for node in nodes}
    if each is None:
        return {}
    return {node: f"{pool.name}-{word}-{index // each + 1}" for index, node in enumerate(pool.nodes.names)}


def levels_of(pool: NodePool) -> tuple[str, ...]:
    """The labels of a pool's topology from the widest domain to the node; none where it has no complete one.

    A scheduler leaves out nodes without the label, so that each node must be in a domain. Racks and NVLink domains that
    cross are no tree, of which racks are left out.
    """
    racks, links = racks_of(pool), nvlink_domains_of(pool)
    found = {label: each for label, each in ((RACK, racks), (NVLINK, links)) if set(each) == set(pool.nodes.names)}
    found = {label: each for label, each in found.items() if each}
    if len(found) < 2:
        return (*found, HOSTNAME) if found else ()
    if _within(links, racks):
        return RACK, NVLINK, HOSTNAME
    return (NVLINK, RACK, HOSTNAME) if _within(racks, links) else (NVLINK, HOSTNAME)


def _within(inner: Domains, outer: Domains) -> bool:
    """Whether each inner domain lies in one outer domain."""
    return len({(inner[node], outer[node]) for node in inner}) == len(set(inner.values()))


def node_labels(cluster: Cluster) -> dict[str, dict[str, str]]:
    """The labels that have to be put on the nodes of a cluster, by node."""
    found: dict[str, dict[str, str]] = {}
    for pool in cluster.pools:
        levels = levels_of(pool)
        for label, each in ((RACK, racks_of(pool)), (NVLINK, nvlink_domains_of(pool))):
            for node, domain in sorted(each.items()):
                if label in levels:
                    found.setdefault(node, {})[label] = domain
    return found


def name_of(levels: Sequence[str]) -> str:
    """The name of the topology with these levels."""
    words = [level.rpartition("/")[2] for level in levels if level != HOSTNAME]
    return dns_label("-".join(("planner", *words)))


def wanted(payload: Payload) -> tuple[str, bool] | None:
    """The level in which a gang has to stay, and whether it must; None where nothing is asked or can be."""
    topology = payload.job.topology
    if topology is None or not payload.is_gang:
        return None
    label = LABELS.get(topology.within)
    return None if label is None or label not in levels_of(payload.pool) else (label, topology.required)


def tree_of(levels: Sequence[str], api: str) -> Tree:
    """A topology of Kueue or KAI, which look alike."""
    return {
        "apiVersion": api,
        "kind": "Topology",
        "metadata": {"name": name_of(levels), "labels": {"app.kubernetes.io/managed-by": "gpu-fleet-planner"}},
        "spec": {"levels": [{"nodeLabel": level} for level in levels]},
    }


def hyper_nodes(cluster: Cluster) -> Iterator[Tree]:
    """Volcano's tree: each domain with its nodes, or with the domains inside it; the closest are of tier 1."""
    for pool in cluster.pools:
        levels = [level for level in reversed(levels_of(pool)) if level != HOSTNAME]
        inside: Mapping[str, str] = {node: node for node in pool.nodes.names}
        kind = "Node"
        for tier, level in enumerate(levels, start=1):
            domains = racks_of(pool) if level == RACK else nvlink_domains_of(pool)
            members: dict[str, list[str]] = {}
            for node in pool.nodes.names:
                members.setdefault(hyper_name(pool, domains[node]), [])
                if inside[node] not in members[hyper_name(pool, domains[node])]:
                    members[hyper_name(pool, domains[node])].append(inside[node])
            for name, names in sorted(members.items()):
                yield _hyper_node(name, tier, kind, names)
            inside = {node: hyper_name(pool, domains[node]) for node in pool.nodes.names}
            kind = "HyperNode"


def hyper_name(pool: NodePool, domain: str) -> str:
    """The HyperNode of a domain."""
    return dns_label(f"{pool.name}-{domain}")


def _hyper_node(name: str, tier: int, kind: str, members: Sequence[str]) -> Tree:
    return {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "gpu-fleet-planner"}},
        "spec": {
            "tier": tier,
            "members": [{"type": kind, "selector": {"exactMatch": {"name": member}}} for member in members],
        },
    }


def tier_of(pool: NodePool, label: str) -> int:
    """The tier of Volcano's tree that a level of a pool is."""
    levels = [level for level in reversed(levels_of(pool)) if level != HOSTNAME]
    return levels.index(label) + 1 if label in levels else 0
