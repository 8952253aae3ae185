"""Specs for tests: one line a fact, everything else a legal default; read by the real loader."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from planner import pipeline
from planner.compile.problem import Compiled, compiled
from planner.diagnostics import as_text
from planner.plan import Plan
from planner.specset import SourceFile, SpecSet, load

START = 1_796_083_200
"""2026-12-01T00:00:00Z, a Tuesday."""
HOUR = 3_600
H100 = "h100-sxm5-80gb"

Document = dict[str, Any]
_NUMBER_KEY = re.compile(r'"([0-9]+)":')


def _document(kind: str, name: str, **fields: Any) -> Document:
    return {"apiVersion": "planner/v1", "kind": kind, "name": name, **fields}


def a_pool(name: str = "h100", nodes: Any = 1, count: int = 8, model: str = H100, **fields: Any) -> Document:
    """One node of 8 H100 without CPUs and memory."""
    return {"name": name, "nodes": nodes, "gpus": {"model": model, "count": count}} | fields


def a_cluster(*pools: Document, name: str = "dc1", **fields: Any) -> Document:
    """A Kubernetes cluster of the pools given."""
    return _document("Cluster", name, **({"backend": "kubernetes", "pools": list(pools or (a_pool(),))} | fields))


def a_cloud(*pools: Document, **fields: Any) -> Document:
    """A cluster in a region of a cloud."""
    return a_cluster(*pools, name="aws", place={"provider": "aws", "region": "us-east-1"}, **fields)


def a_team(name: str = "vision", **fields: Any) -> Document:
    """A team."""
    return _document("Team", name, **fields)


def a_quota(name: str = "vision-h100", team: str = "vision", guaranteed: int = 0, **fields: Any) -> Document:
    """A quota over all H100."""
    return _document("Quota", name, **({"team": team, "gpus": {"model": H100}, "guaranteed": guaranteed} | fields))


def a_job(name: str = "train", team: str = "vision", gpus: Any = 8, duration: Any = "2h", **fields: Any) -> Document:
    """A job of 8 devices for 2 hours, whose limit is its expected length."""
    own = {"image": "registry/train:1", "command": ["train"], "gpus": gpus, "duration": duration}
    return _document("Job", name, team=team, **(own | fields))


def a_policy(slot: str = "1h", length: str = "1d", **fields: Any) -> Document:
    """A day in hours."""
    return _document("Policy", "default", **({"horizon": {"length": length, "slot": slot}} | fields))


def loaded(*documents: Document) -> SpecSet:
    """The documents as specs, one file each, with a team for every job or quota that names none of them."""
    result = load(files(documents))
    if result.specset is None:
        raise AssertionError(as_text(result.diagnostics))
    return result.specset


def files(documents: Sequence[Document]) -> tuple[SourceFile, ...]:
    """The documents as spec files; JSON is YAML."""
    whole = list(documents)
    kinds = {document["kind"] for document in documents}
    if "Policy" not in kinds:
        whole.append(a_policy())
    declared = {document["name"] for document in documents if document["kind"] == "Team"}
    needed = {document["team"] for document in documents if "team" in document}
    whole += [a_team(name) for name in sorted(needed - declared)]
    return tuple(SourceFile(f"specs/{at:04}.yaml", _text(each).encode()) for at, each in enumerate(whole))


def _text(document: Document) -> str:
    """JSON is YAML, but for keys that are numbers."""
    return _NUMBER_KEY.sub(r"\1:", json.dumps(document))


def compile_specs(*documents: Document, start: int = START, **facts: Any) -> Compiled:
    """The documents compiled."""
    return compiled(loaded(*documents), start=start, **facts)


def planned(*documents: Document, start: int = START, **facts: Any) -> Plan:
    """The documents planned."""
    return pipeline.plan(loaded(*documents), start=start, **facts).plan


def hours(plan: Plan, address: str) -> tuple[int, int]:
    """When a job runs, in hours since `START`."""
    from planner.units import parse_time

    placement = plan.placement(address)
    assert placement is not None, f"{address} has no place: {plan.unplaced}"
    begin, end = (parse_time(text, "UTC") - START for text in (placement.start, placement.finish))
    return begin // HOUR, end // HOUR
