"""UC-34: services of a shared host name their devices by id, as text, with the capability, and never by count."""

from __future__ import annotations

from typing import Any

from tests.renderers.compose.edge import GREEN, Edge, a_cluster, an_edge, several
from tests.renderers.fleet import a_node


def request(edge: Edge, name: str) -> Any:
    """The device request of a job's service."""
    (found,) = edge.service(name)["deploy"]["resources"]["reservations"]["devices"]
    return found


def test_two_jobs_of_one_host_never_overlap() -> None:
    edge = several(
        {
            "a": (("command: [a]", "gpus: 2"), (a_node("till-nv", 0, 1),), "green", 0),
            "b": (("command: [b]", "gpus: 2"), (a_node("till-nv", 2, 3),), "green", 0),
        }
    )
    assert request(edge, "a") == {"driver": "nvidia", "device_ids": ["0", "1"], "capabilities": ["gpu"]}
    assert request(edge, "b") == {"driver": "nvidia", "device_ids": ["2", "3"], "capabilities": ["gpu"]}
    assert edge.faults() == ()


def test_one_of_four_is_one_id_and_not_all() -> None:
    edge = an_edge("gpus: 1", node=a_node("till-nv", 2))
    assert request(edge, "job") == {"driver": "nvidia", "device_ids": ["2"], "capabilities": ["gpu"]}
    assert "count" not in edge.rendered.manifests[0].text
    assert "gpus:" not in edge.rendered.manifests[0].text


def test_ids_by_uuid_where_the_pool_knows_them() -> None:
    gpus = "{model: l4, count: 4, uuids: {till-nv: [GPU-0a, GPU-1b, GPU-2c, GPU-3d]}}"
    cluster = a_cluster(GREEN.replace("{model: l4, count: 4}", gpus))
    edge = an_edge("gpus: 2", node=a_node("till-nv", 0, 3), cluster=cluster)
    assert request(edge, "job")["device_ids"] == ["GPU-0a", "GPU-3d"]
