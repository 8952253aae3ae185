"""What Docker Compose reads in every rendered project is what the plan says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.names import without_index
from planner.plan import Placement
from planner.spec.backend import BackendType
from planner.spec.job import Job
from planner.spec.work import EnvironmentValue
from tests.e2e.compose import projects
from tests.e2e.labs import trees
from tests.e2e.labs.compose.engine import Compose
from tests.e2e.labs.trees import Planned
from tests.renderers.fleet import a_node, a_placement, a_segment, plan_of
from tests.renderers.test_injection import ADDRESS, LINES, PRINTABLE, the_specs

MIB = 1 << 20


def on_compose(planned: Planned) -> Iterator[Placement]:
    """What the plan gives to hosts with Compose."""
    clusters = {item.name for item in planned.specs.clusters if item.backend.type is BackendType.COMPOSE}
    return (item for item in planned.plan.placements if item.segments[0].cluster in clusters)


def host_of(placement: Placement) -> tuple[str, str]:
    (node,) = placement.segments[0].nodes
    return placement.segments[0].cluster, node.name


@pytest.fixture(scope="module")
def read(compose: Compose, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Every service of the specs by its address, as Compose reads it; its host is under `host`."""
    folder = trees.rendered_into(tmp_path_factory.mktemp("config"), trees.the_specs())
    found: dict[str, dict[str, Any]] = {}
    for project in sorted(folder.glob("*/*/compose.yaml")):
        for service in projects.services_of(compose, project).values():
            address = service["labels"]["planner.dev/address"]
            assert address not in found
            found[address] = projects.read(service) | {"host": (project.parts[-3], project.parts[-2])}
    return found


def test_each_placed_job_is_one_service_on_its_host(read: dict[str, dict[str, Any]]) -> None:
    planned = {item.address: host_of(item) for item in on_compose(trees.the_specs())}
    assert planned
    assert {address: service["host"] for address, service in read.items()} == planned


def test_each_service_has_the_devices_of_the_plan_and_no_others(read: dict[str, dict[str, Any]]) -> None:
    specs = trees.the_specs().specs
    for item in on_compose(trees.the_specs()):
        segment, service = item.segments[0], read[item.address]
        indices = [device.index for device in segment.nodes[0].devices]
        render_nodes = specs.pool(segment.pool).render_nodes
        amd = segment.vendor == "amd"
        nodes = ["/dev/kfd", *(f"/dev/dri/renderD{render_nodes[index]}" for index in indices)] if amd else []
        assert projects.device_ids(service) == ([] if amd else [str(index) for index in indices]), item.address
        assert projects.device_nodes(service) == nodes, item.address


def test_each_service_runs_the_job_of_the_spec(read: dict[str, dict[str, Any]]) -> None:
    specs = trees.the_specs().specs
    for item in on_compose(trees.the_specs()):
        job = specs.job(without_index(item.address).partition("/")[2])
        way = next(way for way in job.ways() if way.name == item.segments[0].variant)
        service = read[item.address]
        assert (service["image"], tuple(service["command"])) == (way.image, way.command)
        assert service["environment"].items() >= {name: value.value for name, value in way.env}.items()
        assert service["restart"] == "no"
        assert mounts(service) == [(mount.host, mount.path, mount.read_only) for mount in job.mounts]


def mounts(service: dict[str, Any]) -> list[tuple[str, str, bool]]:
    return [(item["source"], item["target"], item.get("read_only", False)) for item in service.get("volumes", [])]


def test_shared_memory_lies_inside_the_memory_of_a_service(read: dict[str, dict[str, Any]]) -> None:
    for service in read.values():
        limits = service["deploy"]["resources"]["limits"]
        assert 64 * MIB < int(service["shm_size"]) < int(limits["memory"])
        assert float(limits["cpus"]) > 0


@pytest.mark.parametrize("text", [*PRINTABLE, *LINES])
def test_hostile_text_is_read_as_it_was_written(compose: Compose, tmp_path: Path, text: str) -> None:
    service = a_service(
        compose, tmp_path, command=("run", text), env=(("TEXT", EnvironmentValue(value=text)),), title=text
    )
    assert service["command"] == ["run", text]
    assert service["environment"]["TEXT"] == text
    assert service["labels"]["planner.dev/title"] == text


def a_service(compose: Compose, folder: Path, **fields: object) -> dict[str, Any]:
    """A job whose fields were replaced without asking the schema, as Compose reads it."""
    harmless = the_specs(BackendType.COMPOSE)
    jobs: tuple[Job, ...] = (harmless.jobs[0].model_copy(update=fields),)
    segment = a_segment("c1/p", a_node("n-1", 0, 1), specs=harmless)
    plan = plan_of(a_placement(ADDRESS, segment, specs=harmless), specs=harmless)
    trees.rendered_into(folder, Planned(specs=replace(harmless, jobs=jobs), plan=plan))
    (service,) = projects.services_of(compose, folder / "c1/n-1/compose.yaml").values()
    found: dict[str, Any] = projects.read(service)
    return found
