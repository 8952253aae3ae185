"""Compose hosts: their containers by the devices that the engine gave them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from planner.catalog import Vendor
from planner.cli import main
from planner.diagnostics import UsageError
from planner.discovery.compose.read import read
from planner.discovery.facts import Device, HostFacts, as_json
from planner.discovery.found import ClusterFacts, Ended, Text
from tests.planner.discovery.kubernetes.objects import MODELS

SECRET = "hunter2"
HASH = "sha256:" + "ab" * 32
STARTED = 1_796_068_800
"""2026-11-30T20:00:00Z."""
MINE = {"planner.dev/address": "job/vision/resnet", "planner.dev/spec-hash": HASH}


def host(name: str = "till") -> HostFacts:
    """Two NVIDIA cards and two AMD cards."""
    green = [Device(index=at, vendor=Vendor.NVIDIA, name="NVIDIA L4", uuid=f"GPU-{at}") for at in (0, 1)]
    red = [Device(index=at, vendor=Vendor.AMD, name="AMD Instinct MI210", render_node=126 + at) for at in (2, 3)]
    return HostFacts(name=name, devices=(*green, *red), cpus=8, memory_mib=65_536)


def container(name: str = "a", *, labels: dict[str, str] | None = None, **config: Any) -> dict[str, Any]:
    """A container that runs, with a secret in its environment and command, which nothing may ever show."""
    return {
        "Id": "f" * 64, "Name": f"/{name}",
        "State": {"Status": "running", "Running": True, "StartedAt": "2026-11-30T20:00:00.123456789Z", "ExitCode": 0},
        "Config": {"Env": [f"TOKEN={SECRET}"], "Cmd": [SECRET], "Labels": labels or {}},
        "HostConfig": {"NanoCpus": 1_500_000_000, "Memory": 1 << 30, **config},
    }  # fmt: skip


def requested(*ids: str, driver: str = "nvidia", count: int = 0) -> dict[str, Any]:
    request = {"Driver": driver, "Count": count, "DeviceIDs": list(ids), "Capabilities": [["gpu"]]}
    return container(DeviceRequests=[request])


def passed(*paths: str) -> dict[str, Any]:
    return container(Devices=[{"PathOnHost": path, "PathInContainer": "/dev/x"} for path in paths])


def facts(
    *trees: dict[str, Any], hosts: tuple[str, ...] = ("till",), file: str = "till.containers.json"
) -> ClusterFacts:
    texts = [Text(name=f"{name}.json", data=as_json(host(name)).encode()) for name in hosts]
    return read([*texts, Text(name=file, data=json.dumps(trees).encode())], MODELS, STARTED)


@pytest.mark.parametrize(
    ("tree", "devices"),
    [
        (requested("GPU-1"), (1,)),
        (requested("0", "1", driver=""), (0, 1)),
        (requested(count=-1), (0, 1)),
        (requested("nvidia.com/gpu=GPU-0", driver="cdi"), (0,)),
        (requested("amd.com/gpu=3", driver="cdi"), (3,)),
        (passed("/dev/kfd", "/dev/dri/renderD128"), (2,)),
        (passed("/dev/kfd", "/dev/dri/renderD128", "/dev/dri/renderD129"), (2, 3)),
        (passed("nvidia.com/gpu=1", "/dev/fuse"), (1,)),
        (passed("nvidia.com/gpu=all"), (0, 1)),
        (container(), ()),
    ],
)  # fmt: skip
def test_devices_are_those_that_the_engine_gave_in_any_way(tree: dict[str, Any], devices: tuple[int, ...]) -> None:
    (use,) = facts(tree).uses
    assert (use.seats[0].node, use.seats[0].devices) == ("till", devices)


def test_a_device_that_the_host_does_not_have_is_told() -> None:
    result = facts(requested("7"))
    assert result.uses[0].seats[0].devices == ()
    assert result.untold == ("container a holds device 7, which till does not have",)


def test_the_planners_own_container_is_known_by_its_labels_and_others_by_their_project() -> None:
    project = {"com.docker.compose.project": "shop"}
    own, other = facts(container("a", labels={**MINE, **project}), container("b", labels=project)).uses
    assert (own.address, own.spec, own.started_at, own.cpus, own.memory_mib) == (
        "job/vision/resnet", HASH, STARTED, 2, 1024,
    )  # fmt: skip
    assert (other.address, other.owner) == ("", "shop/b")


@pytest.mark.parametrize(
    ("status", "code", "succeeded"),
    [("exited", 0, True), ("exited", 1, False), ("exited", 143, None), ("dead", 0, None)],
)
def test_own_containers_that_ended_by_themselves_are_over(status: str, code: int, succeeded: bool | None) -> None:
    over = container(labels=MINE)
    over["State"] = {"Status": status, "Running": False, "ExitCode": code, "FinishedAt": "2026-11-30T20:00:00Z"}
    wanted = () if succeeded is None else (
        Ended(address="job/vision/resnet", spec=HASH, succeeded=succeeded, at=STARTED),
    )  # fmt: skip
    assert (facts(over).uses, facts(over).ended) == ((), wanted)


def test_containers_of_several_hosts_are_told_apart_by_the_names_of_their_files() -> None:
    hosts = ("till", "till.east")
    assert facts(container(), hosts=hosts, file="x/till.east.containers.json").uses[0].seats[0].node == "till.east"
    assert facts(container(), hosts=hosts).uses[0].seats[0].node == "till"
    with pytest.raises(UsageError, match=r"call it NODE\.containers\.json"):
        facts(container(), hosts=hosts, file="containers.json")


@pytest.mark.parametrize("data", [b"[", b'[{"Name": "volume"}]', b"{}"])
def test_what_is_neither_host_nor_containers_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"'x\.json'"):
        read([Text(name="x.json", data=data), Text(name="t.json", data=as_json(host()).encode())], MODELS, 0)


def test_without_a_host_there_is_nothing() -> None:
    with pytest.raises(UsageError, match="none of the files tells a host"):
        read([Text(name="x.json", data=b"[]")], MODELS, 0)


def test_the_verb_looks_at_the_engine_of_this_host_and_shows_no_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "containers").write_text(json.dumps([container(labels=MINE)]))
    program = tmp_path / "docker"
    program.write_text(
        f'#!/bin/sh\ncase $1 in ps) echo abc ;; inspect) [ "$2" = abc ] && cat {tmp_path}/containers ;; esac\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    told = [
        "discover",
        "--from",
        "compose",
        "--name",
        "shop",
        "--node",
        "till-1",
        "--snapshot",
        str(tmp_path / "s.yaml"),
    ]
    assert main([*told, "--write", str(tmp_path / "c.yaml"), "--specs", str(tmp_path / "none")]) == 0
    written = (tmp_path / "c.yaml").read_text() + (tmp_path / "s.yaml").read_text()
    assert "nodes: till-1\n" in written
    assert "job: vision/resnet\n" in written
    assert SECRET not in written + "".join(capsys.readouterr())


def test_a_node_is_named_on_a_host_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["discover", "--from", "slurm", "--node", "x"]) == 64
    assert "--node names the host at hand" in capsys.readouterr().err
