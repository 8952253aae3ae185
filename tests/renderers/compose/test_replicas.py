"""Replicas of services on Compose hosts: what they are, when they run, and who waits for their devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner.spec.backend import Engine
from renderers.compose import render
from tests import builders
from tests.builders import START, Document
from tests.renderers.compose.edge import Edge
from tests.renderers.compose.test_schedule import Host
from tests.renderers.fleet import HOUR

DAY = {"when": "daily 02:00-04:00", "qps": 25}


def a_service(**fields: Any) -> Document:
    """A service that needs one replica of one device, and three of them from 2 to 4 o'clock."""
    own = {
        "apiVersion": "planner/v1", "kind": "Service", "name": "chat", "team": "nlp", "image": "registry/serve:1",
        "command": ["serve", "--port", "8000"], "gpus": 1, "load": [DAY, {"when": "otherwise", "qps": 5}],
        "qps_per_replica": 10, "replicas": {"min": 1, "max": 8}, "priority": "P0",
    }  # fmt: skip
    return own | fields


def an_edge(*more: Document, engine: Engine = Engine.DOCKER, count: int = 4, begin: int = START, **fields: Any) -> Edge:
    """One host of some devices, planned."""
    gpus = {"model": "l4", "count": count}
    pool = {"name": "green", "nodes": ["till-nv"], "gpus": gpus, "cpus": 16, "memory": "64Gi"}
    backend = {"type": "compose", "engine": engine.value}
    documents = (builders.a_cluster(pool, name="store", backend=backend), a_service(**fields), *more)
    specs, plan = builders.loaded(*documents), builders.planned(*documents, start=begin)
    return Edge(specs=specs, plan=plan, rendered=render(plan, specs, specs.cluster("store")))


def a_job(name: str, **window: str) -> Document:
    """Work on two devices for two hours."""
    gpus = {"model": "l4", "count": 2}
    return builders.a_job(name, team="nlp", gpus=gpus, duration="2h", priority="P0", window=window)


def test_each_replica_is_a_service_of_its_own_with_its_devices() -> None:
    edge = an_edge()
    services = edge.project()["services"]
    assert sorted(services) == ["nlp.chat.svc-1", "nlp.chat.svc-2", "nlp.chat.svc-3"]
    ids = [
        service["deploy"]["resources"]["reservations"]["devices"][0]["device_ids"][0] for service in services.values()
    ]
    assert len(set(ids)) == 3
    one = services["nlp.chat.svc-1"]
    assert (one["restart"], one["ports"]) == ("unless-stopped", [{"target": 8000}])
    assert one["healthcheck"]["test"] == [
        "CMD", "curl", "--fail", "--silent", "--max-time", "5", "http://127.0.0.1:8000/health"
    ]  # fmt: skip
    assert one["x-planner"] == {"address": "service/nlp/chat#1", "start": "2026-12-01T00:00:00Z"}
    assert services["nlp.chat.svc-3"]["x-planner"]["end"] == "2026-12-01T04:00:00Z"
    assert edge.faults() == ()
    assert {manifest.addresses for manifest in edge.rendered.manifests} == {("service/nlp/chat",)}
    assert "which its image must have" in edge.messages("service/nlp/chat")[0]


def test_replicas_come_and_go_with_the_steps_of_the_plan(tmp_path: Path) -> None:
    host = Host(tmp_path, an_edge())
    assert host.minute(-1) == []
    assert host.minute(0) == ["nlp.chat.svc-1: started"]
    assert host.minute(60) == []
    assert host.minute(2 * HOUR) == ["nlp.chat.svc-2: started", "nlp.chat.svc-3: started"]
    assert host.minute(4 * HOUR - 1) == []
    assert host.minute(4 * HOUR) == ["nlp.chat.svc-2: stopped as planned", "nlp.chat.svc-3: stopped as planned"]
    assert host.running() == ["nlp.chat.svc-1"]
    assert host.minute(40 * HOUR) == []
    assert host.running() == ["nlp.chat.svc-1"]


@pytest.mark.parametrize("code", [0, 1, 137])
def test_a_replica_that_has_ended_is_started_again_however_it_ended(tmp_path: Path, code: int) -> None:
    host = Host(tmp_path, an_edge())
    host.minute(0)
    for minute in (1, 2, 3):
        host.ends("nlp.chat.svc-1", code)
        assert host.minute(60 * minute) == ["nlp.chat.svc-1: started"]


def test_a_replica_that_is_there_goes_on_under_the_next_plan(tmp_path: Path) -> None:
    host = Host(tmp_path, an_edge())
    host.minute(0)
    host.put(an_edge(begin=START + HOUR))
    assert host.minute(HOUR) == []
    assert host.minute(2 * HOUR) == ["nlp.chat.svc-2: started", "nlp.chat.svc-3: started"]
    assert host.running() == ["nlp.chat.svc-1", "nlp.chat.svc-2", "nlp.chat.svc-3"]


def test_a_replica_waits_for_work_that_still_has_its_device(tmp_path: Path) -> None:
    early = a_job("early", deadline="2026-12-01T02:00:00Z")
    host = Host(tmp_path, an_edge(early, count=3))
    assert host.minute(0) == ["nlp.chat.svc-1: started", "nlp.early: started"]
    assert host.minute(2 * HOUR) == [
        f"nlp.chat.svc-{number}: waits, since {run_of(host, 'nlp.early')} still has its devices" for number in (2, 3)
    ]
    host.ends("nlp.early", 0)
    assert host.minute(2 * HOUR + 60) == ["nlp.chat.svc-2: started", "nlp.chat.svc-3: started", "nlp.early: done"]


def run_of(host: Host, name: str) -> str:
    """The run of a job of the schedule."""
    text = (host.folder / "schedule.sh").read_text()
    return next(word.strip("'") for word in text.split() if word.strip("'").startswith(f"{name}-"))


def test_work_waits_for_a_replica_that_has_not_left_its_device(tmp_path: Path) -> None:
    late = a_job("late", not_before="2026-12-01T04:00:00Z")
    host = Host(tmp_path, an_edge(late, count=3))
    host.minute(2 * HOUR)
    assert host.minute(4 * HOUR) == [
        "nlp.chat.svc-2: stopped as planned", "nlp.chat.svc-3: stopped as planned", "nlp.late: started"
    ]  # fmt: skip


def test_without_an_engine_a_replica_is_a_script_of_its_own() -> None:
    edge = an_edge(engine=Engine.APPTAINER)
    paths = sorted(manifest.path for manifest in edge.rendered.manifests if "/jobs/" in manifest.path)
    assert paths == [f"store/till-nv/jobs/nlp.chat.svc-{number}.sh" for number in (1, 2, 3)]
    assert any("its one port" in message for message in edge.messages("service/nlp/chat"))


def test_a_replica_over_several_hosts_is_told_and_not_written() -> None:
    pool = {"name": "green", "nodes": ["a", "b"], "gpus": {"model": "l4", "count": 1}, "cpus": 16, "memory": "64Gi"}
    documents = (
        builders.a_cluster(pool, name="store", backend="compose"),
        a_service(gpus={"count": 2, "nodes": 2}, load={"qps": 5}),
    )
    specs, plan = builders.loaded(*documents), builders.planned(*documents)
    edge = Edge(specs=specs, plan=plan, rendered=render(plan, specs, specs.cluster("store")))
    assert edge.rendered.manifests == ()
    assert edge.messages("service/nlp/chat") == ["not written: a Compose project has one host, and the gang needs 2"]
