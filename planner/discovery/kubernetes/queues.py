"""Queues of Kueue, KAI and Volcano, and quotas of namespaces, as teams with what they may use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from planner.catalog import Vendor, vendors
from planner.discovery.found import Allowance, Tenant
from planner.discovery.kubernetes.objects import Thing, at, mapping, mappings, text_of, whole
from planner.discovery.models import Models
from planner.names import is_name

TEAM: Final = "planner.dev/team"
_KUEUE: Final = "kueue.x-k8s.io"
_KAI: Final = "scheduling.run.ai"
_VOLCANO: Final = "scheduling.volcano.sh"
_REQUESTS: Final = "requests."
_TEAM_QUEUE: Final = "team-"
_VOLCANO_ROOT: Final = "root"


@dataclass(frozen=True, slots=True, kw_only=True)
class Queues:
    """Teams and what they may use; `untold` names what specs cannot say."""

    tenants: tuple[Tenant, ...]
    allowances: tuple[Allowance, ...]
    untold: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What one queue has of one kind of device; None for no limit, and for lending all."""

    model: str
    vendor: str
    nominal: int
    borrowing: int | None
    lending: int | None


def queues(found: Sequence[Thing], models: Models) -> Queues:
    """Read ClusterQueues with their LocalQueues and ResourceFlavors, Queues of KAI and Volcano, and ResourceQuotas.

    A nominal quota is a guarantee, with borrowing it is the limit. A ResourceQuota only limits.
    """
    untold: list[str] = []
    tenants: dict[str, Tenant] = {}
    allowances: list[Allowance] = []
    for thing in found:
        reader = _READERS.get((thing.group, thing.kind))
        for tenant, mine in reader(thing, found, models, untold) if reader else ():
            known_as = tenants.setdefault(tenant.name, tenant)
            tenants[tenant.name] = known_as if known_as.namespace else tenant
            allowances += mine
    known = {(each.tenant, each.model, each.vendor): each for each in reversed(allowances)}
    for key in sorted(key for key, each in known.items() if each.tenant in _heads(found)):
        below = [each for each in allowances if _is_below(each.tenant, key[0], tenants)]
        known[key] = _of_all_below(known[key], below, found, models)
    return Queues(
        tenants=tuple(tenants[name] for name in sorted(tenants)),
        allowances=tuple(known[key] for key in sorted(known)),
        untold=tuple(untold),
    )


def _heads(found: Sequence[Thing]) -> frozenset[str]:
    """The teams whose queues are in the cohorts that they are."""
    return frozenset(
        _named(each)
        for each in found
        if (each.group, each.kind) == (_KUEUE, "ClusterQueue")
        and _team_of_cohort(_cohort_of(each), found) == _named(each)
    )


def _of_all_below(own: Allowance, below: Sequence[Allowance], found: Sequence[Thing], models: Models) -> Allowance:
    """What a team with a queue beside those of others below it has: what all own together, and what its cohort lends.

    Where it owns nothing itself and nothing limits it, it has what those below it have, which needs no quota.
    """
    kind = (own.model, own.vendor)
    owned = (own.guaranteed or 0) + sum(each.guaranteed or 0 for each in below if (each.model, each.vendor) == kind)
    lending = [
        part.lending
        for each in found
        if (each.group, each.kind) == (_KUEUE, "Cohort") and _named(each) == own.tenant
        for part in _parts(each, _flavors(found), models)
        if (part.model, part.vendor) == kind
    ]
    lent = sum(each or 0 for each in lending) if lending and None not in lending else None
    if not own.guaranteed and own.limit is None and lent is None:
        return own
    return replace(own, guaranteed=owned, lend=lent if lent is not None and lent < owned else None)


def _flavors(found: Sequence[Thing]) -> dict[str, Thing]:
    return {each.name: each for each in found if (each.group, each.kind) == (_KUEUE, "ResourceFlavor")}


def _is_below(name: str, head: str, tenants: Mapping[str, Tenant]) -> bool:
    """Whether a team is below another; one that was come by already ends the way up."""
    seen = {name}
    while (name := tenants[name].parent if name in tenants else "") and name not in seen:
        if name == head:
            return True
        seen.add(name)
    return False


Found = Iterator[tuple[Tenant, list[Allowance]]]


def _cluster_queue(queue: Thing, found: Sequence[Thing], models: Models, untold: list[str]) -> Found:
    """A ClusterQueue is a team; the namespace of its one LocalQueue is the team's."""
    spaces = sorted({
        each.namespace for each in found
        if (each.group, each.kind) == (_KUEUE, "LocalQueue") and each.spec.get("clusterQueue") == queue.name
    })  # fmt: skip
    name = _named(queue)
    if len(spaces) > 1:
        untold.append(f"queue {queue.name} serves {', '.join(spaces)}: a team has one namespace, write the right one")
    if queue.spec.get("admissionChecksStrategy") or queue.spec.get("admissionChecks"):
        untold.append(f"queue {queue.name}: its admission checks are not written")
    flavors = _flavors(found)
    cohort = _cohort_of(queue)
    parts = list(_parts(queue, flavors, models))
    weight = _weight(at(queue.tree, "spec", "fairSharing", "weight"))
    yield (
        Tenant(name=name, namespace=spaces[0] if len(spaces) == 1 else "", parent=_parent(name, cohort, found)),
        [
            replace(_allowance(name, model, vendor, parts, not cohort), weight=weight)
            for model, vendor in sorted({(p.model, p.vendor) for p in parts})
        ],
    )


def _cohort_of(queue: Thing) -> str:
    return text_of(queue.spec.get("cohortName") or queue.spec.get("cohort"))


def _cohort(cohort: Thing, found: Sequence[Thing], models: Models, untold: list[str]) -> Found:
    """A cohort below another is a team that has others in it; the uppermost only says who lends to each other."""
    if not text_of(cohort.spec.get("parentName")):
        return
    flavors = _flavors(found)
    if any(part.nominal for part in _parts(cohort, flavors, models)):
        untold.append(f"cohort {cohort.name}: its own quota is not written; a team's guarantee contains its children's")
    above = text_of(cohort.spec.get("parentName"))
    yield Tenant(name=_named(cohort), parent=_team_of_cohort(above, found)), []


def _team_of_cohort(name: str, found: Sequence[Thing]) -> str:
    """The team that a cohort is; the uppermost is none."""
    cohort = next((each for each in found if (each.group, each.kind, each.name) == (_KUEUE, "Cohort", name)), None)
    return _named(cohort) if cohort is not None and text_of(cohort.spec.get("parentName")) else ""


def _parent(team: str, cohort: str, found: Sequence[Thing]) -> str:
    """The team above one whose queue is in this cohort: the cohort's own, or where that is the team itself the next."""
    above = _team_of_cohort(cohort, found)
    if above != team:
        return above
    return next(
        (
            _team_of_cohort(text_of(each.spec.get("parentName")), found)
            for each in found
            if (each.group, each.kind, each.name) == (_KUEUE, "Cohort", cohort)
        ),
        "",
    )


def _named(thing: Thing) -> str:
    """The team that the planner wrote on an object, else the object's name."""
    team = thing.annotations.get(TEAM, "")
    return team if is_name(team) else thing.name


def _weight(value: Any) -> int | None:
    """A weight where it is not the usual one."""
    weight = whole(value)
    return weight if weight is not None and weight > 1 else None


def _parts(queue: Thing, flavors: Mapping[str, Thing], models: Models) -> Iterator[_Part]:
    for group in mappings(queue.spec.get("resourceGroups")):
        for flavor in mappings(group.get("flavors")):
            for resource in mappings(flavor.get("resources")):
                vendor = _vendor(text_of(resource.get("name")))
                if vendor is not None:
                    yield _Part(
                        model=_model(flavors.get(text_of(flavor.get("name"))), vendor, models),
                        vendor=vendor,
                        nominal=whole(resource.get("nominalQuota")) or 0,
                        borrowing=whole(resource.get("borrowingLimit")),
                        lending=whole(resource.get("lendingLimit")),
                    )


def _vendor(resource: str) -> Vendor | None:
    """The vendor whose whole devices a resource counts."""
    return next((each.vendor for each in vendors().values() if resource and each.resource == resource), None)


def _model(flavor: Thing | None, vendor: Vendor, models: Models) -> str:
    """The model that the node labels of a flavor name, else nothing."""
    key = vendors()[vendor].product_label_key or ""
    labels = mapping(flavor.spec.get("nodeLabels")) if flavor else {}
    model = models.of(text_of(labels.get(key)), vendor) if key in labels else None
    return model.slug if model else ""


def _allowance(tenant: str, model: str, vendor: str, parts: Sequence[_Part], alone: bool) -> Allowance:
    """The flavors of one model together. Outside a cohort nothing can be borrowed or lent."""
    mine = [part for part in parts if (part.model, part.vendor) == (model, vendor)]
    nominal = sum(part.nominal for part in mine)
    borrowing = [0 if alone else part.borrowing for part in mine]
    lending = [part.nominal if part.lending is None else part.lending for part in mine]
    bounded = None not in borrowing
    return Allowance(
        tenant=tenant,
        model=model,
        vendor=vendor,
        guaranteed=nominal,
        limit=nominal + sum(each or 0 for each in borrowing) if bounded else None,
        lend=sum(lending) if sum(lending) < nominal else None,
    )


def _kai_queue(queue: Thing, found: Sequence[Thing], models: Models, untold: list[str]) -> Found:
    """A queue of KAI: its quota is guaranteed, -1 is no limit; devices of all vendors count in it."""
    gpu = mapping(mapping(queue.spec.get("resources")).get("gpu"))
    quota, limit = _devices(gpu.get("quota")), _devices(gpu.get("limit"))
    name, parent = _team_of_queue(queue), text_of(queue.spec.get("parentQueue"))
    above = next((each for each in found if (each.group, each.kind, each.name) == (_KAI, "Queue", parent)), None)
    if not name:
        return
    if any(isinstance(gpu.get(key), float) and gpu[key] % 1 for key in ("quota", "limit")):
        untold.append(f"queue {queue.name}: parts of devices in its quota are rounded down")
    weight = _weight(gpu.get("overQuotaWeight"))
    stated = quota is not None or limit is not None
    allowance = Allowance(tenant=name, guaranteed=quota, limit=limit, weight=weight)
    yield Tenant(name=name, parent=_team_of_queue(above) if above else parent), [allowance] if stated else []


def _team_of_queue(queue: Thing) -> str:
    """The team whose queue it is: the planner calls those of teams `team-NAME`, and its others belong to none."""
    if queue.labels.get("app.kubernetes.io/managed-by") != "gpu-fleet-planner":
        return queue.name
    return queue.name.removeprefix(_TEAM_QUEUE) if queue.name.startswith(_TEAM_QUEUE) else ""


def _devices(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def _volcano_queue(queue: Thing, found: Sequence[Thing], models: Models, untold: list[str]) -> Found:
    """A queue of Volcano: what it deserves it gets back when others have it, what is guaranteed to it nobody else has,
    and its capability is the limit.
    """
    name = _team_of_queue(queue)
    kept = mapping(mapping(queue.spec.get("guarantee")).get("resource"))
    deserved, most = mapping(queue.spec.get("deserved")), mapping(queue.spec.get("capability"))
    if not name or name == _VOLCANO_ROOT:
        return
    if queue.spec.get("reclaimable") is False:
        untold.append(f"queue {queue.name}: that it gives nothing back is not written")
    weight = _weight(queue.spec.get("weight"))
    named = [(each.vendor, each.resource) for each in vendors().values() if each.resource]
    stated = []
    for vendor, resource in named:
        held = whole(kept.get(resource)) or 0
        guaranteed = max(whole(deserved.get(resource)) or 0, held)
        lend = guaranteed - held if held else None
        if any(resource in amounts for amounts in (kept, deserved, most)):
            limit = whole(most.get(resource))
            stated.append(
                Allowance(tenant=name, vendor=vendor, guaranteed=guaranteed, limit=limit, lend=lend, weight=weight)
            )
    parent = text_of(queue.spec.get("parent"))
    yield Tenant(name=name, parent="" if parent == _VOLCANO_ROOT else parent), stated


def _resource_quota(quota: Thing, found: Sequence[Thing], models: Models, untold: list[str]) -> Found:
    """A namespace's quota is a limit; a namespace that a queue serves has its team already."""
    hard = mapping(quota.spec.get("hard"))
    if quota.spec.get("scopes") or quota.spec.get("scopeSelector"):
        untold.append(f"quota {quota.namespace}/{quota.name}: its scopes are not written")
        return
    name = _team_of(quota.namespace, found)
    counted = {name: whole(value) for name, value in hard.items() if name.startswith(_REQUESTS)}
    limits = [
        Allowance(tenant=name, vendor=vendor, limit=count)
        for key, count in counted.items()
        if (vendor := _vendor(key.removeprefix(_REQUESTS))) is not None
    ]
    if limits:
        yield Tenant(name=name, namespace=quota.namespace), limits


def _team_of(namespace: str, found: Sequence[Thing]) -> str:
    queues = {each.name: each for each in found if (each.group, each.kind) == (_KUEUE, "ClusterQueue")}
    serving = [
        text_of(each.spec.get("clusterQueue")) for each in found
        if (each.group, each.kind, each.namespace) == (_KUEUE, "LocalQueue", namespace)
    ]  # fmt: skip
    queue = queues.get(serving[0]) if len(serving) == 1 else None
    return _named(queue) if queue else namespace


_READERS: Final[Mapping[tuple[str, str], Callable[[Thing, Sequence[Thing], Models, list[str]], Found]]] = {
    (_KUEUE, "ClusterQueue"): _cluster_queue,
    (_KUEUE, "Cohort"): _cohort,
    (_KAI, "Queue"): _kai_queue,
    (_VOLCANO, "Queue"): _volcano_queue,
    ("", "ResourceQuota"): _resource_quota,
}


def without_empty(allowances: Sequence[Allowance], present: frozenset[str]) -> tuple[Allowance, ...]:
    """Allowances without those that say nothing: a guarantee of nothing without a limit, which a team has unsaid, and
    nothing at all of a vendor whose devices the cluster does not have.
    """
    kept = (
        each
        for each in allowances
        if each.guaranteed or (each.limit is not None and (each.limit or each.vendor in present or not each.vendor))
    )
    return tuple(replace(each, vendor="" if each.model else each.vendor) for each in kept)
