"""UC-02, on Slurm and Compose: a node of two models gives the planned one, by type or by the id of that very card."""

from __future__ import annotations

from tests.renderers.compose import edge
from tests.renderers.fleet import a_node
from tests.renderers.slurm import site

POOL = """
  - name: mixed
    nodes: [mix01]
    gpus: [{model: rtx-4090, count: 1, devices: [1]}, {model: rtx-3090, count: 1, devices: [0]}]
    cpus: 32
    memory: 128Gi
"""
JOB = ("command: [train]", "gpus: {count: 1, model: rtx-4090}")


def test_slurm_asks_for_the_type() -> None:
    options = site.a_site(*JOB, cluster=site.a_cluster(pools=POOL), pool="mixed", nodes=(a_node("mix01", 1),)).options()
    ((kind, count),) = options.gpus()
    assert kind is not None
    assert "4090" in kind
    assert count == 1


def test_compose_names_the_card() -> None:
    found = edge.an_edge(*JOB, node=a_node("mix01", 1), pool="mixed", cluster=edge.a_cluster(POOL))
    (request,) = found.service(host="mix01")["deploy"]["resources"]["reservations"]["devices"]
    assert request == {"driver": "nvidia", "device_ids": ["1"], "capabilities": ["gpu"]}
