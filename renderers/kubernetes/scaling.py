"""Replicas by the clock: the steps of a service as cron triggers of a ScaledObject of KEDA.

A trigger holds between two moments of the calendar, which has no years: what it says holds once, since the next plan
writes the object anew. Triggers never overlap, and the largest number of those that hold is taken.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from renderers.kubernetes.serving import ReplicaSet

Tree = dict[str, Any]
Day = tuple[int, int, int, int]
"""Month, day, hour and minute."""

API: Final = "keda.sh/v1alpha1"
KIND: Final = "ScaledObject"
_MINUTE: Final = 60
_TOLERANCE: Final = 10
"""An autoscaler leaves a number alone that is wrong by no more than a tenth."""


def scaled_object(made: ReplicaSet, target: Tree, begin: int) -> Tree:
    """What keeps the replicas of `target` as the plan, which begins at `begin`, says; the last step stays."""
    counts = _counts(made, begin)
    fewest = min(count for _, count in counts)
    return {
        "apiVersion": API,
        "kind": KIND,
        "metadata": {**target["metadata"], "labels": _own(target["metadata"]["labels"])},
        "spec": {
            "scaleTargetRef": {
                "apiVersion": target["apiVersion"],
                "kind": target["kind"],
                "name": target["metadata"]["name"],
            },
            "minReplicaCount": fewest,
            "maxReplicaCount": max(1, *(count for _, count in counts)),
            "cooldownPeriod": 0,
            "advanced": {
                "horizontalPodAutoscalerConfig": {"behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}}}
            },
            "triggers": [_trigger(start, end, count) for start, end, count in _windows(counts, begin) if count > fewest]
            or [_trigger(begin, begin - _MINUTE, max(1, fewest))],
        },
    }


def _own(labels: Mapping[str, str]) -> dict[str, str]:
    """The labels without those of a queue, which are for work alone."""
    return {key: value for key, value in labels.items() if not key.startswith("kueue.")}


def _counts(made: ReplicaSet, begin: int) -> list[tuple[int, int]]:
    """From when on how many replicas there are, each differing from the one before."""
    moments = sorted({begin, *(start for start, _ in made.steps if start > begin)})
    found: list[tuple[int, int]] = []
    for moment in moments:
        if not found or made.at(moment) != found[-1][1]:
            found.append((moment, made.at(moment)))
    return found


def _windows(counts: list[tuple[int, int]], begin: int) -> Iterator[tuple[int, int, int]]:
    """Each step with its end; the last ends where the plan began, a year later."""
    ends = [start for start, _ in counts[1:]] + [begin - _MINUTE]
    return ((start, end, count) for (start, count), end in zip(counts, ends, strict=True))


def _trigger(start: int, end: int, count: int) -> Tree:
    metadata = {"timezone": "UTC", "start": _cron(start), "end": _cron(end), "desiredReplicas": str(count)}
    return {"type": "cron", "metadata": metadata}


def _day(moment: int) -> Day:
    at = datetime.fromtimestamp(moment, UTC)
    return at.month, at.day, at.hour, at.minute


def _cron(moment: int) -> str:
    month, day, hour, minute = _day(moment)
    return f"{minute} {hour} {day} {month} *"


def replicas_at(tree: Tree, moment: int) -> int:
    """How many replicas a ScaledObject keeps at a moment."""
    spec = tree["spec"]
    holding = [int(each["metadata"]["desiredReplicas"]) for each in spec["triggers"] if _holds(each, moment)]
    return int(max([spec["minReplicaCount"], *holding]))


def _holds(trigger: Tree, moment: int) -> bool:
    start, end = (_read(trigger["metadata"][key]) for key in ("start", "end"))
    at = _day(moment)
    return start <= at < end if start < end else at >= start or at < end


def _read(cron: str) -> Day:
    minute, hour, day, month, _ = cron.split()
    return int(month), int(day), int(hour), int(minute)


def overlooked(made: ReplicaSet, begin: int) -> bool:
    """Whether a step changes the replicas so little that an autoscaler takes them for right."""
    return any(
        now and abs(then - now) * _TOLERANCE <= now for (_, now), (_, then) in pairwise(_counts(made, begin)) if then
    )
