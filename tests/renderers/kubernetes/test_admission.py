"""Kueue's arithmetic over what was rendered: what the plan starts fits into the quotas that are written with it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from renderers import Rendered, kubernetes
from tests.renderers.fleet import FLEET, a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import container_of, objects, pod_of

Key = tuple[str, str, str]


def amount(text: str) -> int:
    """Cores, MiB or pieces."""
    return int(text.removesuffix("Mi"))


def rows(item: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    """Each flavor and resource of a queue or cohort."""
    groups = item["spec"]["resourceGroups"]
    return [
        (flavor["name"], resource)
        for group in groups
        for flavor in group["flavors"]
        for resource in flavor["resources"]
    ]


def used(result: Rendered) -> Counter[Key]:
    """What all Jobs ask for together, by queue, flavor and resource; exactly one flavor selects the nodes of each."""
    flavors = {
        item["metadata"]["name"]: item["spec"].get("nodeLabels", {}) for item in objects(result, "ResourceFlavor")
    }
    found = Counter[Key]()
    for job in objects(result, "Job"):
        selector = pod_of(job).get("nodeSelector", {})
        (flavor,) = [name for name, labels in flavors.items() if labels == selector]
        queue = job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]
        for name, asked in container_of(job)["resources"]["requests"].items():
            found[queue, flavor, name] += amount(asked) * job["spec"]["completions"]
    return found


def refusals(result: Rendered) -> list[str]:
    """Why Kueue would leave some of the Jobs waiting if all were released at once."""
    asked, total, capacity, said = used(result), Counter[tuple[str, str]](), Counter[tuple[str, str]](), []
    for queue in objects(result, "ClusterQueue"):
        name = queue["metadata"]["name"]
        for flavor, resource in rows(queue):
            use, nominal = asked.pop((name, flavor, resource["name"]), 0), amount(resource["nominalQuota"])
            total[flavor, resource["name"]] += use
            capacity[flavor, resource["name"]] += nominal
            if "borrowingLimit" in resource and use > nominal + amount(resource["borrowingLimit"]):
                said.append(f"{name} asks for {use} {resource['name']} of {flavor}")
    for cohort in objects(result, "Cohort"):
        for flavor, resource in rows(cohort):
            capacity[flavor, resource["name"]] += amount(resource["nominalQuota"])
    said += [f"{use} {key} of {capacity[key]}" for key, use in total.items() if use > capacity[key]]
    return said + [f"no quota for {key}" for key in asked]


def at_once(*teams: str, fields: tuple[str, ...] = ()) -> Rendered:
    """One job of eight devices a team, each on a whole node."""
    names = [f"j{index}" for index in range(len(teams))]
    jobs = [a_job(name, "gpus: 8", *fields, team=team) for name, team in zip(names, teams, strict=True)]
    specs = specset_of(FLEET, *jobs)
    placements = [
        a_placement(
            f"job/{team}/{name}",
            a_segment("dc1/h100", a_node(f"h100-00{index + 1}", *range(8)), specs=specs),
            specs=specs,
        )
        for index, (name, team) in enumerate(zip(names, teams, strict=True))
    ]
    return kubernetes.render(plan_of(*placements, specs=specs), specs, specs.clusters[0])


@pytest.mark.parametrize(
    "teams",
    [
        ("vision",),
        ("vision", "vision", "nlp"),
        ("vision", "vision", "vision", "nlp"),
        ("nlp", "nlp", "nlp", "nlp"),
        ("nlp", "nlp", "nlp", "vision"),
    ],
)
def test_guaranteed_and_borrowed_work_is_admitted(teams: tuple[str, ...]) -> None:
    assert refusals(at_once(*teams)) == []


def test_all_of_a_nodes_cores_and_memory_are_within_the_limit_of_devices() -> None:
    whole = ("cpus: 192", "memory: 2048Gi")
    assert refusals(at_once("vision", "vision", "vision", "nlp", fields=whole)) == []


def test_what_is_above_a_limit_would_wait() -> None:
    assert refusals(at_once("vision", "vision", "vision", "vision")) == [
        "vision-nvidia asks for 32 nvidia.com/gpu of h100-sxm5-80gb"
    ]
