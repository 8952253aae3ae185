"""Pods that hold devices as what runs: the planner's own work, and that of others by its owner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from planner.discovery.found import Ended, Seat, Use
from planner.discovery.kubernetes.devices import Meaning, held
from planner.discovery.kubernetes.objects import Thing, mapping, mappings, mebibytes, quantity_nano, seconds, text_of
from planner.names import is_address
from planner.units import ceil_div

ADDRESS: Final = "planner.dev/address"
SPEC: Final = "planner.dev/spec-hash"
_WORK: Final = ("job/", "service/")
_GROUP_INDEX: Final = "leaderworkerset.sigs.k8s.io/group-index"
_SUCCEEDED: Final = ("Complete", "Completed", "Succeeded")
"""How the kinds of workload say that they did what they were to do."""
_OVER: Final = frozenset({"Succeeded", "Failed"})
_NANO: Final = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What runs and what ended; `untold` names pods whose devices cannot be written."""

    uses: tuple[Use, ...]
    ended: tuple[Ended, ...]
    waiting: int
    untold: tuple[str, ...]


Claims = Mapping[tuple[str, str], Sequence[tuple[str, int]]]
"""Devices that pods hold by claims, as nodes and numbers, by namespace and name of the pod."""


class _Group:
    """The pods of one owner on their nodes: devices by count and by number, billionths of CPUs, and MiB by node."""

    def __init__(self) -> None:
        self.devices: dict[str, int] = {}
        self.numbers: dict[str, list[int]] = {}
        self.cpu: dict[str, int] = {}
        self.memory: dict[str, int] = {}
        self.began: list[int] = []
        self.pods: list[str] = []
        self.replicas: set[str] = set()

    def add(self, pod: Thing, node: str, count: int, numbers: Iterable[int]) -> None:
        """Count a pod in."""
        requests = [_resources(each, "requests") for each in _containers(pod)]
        cpu = sum(quantity_nano(each.get("cpu")) or 0 for each in requests)
        memory = sum(mebibytes(each.get("memory"), up=True) or 0 for each in requests)
        for amounts, amount in ((self.devices, count), (self.cpu, cpu), (self.memory, memory)):
            amounts[node] = amounts.get(node, 0) + amount
        self.numbers.setdefault(node, []).extend(numbers)
        self.pods.append(f"{pod.namespace}/{pod.name}")
        self.replicas.add(pod.labels.get(_GROUP_INDEX, pod.name))
        if (began := seconds(pod.status.get("startTime"))) is not None:
            self.began.append(began)


def running(found: Sequence[Thing], claims: Claims = MappingProxyType({})) -> Running:
    """Read Pods, and the objects that own them. Values of environments are not looked at."""
    jobs = {(each.namespace, each.name): each for each in found if (each.group, each.kind) == ("batch", "Job")}
    works = {(each.namespace, _marked(each)[0]): each for each in found if each.kind != "Pod" and _marked(each)[0]}
    pods = [each for each in found if (each.group, each.kind) == ("", "Pod")]
    groups: dict[tuple[str, str], _Group] = {}
    untold: list[str] = []
    for pod in (pod for pod in pods if text_of(pod.status.get("phase")) not in _OVER):
        node, count = text_of(pod.spec.get("nodeName")), _count(pod, untold)
        numbers = [number for at, number in claims.get((pod.namespace, pod.name), ()) if at == node]
        if node and (count or numbers):
            mine = (pod.namespace, pod.annotations.get(ADDRESS, ""))
            groups.setdefault(mine if mine in works else _owner(pod), _Group()).add(pod, node, count, numbers)
    return Running(
        uses=tuple(_use(owner, group, works.get(owner) or jobs.get(owner)) for owner, group in sorted(groups.items())),
        ended=tuple(ended for job in works.values() for ended in _ended(job)),
        waiting=_waiting(pods, jobs.values()),
        untold=tuple(dict.fromkeys(untold)),
    )


def _waiting(pods: Iterable[Thing], jobs: Iterable[Thing]) -> int:
    live = [pod for pod in pods if text_of(pod.status.get("phase")) not in _OVER]
    without = sum(not text_of(pod.spec.get("nodeName")) and bool(_count(pod, [])) for pod in live)
    return without + sum(job.spec.get("suspend") is True and not _condition(job, "Complete") for job in jobs)


def _containers(pod: Thing) -> list[Mapping[str, object]]:
    return [mapping(each) for each in mappings(pod.spec.get("containers"))]


def _resources(container: Mapping[str, object], which: str) -> Mapping[str, object]:
    """Requests or limits of a container; without requests the limits are those."""
    resources = mapping(container.get("resources"))
    return mapping(resources.get(which)) or mapping(resources.get("limits"))


def _count(pod: Thing, untold: list[str]) -> int:
    """Whole devices of a pod; shares and partitions are told, since which device they are of is not known."""
    amounts = [amount for each in _containers(pod) for amount in held(_resources(each, "limits"))]
    for amount in amounts:
        if amount.meaning is not Meaning.DEVICE:
            untold.append(
                f"pod {pod.namespace}/{pod.name} holds {amount.count} {amount.name}: of which cards is not told"
            )
    return sum(amount.count for amount in amounts if amount.meaning is Meaning.DEVICE)


def _owner(pod: Thing) -> tuple[str, str]:
    """Namespace and name of the controller of a pod, the pod's own where it has none."""
    owners = mappings(mapping(pod.tree.get("metadata")).get("ownerReferences"))
    controller = next((each for each in owners if each.get("controller") is True), None)
    return pod.namespace, text_of(controller.get("name")) if controller else pod.name


def _use(owner: tuple[str, str], group: _Group, work: Thing | None) -> Use:
    began = seconds(work.status.get("startTime")) if work else None
    started = began if began is not None else min(group.began, default=None)
    limit = work.spec.get("activeDeadlineSeconds") if work else None
    address, spec = _marked(work) if work else ("", "")
    cpu, memory = max(group.cpu.values()), max(group.memory.values())
    return Use(
        name="/".join(owner),
        owner="/".join(owner),
        seats=tuple(
            Seat(node=node, count=count, devices=tuple(sorted(group.numbers[node])))
            for node, count in sorted(group.devices.items())
        ),
        address=address,
        spec=spec,
        started_at=started,
        until=started + limit if started is not None and isinstance(limit, int) else None,
        cpus=ceil_div(cpu, _NANO) or None,
        memory_mib=memory or None,
        parts=tuple(sorted(group.pods)),
        replicas=len(group.replicas),
    )


def _marked(work: Thing) -> tuple[str, str]:
    """The address and spec hash that the planner wrote, both or none."""
    address, spec = work.annotations.get(ADDRESS, ""), work.annotations.get(SPEC, "")
    mine = is_address(address) and address.startswith(_WORK) and spec.startswith("sha256:") and len(spec) == 71
    return (address, spec) if mine else ("", "")


def _condition(job: Thing, kind: str) -> Mapping[str, object] | None:
    """The condition of that type that holds."""
    conditions: Iterable[Mapping[str, object]] = mappings(job.status.get("conditions"))
    return next((each for each in conditions if each.get("type") == kind and each.get("status") == "True"), None)


def _ended(job: Thing) -> Iterator[Ended]:
    address, spec = _marked(job)
    for kind in (*_SUCCEEDED, "Failed"):
        condition = _condition(job, kind)
        moment = seconds(condition.get("lastTransitionTime")) if condition else None
        if address.startswith("job/") and moment is not None:
            yield Ended(address=address, spec=spec, succeeded=kind in _SUCCEEDED, at=moment)
