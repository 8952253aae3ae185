"""The frame: which renderers there are, and what they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest
import yaml

from planner.plan import Degraded, ServicePlan, ServiceStep, sealed
from planner.spec.backend import BackendType
from renderers import RENDERERS, Manifest, Rendered, render, verify
from renderers.manifest import merged
from tests.renderers.fleet import FLEET, START, a_job, a_node, a_placement, a_segment, plan_of, specset_of


def a_tree() -> Rendered:
    """A small fleet, rendered."""
    specs = specset_of(FLEET, a_job("resnet", "gpus: 2"))
    segment = a_segment("dc1/h100", a_node("h100-001", 0, 1), specs=specs)
    return render(plan_of(a_placement("job/vision/resnet", segment, specs=specs), specs=specs), specs)


def test_every_file_lies_below_its_clusters_folder_in_order() -> None:
    paths = [manifest.path for manifest in a_tree().manifests]
    assert paths == sorted(paths)
    assert all(path.startswith("dc1/") and ".." not in path for path in paths)


def test_the_same_plan_gives_the_same_bytes() -> None:
    assert a_tree() == a_tree()


def test_the_order_of_files_of_specs_does_not_matter() -> None:
    job, other = a_job("resnet", "gpus: 2"), a_job("bert", "gpus: 1")
    results = []
    for texts in ((FLEET, job, other), (other, job, FLEET)):
        specs = specset_of(*texts)
        placements = [
            a_placement(address, a_segment("dc1/h100", a_node(node, 0), specs=specs), specs=specs)
            for address, node in (("job/vision/resnet", "h100-001"), ("job/vision/bert", "h100-002"))
        ]
        results.append(render(plan_of(*placements, specs=specs), specs))
    assert results[0] == results[1]


def test_every_file_ends_with_one_line_break_and_has_no_blank_at_the_end_of_a_line() -> None:
    for manifest in a_tree().manifests:
        assert manifest.text.endswith("\n") and not manifest.text.endswith("\n\n"), manifest.path
        assert all(line == line.rstrip() for line in manifest.text.splitlines()), manifest.path


def test_each_workload_knows_its_files() -> None:
    (made,) = [manifest for manifest in a_tree().manifests if "job/vision/resnet" in manifest.addresses]
    assert made.path.startswith("dc1/vision/job-resnet-")


def test_two_files_of_one_path_are_refused() -> None:
    one = Rendered(manifests=(Manifest(path="a/b", text="1"),))
    other = Rendered(manifests=(Manifest(path="a/b", text="2"),))
    with pytest.raises(ValueError, match="'a/b'"):
        merged([one, other])


def test_what_is_degraded_is_said_once_and_in_order() -> None:
    first, second = (Degraded(address=address, backend="x", message="m") for address in ("job/a/a", "job/b/b"))
    assert merged([Rendered(degraded=(second, first)), Rendered(degraded=(first,))]).degraded == (first, second)


def test_kubernetes_is_among_the_back_ends() -> None:
    assert BackendType.KUBERNETES in RENDERERS
    assert set(RENDERERS) <= set(BackendType)


def test_importing_the_renderers_loads_no_templates() -> None:
    code = "import sys, renderers; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_files_are_held_against_the_plan_whatever_their_back_end() -> None:
    texts = [FLEET, a_job("resnet", "gpus: 2", "command: [run]"), a_job("edge", "gpus: 1", "command: [run]")]
    box = (
        "apiVersion: planner/v1\nkind: Cluster\nname: edge\nbackend: compose\n"
        "pools: [{name: box, nodes: box-1, gpus: {model: l4, count: 1}, cpus: 8, memory: 32Gi}]\n"
    )
    specs = specset_of(*texts, box)
    placements = [
        a_placement(address, a_segment(pool, a_node(node, 0), specs=specs), specs=specs)
        for address, pool, node in (
            ("job/vision/resnet", "dc1/h100", "h100-001"),
            ("job/vision/edge", "edge/box", "box-1"),
        )
    ]
    plan, later = plan_of(*placements, specs=specs), plan_of(specs=specs)
    made = render(plan, specs)

    def parse(text: str) -> list[object]:
        return list(yaml.load_all(text, Loader=yaml.CSafeLoader))

    assert verify(made, plan, specs, parse) == ()
    assert len(verify(made, later, specs, parse)) == 2


def test_a_service_has_no_files_yet_and_that_is_told() -> None:
    service = (
        "apiVersion: planner/v1\nkind: Service\nname: chat\nteam: nlp\nimage: r/s:1\ncommand: [serve]\ngpus: 1\n"
        "load: [{when: otherwise, qps: 1}]\nservice_time: 100ms\nlatency_target: 1s\n"
    )
    hpc = FLEET.replace("backend: kubernetes", "backend: slurm", 1)
    specs = specset_of(hpc, service)
    step = ServiceStep(
        start=START,
        end="2026-12-01T01:00:00Z",
        replicas=1,
        replicas_needed=1,
        load_milliqps=1_000,
        capacity_milliqps=10_000,
        segments=(a_segment("dc1/h100", a_node("h100-001", 0), specs=specs),),
    )
    planned = ServicePlan(address="service/nlp/chat", spec="sha256:0", team="nlp", priority="P2", steps=(step,))
    plan = sealed(plan_of(specs=specs).model_copy(update={"services": (planned,)}))
    assert [item.message for item in render(plan, specs).degraded if item.address == "service/nlp/chat"] == [
        "not written: services have no files yet."
    ]
