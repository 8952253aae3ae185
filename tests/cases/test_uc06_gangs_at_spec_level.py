"""UC-06: gangs run one after the other, never half and half; roles are one gang of all their parts."""

from __future__ import annotations

from planner.specset import load
from tests.builders import Document, a_cluster, a_job, a_policy, a_pool, files, hours, planned


def a_gang_of_two_roles() -> Document:
    """A master and a worker of 8 devices each."""
    job = a_job(roles=[{"name": "master", "gpus": 8}, {"name": "worker", "gpus": 8}])
    del job["gpus"]
    return job


def test_two_gangs_of_the_whole_fleet_run_one_after_the_other() -> None:
    gangs = [a_job(name, gpus={"count": 32, "nodes": 4}, duration="2h") for name in ("g1", "g2")]
    plan = planned(a_cluster(a_pool(nodes=4)), *gangs)
    assert sorted(hours(plan, f"job/vision/{name}") for name in ("g1", "g2")) == [(0, 2), (2, 4)]
    assert all(len(each.segments[0].nodes) == 4 for each in plan.placements)


def test_a_gang_of_two_roles_is_an_error_where_the_fleet_is_smaller() -> None:
    result = load(files([a_cluster(a_pool(nodes=1)), a_gang_of_two_roles()]))
    assert result.specset is None
    (fault,) = (each for each in result.diagnostics if each.is_error)
    assert fault.code == "SPEC420"
    assert "16 devices" in fault.summary


def test_a_gang_of_two_roles_is_left_out_with_its_reason_where_the_policy_skips_it() -> None:
    plan = planned(a_cluster(a_pool(nodes=1)), a_policy(on_invalid="skip"), a_gang_of_two_roles())
    (unplaced,) = plan.unplaced
    (reason,) = unplaced.reasons
    assert (reason.code, reason.subject) == ("size", "pool/dc1/h100")
    assert reason.message == "needs 16 devices at once, the pool has 8"
    assert not plan.status.complete


def test_two_nodes_take_the_gang_of_two_roles_whole() -> None:
    plan = planned(a_cluster(a_pool(nodes=2)), a_gang_of_two_roles())
    placement = plan.placement("job/vision/train")
    assert placement is not None
    assert placement.gpus == 16
    assert [(node.name, node.role, len(node.devices)) for node in placement.segments[0].nodes] == [
        ("h100-0001", "master", 8),
        ("h100-0002", "worker", 8),
    ]
