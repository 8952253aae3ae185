"""UC-30: a name that is too long is accepted by the server, and then nothing ever starts."""

from __future__ import annotations

from typing import Any

from renderers import kubernetes
from renderers.kubernetes.naming import dns_label, object_name
from tests.renderers.fleet import FLEET, a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import objects, schema_faults

LONGEST = "n" * 53


def jobs(*names: str, nodes: int = 1) -> list[dict[str, Any]]:
    """The Jobs of these names, each with one device on so many nodes."""
    fleet = FLEET.replace("h100-[001-004]", "h100-[001-256]")
    specs = specset_of(fleet, *(a_job(name, f"gpus: {{count: {nodes}, nodes: {nodes}}}") for name in names))
    placements = []
    for index, name in enumerate(names):
        parts = [a_node(f"h100-{number + 1:03}", index) for number in range(nodes)]
        segment = a_segment("dc1/h100", *parts, specs=specs)
        placements.append(a_placement(f"job/vision/{name}", segment, specs=specs))
    plan = plan_of(*placements, specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    return objects(result, "Job")


def test_pods_of_the_longest_name_with_128_replicas_fit_into_a_label() -> None:
    (job,) = jobs(LONGEST, nodes=128)
    name = job["metadata"]["name"]
    assert job["spec"]["completions"] == 128
    assert len(f"{name}-127-x5z2q") <= 63
    assert len(f"{name}-127") <= 63


def test_the_full_name_is_kept_in_an_annotation() -> None:
    (job,) = jobs(LONGEST)
    assert job["metadata"]["annotations"]["planner.dev/address"] == f"job/vision/{LONGEST}"
    assert all(len(value) <= 63 for value in job["metadata"]["labels"].values())


def test_a_name_of_sixty_characters_is_cut_and_marked() -> None:
    name = object_name("n" * 60, "content")
    assert name.startswith("nnnn") and len(name) <= 51


def test_a_name_of_another_alphabet_becomes_a_lower_case_label() -> None:
    assert dns_label("Vision_Team/LLM v2.1").startswith("vision-team-llm-v2-1-")
    assert object_name("Vision_Team/LLM v2.1", "c") == object_name("Vision_Team/LLM v2.1", "c")


def test_two_names_that_differ_only_at_their_end_stay_two() -> None:
    first, second = jobs("n" * 51 + "-1", "n" * 51 + "-2")
    assert first["metadata"]["name"] != second["metadata"]["name"]
    workload = "planner.dev/workload"
    assert first["metadata"]["labels"][workload] != second["metadata"]["labels"][workload]
