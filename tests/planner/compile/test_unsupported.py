"""Every feature that is not planned yet is refused by its code; everything near it is not."""

from __future__ import annotations

from typing import Any

import pytest

from planner.codes import CODES
from planner.compile.unsupported import FEATURES, ON_UNKNOWN_PARTS, refused
from planner.diagnostics import SpecError
from planner.spec.snapshot import Snapshot
from tests.builders import (
    START,
    Document,
    a_cluster,
    a_job,
    a_policy,
    a_pool,
    a_quota,
    a_team,
    compile_specs,
    loaded,
)

WINDOW = {"when": "daily 08:00-20:00"}
TIME = "2026-12-01T00:00:00Z"


def a_service(**fields: Any) -> Document:
    """A service."""
    own = {
        "apiVersion": "planner/v1", "kind": "Service", "name": "chat", "team": "nlp", "image": "registry/serve:1",
        "command": ["serve"], "gpus": 1, "load": {"qps": 1}, "service_time": "100ms",
    }  # fmt: skip
    return own | fields


def a_snapshot(**fields: Any) -> Document:
    """A snapshot."""
    return {"apiVersion": "planner/v1", "kind": "Snapshot", "name": "dc1", "taken_at": TIME, **fields}


RUNNING = {"job": "vision/train", "pool": "dc1/h100", "nodes": "h100-0001", "started_at": TIME}
SHARED = a_cluster(a_pool(sharing={"by": "time_slicing", "units": 4}))
MIG = a_cluster(a_pool(partitions=["1g.10gb"]))
LLM = {"weights": "2Gi", "kv_cache": "1Gi", "parallel": [1]}
ROLES_ON_PARTITIONS = {
    key: value
    for key, value in a_job(roles=[{"name": "worker", "gpus": {"count": 1, "partition": "1g.10gb"}}]).items()
    if key != "gpus"
}
ROLES = {key: value for key, value in a_job(roles=[{"name": "worker", "gpus": "1/4"}]).items() if key != "gpus"}
FIXED = a_cluster(a_pool(partitions={"fixed": {"h100-0001": {"0": [{"profile": "1g.10gb", "at": 6}]}}}))
TWO_MODELS = [{"model": "rtx-3090", "count": 1, "devices": [0]}, {"model": "rtx-4090", "count": 1, "devices": [1]}]

REFUSED: list[tuple[str, list[Document]]] = [
    ("PLAN617", [a_service(spread={"over": "node"}, replicas={"min": 2, "max": 8, "step": 2})]),
    ("PLAN602", [SHARED, a_service(gpus="1/4", model=LLM)]),
    ("PLAN602", [MIG, a_service(gpus={"count": 1, "partition": "1g.10gb"}, model=LLM)]),
    ("PLAN603", [MIG, ROLES_ON_PARTITIONS]),
    ("PLAN617", [a_service(market={"spot": "allowed"})]),
    ("PLAN610", [a_service(topology={"within": "rack"})]),
    ("PLAN611", [a_service(pin={"pool": "dc1/h100", "devices": [0]})]),
    ("PLAN617", [a_service(pin={"start": TIME})]),
    ("PLAN612", [a_service(data="dc1")]),
    ("PLAN602", [SHARED, ROLES]),
    ("PLAN602", [a_cluster(a_pool(sharing={"by": "mps", "units": 4}, price={"on_demand": "USD 1/h"}))]),
    ("PLAN602", [a_cluster(a_pool(sharing={"by": "mps", "units": 4}) | {"gpus": TWO_MODELS})]),
    ("PLAN610", [a_service(topology={"within": "nvlink_domain", "required": True})]),
    ("PLAN610", [a_job(topology={"within": "cluster"})]),
    ("PLAN618", [a_cluster(a_pool(nodes=4, reserve={"nodes": 1, "per": "rack"}))]),
    ("PLAN611", [a_job(gpus=2, pin={"pool": "dc1/h100", "devices": [0, 1]})]),
    ("PLAN614", [a_cluster(a_pool(sharing={"by": "hami", "units": 4})), a_snapshot(running=[RUNNING]), a_job()]),
    ("PLAN616", [a_snapshot(down=[{"pool": "dc1/h100", "nodes": [{"name": "h100-0001", "devices": [{"index": 0}]}]}])]),
]
ACCEPTED: list[list[Document]] = [
    [a_snapshot(running=[RUNNING], services=[{"service": "nlp/chat", "replicas": 1}]), a_job(), a_service()],
    [a_job(topology={"within": "node", "required": True})],
    [a_job(topology={"within": "pool"})],
    [a_job(topology={"within": "rack"})],
    [a_job(topology={"within": "nvlink_domain"})],
    [a_quota(guaranteed=8, lend=4, weight=2, unplanned=2), a_quota("b", "nlp", windows=[WINDOW | {"limit": 4}])],
    [a_team("research"), a_team(parent="research")],
    [a_job(pin={"pool": "dc1/h100", "nodes": "h100-0001", "start": "2026-12-01T03:00:00Z"})],
    [a_job(preemptible=False)],
    [a_job(gpus=1, replicas={"min": 1, "max": 4})],
    [a_job(data="dc1", egress="2TB")],
    [a_cluster(a_pool(nodes=4, reserve={"nodes": 1}))],
    [a_cluster(a_pool(nodes=4, nodes_per_rack=2, reserve={"nodes": 1, "per": "rack"}))],
    [a_snapshot(spent=[{"team": "vision", "since": TIME, "cash": "USD 1"}]), a_team()],
    [a_snapshot(finished=[{"job": "vision/train", "spec": "sha256:0", "state": "failed", "at": TIME}]), a_job()],
    [SHARED, a_job(gpus="1/4")],
    [FIXED, a_job(gpus={"count": 1, "partition": "1g.10gb"})],
    [MIG, a_job(gpus={"count": 1, "partition": "1g.10gb"})],
    [a_service()],
    [a_service(spread={"over": "node"})],
    [a_snapshot(foreign=[{"pool": "dc1/h100", "nodes": "h100-0001"}])],
    [a_service(topology={"within": "node", "required": True}, pin={"pool": "dc1/h100", "nodes": "h100-0001"})],
    [a_snapshot(markets=[{"pool": "dc1/h100", "market": "spot"}])],
    [a_job(market={"spot": "allowed"}, checkpoint={"every": "20m"})],
    [a_policy(deny=[{"id": f"no-{what}", "what": what, "where": {"priority": ["P0"]}} for what in ("place", "move")])],
]


def with_a_fleet(documents: list[Document]) -> list[Document]:
    """The documents, with a cluster unless they have one."""
    return documents if any(each["kind"] == "Cluster" for each in documents) else [a_cluster(), *documents]


@pytest.mark.parametrize(("code", "documents"), REFUSED)
def test_what_is_not_planned_yet_is_refused_by_its_code(code: str, documents: list[Document]) -> None:
    specset = loaded(*with_a_fleet(documents))
    found = refused(specset, ())
    assert code in {each.code for each in found}
    with pytest.raises(SpecError) as caught:
        compile_specs(*with_a_fleet(documents))
    assert caught.value.diagnostics == found
    assert all(each.place is not None and each.help for each in found)


@pytest.mark.parametrize("documents", ACCEPTED)
def test_what_is_planned_is_not_refused(documents: list[Document]) -> None:
    assert refused(loaded(*with_a_fleet(documents)), ()) == ()


def test_every_row_of_the_table_is_tried_and_has_its_sentence() -> None:
    codes = {row.code for row in (*FEATURES, ON_UNKNOWN_PARTS)}
    assert codes == {code for code, _ in REFUSED}
    assert codes <= set(CODES)


def test_a_snapshot_beside_the_specs_is_judged_too() -> None:
    snapshot = loaded(SHARED, a_job(), a_snapshot(running=[RUNNING])).snapshots[0]
    assert isinstance(snapshot, Snapshot)
    with pytest.raises(SpecError, match="running work"):
        compile_specs(SHARED, a_job(gpus="1/4"), snapshot=snapshot, start=START)
