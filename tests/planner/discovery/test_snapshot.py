"""What runs, as a Snapshot: where, whose, until when, and what is left out with its reason."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from planner.discovery.found import Broken, ClusterFacts, Ended, Seat, Use
from planner.discovery.snapshot import NodeHome, snapshot

AT = 1_796_073_600
EIGHT = tuple(range(8))
HOMES: Mapping[str, NodeHome] = {
    "n1": NodeHome(pool="dc1/h100", devices=EIGHT),
    "n2": NodeHome(pool="dc1/h100", devices=EIGHT),
    "m1": NodeHome(pool="dc1/mi300", devices=(0, 1)),
}
HASH = "sha256:0123456789ab" + "0" * 52


def taken(*uses: Use, broken: tuple[Broken, ...] = (), ended: tuple[Ended, ...] = ()) -> tuple[dict[str, object], str]:
    facts = ClusterFacts(back_end="slurm", uses=uses, broken=broken, ended=ended)
    result = snapshot(facts, "dc1", AT, HOMES, lambda address: HASH if address == "job/vision/resnet" else None)
    return result.document, "; ".join(result.untold)


def use(name: str, *seats: Seat, **more: object) -> Use:
    return Use(name=name, owner="vision/ann", seats=seats, **more)  # type: ignore[arg-type]


def test_an_idle_cluster_is_a_snapshot_of_nothing() -> None:
    assert taken() == (
        {"apiVersion": "planner/v1", "kind": "Snapshot", "name": "dc1", "taken_at": "2026-11-30T21:20:00Z"}, "",
    )  # fmt: skip


def test_the_planners_own_work_is_running_with_the_whole_hash_of_a_spec_that_is_still_the_same() -> None:
    mine = use("job 1", Seat(node="n2", devices=(0, 1)), Seat(node="n1", devices=(7,)), started_at=AT - 60,
               address="job/vision/resnet", spec="sha256:0123456789ab")  # fmt: skip
    document, _ = taken(mine)
    assert document["running"] == [{
        "job": "vision/resnet", "pool": "dc1/h100", "started_at": "2026-11-30T21:19:00Z", "spec": HASH,
        "nodes": [{"name": "n1", "devices": [{"index": 7}]},
                  {"name": "n2", "devices": [{"index": 0}, {"index": 1}]}],
    }]  # fmt: skip


@pytest.mark.parametrize(
    ("address", "spec"), [("job/vision/resnet", "sha256:ffffffffffff"), ("job/vision/gone", "sha256:0123456789ab")]
)
def test_the_hash_of_another_spec_stays_as_the_back_end_has_it(address: str, spec: str) -> None:
    document, _ = taken(ended=(Ended(address=address, spec=spec, succeeded=False, at=AT),))
    assert document["finished"] == [
        {"job": address.removeprefix("job/"), "spec": spec, "state": "failed", "at": "2026-11-30T21:20:00Z"}
    ]


def test_use_of_others_is_foreign_pool_by_pool() -> None:
    document, _ = taken(use("job 2", Seat(node="n1", devices=(0,)), Seat(node="m1", devices=(1,)),
                            cpus=8, memory_mib=65_536, until=AT + 60))  # fmt: skip
    assert document["foreign"] == [
        {"pool": pool, "nodes": [{"name": node, "devices": [{"index": index}]}], "memory": "64Gi", "cpus": 8,
         "owner": "vision/ann", "until": "2026-11-30T21:21:00Z"}
        for pool, node, index in (("dc1/h100", "n1", 0), ("dc1/mi300", "m1", 1))
    ]  # fmt: skip


def test_the_planners_own_services_are_up_pool_by_pool_and_not_foreign() -> None:
    chat = use("vision/chat", Seat(node="n1", devices=(0,)), address="service/vision/chat", replicas=2)
    document, _ = taken(chat)
    assert document["services"] == [
        {
            "service": "vision/chat",
            "replicas": 2,
            "pool": "dc1/h100",
            "nodes": [{"name": "n1", "devices": [{"index": 0}]}],
        }
    ]
    assert "foreign" not in document
    assert "running" not in document


def test_use_without_devices_is_told_and_never_written_as_all_devices() -> None:
    document, untold = taken(
        use("job 3", Seat(node="n1")), use("job 4", Seat(node="n2", devices=(3,)), Seat(node="n1"))
    )
    assert untold == "1 running jobs hold no devices; what they take of CPUs and memory is not written"
    assert document["foreign"] == [
        {"pool": "dc1/h100", "nodes": [{"name": "n2", "devices": [{"index": 3}]}], "owner": "vision/ann",
         "until": "unknown"}
    ]  # fmt: skip


def test_devices_that_are_only_counted_get_the_lowest_free_numbers_in_order_of_start() -> None:
    document, _ = taken(
        use("b", Seat(node="n1", count=2), started_at=AT - 1),
        use("a", Seat(node="n1", count=3), started_at=AT - 2),
        use("c", Seat(node="n1", devices=(1,)), started_at=AT),
    )
    foreign = document["foreign"]
    assert isinstance(foreign, list)
    held = [[device["index"] for device in each["nodes"][0]["devices"]] for each in foreign]
    assert held == [[0, 2, 3], [4, 5], [1]]


def test_more_devices_than_a_node_has_left_are_told() -> None:
    _, untold = taken(use("job 5", Seat(node="m1", count=3)))
    assert untold == "job 5 holds 3 devices of m1, where 2 are left"


def test_a_node_of_no_pool_is_told() -> None:
    document, untold = taken(use("job 6", Seat(node="x1", devices=(0,))))
    assert "foreign" not in document
    assert untold == "job 6 runs on x1, which no pool has; it is not written there"


def test_nodes_that_are_down_together_stand_together_and_the_longest_reason_holds() -> None:
    document, _ = taken(broken=(
        Broken(node="n1", reason="reservation maint", until=AT + 60), Broken(node="n1", reason="fan"),
        Broken(node="n2", reason="fan"), Broken(node="m1", until=AT + 60), Broken(node="x1", reason="fan"),
    ))  # fmt: skip
    assert document["down"] == [
        {"pool": "dc1/h100", "nodes": "n[1-2]", "until": "unknown", "reason": "fan"},
        {"pool": "dc1/mi300", "nodes": "m1", "until": "2026-11-30T21:21:00Z"},
    ]


def test_text_of_others_is_one_line() -> None:
    document, _ = taken(broken=(Broken(node="n1", reason="a\nb\x1b[31m"),))
    assert document["down"] == [{"pool": "dc1/h100", "nodes": "n1", "until": "unknown", "reason": "a b [31m"}]
