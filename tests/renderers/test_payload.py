"""What a placement means to every back end."""

from __future__ import annotations

import pytest

from planner.plan import Device
from planner.spec.cluster import Cluster
from renderers.payload import EnvVar, Payload, jobs_of
from tests.renderers.fleet import FLEET, a_job, a_node, a_placement, a_segment, plan_of, specset_of


def payload(*fields: str, nodes: tuple[object, ...] = (0, 1), pool: str = "dc1/h100") -> Payload:
    """The payload of `job/vision/resnet` with these devices on the first node of a pool."""
    specs = specset_of(FLEET, a_job("resnet", *fields))
    devices = [item for item in nodes if isinstance(item, int | Device)]
    node = a_node(specs.pool(pool).node_names()[0], *devices)
    segment = a_segment(pool, node, specs=specs, variant=specs.jobs[0].ways()[0].name)
    plan = plan_of(a_placement("job/vision/resnet", segment, specs=specs), specs=specs)
    (found,) = jobs_of(plan, specs, specs.clusters[0])
    return found


def test_it_says_what_runs_where_on_whose_devices() -> None:
    found = payload("gpus: 2", "command: [a, b]")
    assert (found.address, found.name, found.pool.name) == ("job/vision/resnet", "resnet", "h100")
    assert found.accelerator is not None and found.accelerator.slug == "h100-sxm5-80gb"
    assert found.facts is not None and found.facts.resource == "nvidia.com/gpu"
    assert (found.image, found.command) == ("registry.acme/train:1", ("a", "b"))


@pytest.mark.parametrize(
    ("fields", "cpus", "memory_mib", "shm_mib"),
    [
        (("gpus: 2",), 42, 458_752, 229_376),
        (("gpus: 2", "cpus: 5", "memory: 10Gi"), 5, 10_240, 5_120),
        (("gpus: 2", "cpus_per_gpu: 5", "memory_per_gpu: 10Gi"), 10, 20_480, 10_240),
        (("gpus: 2", "memory: 10Gi", "shm: 1Gi"), 42, 10_240, 1_024),
    ],
)
def test_a_node_gives_what_is_asked_else_seven_eighths_of_the_fair_share(
    fields: tuple[str, ...], cpus: int, memory_mib: int, shm_mib: int
) -> None:
    found = payload(*fields)
    assert (found.cpus, found.memory_mib, found.shm_mib) == (cpus, memory_mib, shm_mib)


def test_a_part_of_a_device_has_a_part_of_its_share() -> None:
    half = payload("gpus: 1", nodes=(Device(index=0, share="1/2"),))
    whole = payload("gpus: 1", nodes=(0,))
    assert (half.memory_mib, whole.memory_mib) == (114_688, 229_376)


def test_work_without_devices_has_no_share_by_itself() -> None:
    found = payload("gpus: 0", nodes=(), pool="dc1/login")
    assert (found.cpus, found.memory_mib, found.facts, found.accelerator) == (None, None, None, None)
    assert payload("gpus: 0", "cpus: 4", "memory: 1Gi", nodes=(), pool="dc1/login").cpus == 4


def test_a_variable_of_the_job_wins_over_that_of_the_planner() -> None:
    assert EnvVar(name="PLANNER_ADDRESS", value="job/vision/resnet") in payload("gpus: 2").env
    own = payload("gpus: 2", "env: {PLANNER_ADDRESS: mine, T: {secret: s, key: k}}").env
    assert own == (EnvVar(name="PLANNER_ADDRESS", value="mine"), EnvVar(name="T", secret="s", key="k"))


def test_all_devices_of_a_node_are_a_whole_node_and_shares_are_not() -> None:
    assert payload("gpus: 8", nodes=tuple(range(8))).takes_whole_nodes
    assert not payload("gpus: 7", nodes=tuple(range(7))).takes_whole_nodes
    shared = tuple(Device(index=index, share="1/2") for index in range(8))
    assert not payload("gpus: 8", nodes=shared).takes_whole_nodes


def test_segments_elsewhere_are_another_clusters_business() -> None:
    other = (
        FLEET.replace("name: dc1", "name: dc2", 1).split("---")[0].replace("h100-[", "x100-[").replace("mi-[", "y-[")
    )
    specs = specset_of(FLEET, other.replace("cpu-[", "z-["), a_job("resnet", "gpus: 1", "checkpoint: {every: 20m}"))
    segments = [
        a_segment(pool, a_node(node, 0), specs=specs, start=start)
        for pool, node, start in (("dc1/h100", "h100-001", 0), ("dc2/h100", "x100-001", 3), ("dc1/h100", "h100-002", 6))
    ]
    plan = plan_of(a_placement("job/vision/resnet", *segments, specs=specs), specs=specs)

    def of(cluster: Cluster) -> Payload:
        (found,) = jobs_of(plan, specs, cluster)
        return found

    first, second = map(of, specs.clusters)
    assert (first.segment, first.later) == (segments[0], (segments[2],))
    assert (second.segment, second.later) == (segments[1], ())
