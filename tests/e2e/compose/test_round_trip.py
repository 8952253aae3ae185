"""A project that runs on a real engine, and discovered from it again: the same host, and the same work on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from planner import lockfile
from planner.catalog import Vendor
from planner.discovery.facts import Device, HostFacts, as_json
from tests import builders
from tests.e2e.compose.test_engine import POOLS, a_payload, start
from tests.e2e.labs import trees
from tests.e2e.labs.cli import loaded, planner
from tests.e2e.labs.compose.engine import IMAGE, Compose
from tests.e2e.labs.processes import run, wait_for
from tests.e2e.labs.trees import Planned

NODE = "till-amd"
W7900 = "radeon-pro-w7900"
HOST = HostFacts(
    name=NODE,
    cpus=4,
    memory_mib=8 << 10,
    render_gid=105,
    devices=tuple(Device(index=at, vendor=Vendor.AMD, name=W7900, model=W7900, render_node=128 + at) for at in (0, 1)),
)
"""What discovery tells of a host with these cards, which this machine is not."""


def inspected(engine: Compose) -> str:
    """What the engine tells of all containers, with the device nodes that null devices stand for in the sandbox."""
    ids = run(*engine.podman, "ps", "--all", "--quiet", env=engine.environment).split()
    found: list[dict[str, Any]] = json.loads(run(*engine.podman, "inspect", *ids, env=engine.environment))
    for device in (device for tree in found for device in tree["HostConfig"]["Devices"]):
        assert device["PathOnHost"] == "/dev/null"
        device["PathOnHost"] = device["PathInContainer"]
    return json.dumps(found)


def test_what_runs_is_found_again_and_the_next_plan_goes_on_with_it(engine: Compose, tmp_path: Path) -> None:
    out, specs = tmp_path / "out", tmp_path / "specs"
    out.mkdir()
    specs.mkdir()
    short = builders.a_job("short", gpus={"model": W7900, "count": 1}, image=IMAGE, command=["true"], duration="1h")
    jobs = [a_payload("long", W7900, out, duration="9h"), short]
    documents = (builders.a_cluster(POOLS[1], name="shop", backend="compose"), *jobs)
    made = Planned(specs=builders.loaded(*documents), plan=builders.planned(*documents, budget=0))
    start(engine, trees.rendered_into(tmp_path / "manifests", made) / f"shop/{NODE}/compose.yaml")
    wait_for(lambda: len(engine.running()) == 1 and len(list(out.iterdir())) == 1, "one container at work")
    files = {f"{NODE}.host.json": as_json(HOST), f"{NODE}.containers.json": inspected(engine)}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (out / "go").touch()

    told = ("discover", "--from", "compose", "--name", "shop", *files, "--at", "now")
    planner(*told, "--write", specs / "c.yaml", env=engine.environment, cwd=tmp_path)
    (specs / "jobs.yaml").write_text("\n---\n".join(map(json.dumps, [builders.a_team("vision"), *jobs])))
    planner(*told, "--snapshot", tmp_path / "s.yaml", env=engine.environment, cwd=tmp_path)
    lock = tmp_path / "plan.lock.json"
    words = ("plan", specs, "--snapshot", tmp_path / "s.yaml", "--budget", 0, "--out", lock)
    planner(*words, env=engine.environment, cwd=tmp_path)

    (pool,) = loaded(specs).cluster("shop").pools
    was = made.specs.cluster("shop").pools[0]
    assert (pool.node_names(), pool.cpus, pool.memory) == (was.node_names(), was.cpus, was.memory)
    assert (pool.render_nodes, pool.render_gid) == (was.render_nodes, was.render_gid)
    assert [(group.model, group.count) for group in pool.gpus] == [(group.model, group.count) for group in was.gpus]
    snapshot = loaded(specs, tmp_path / "s.yaml").snapshots[0]
    before, after = made.plan.placement("job/vision/long"), lockfile.read(lock)
    assert before is not None
    (mine,) = snapshot.running
    assert (mine.job, mine.spec) == ("vision/long", before.spec)
    assert [device.index for device in mine.nodes[0].devices] == [
        device.index for device in before.segments[0].nodes[0].devices
    ]
    # The engine is shared with other tests, whose containers have ended too.
    assert ("vision/short", "succeeded") in {(each.job, each.state.value) for each in snapshot.finished}
    assert mine.job not in {each.job for each in snapshot.finished}
    (placed,) = after.placements
    assert (placed.address, placed.segments[0].nodes) == ("job/vision/long", before.segments[0].nodes)
