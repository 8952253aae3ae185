"""Quota over time: trees of phases that differ only where quota does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.plan import Plan, QuotaSchedule, QuotaUse, QuotaWindow, sealed
from planner.specset.quota_terms import Terms
from planner.units import format_time, parse_time
from renderers import kubernetes
from renderers.kubernetes.terms import calendar_of
from renderers.manifest import Rendered
from tests.renderers.fleet import FLEET, HOUR, START, a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import documents, schema_faults

NIGHT = 'windows: [{when: "daily 20:00-08:00", guaranteed: 20, limit: 28, lend: 2, weight: 3}]'
BEGIN = parse_time(START, "UTC")


def fleet_with(*fields: str) -> str:
    """The fleet, with more fields for the first quota."""
    return FLEET.replace("lend: 8", "\n".join(("lend: 8", *fields)), 1)


def rendered(fleet: str, plan: Plan | None = None) -> Rendered:
    """The files of the fleet, checked against schemas and plan."""
    specs = specset_of(fleet)
    made = plan or plan_of(specs=specs)
    result = kubernetes.render(made, specs, specs.clusters[0])
    assert schema_faults(result) == []
    assert kubernetes.verify(documents(result), made, specs, specs.clusters[0], result.degraded) == ()
    return result


def phases(result: Rendered) -> dict[str, dict[str, Any]]:
    """By folder of a phase: its objects by file, without the list of them."""
    found: dict[str, dict[str, Any]] = {}
    for path, (item,) in documents(result).items():
        if path.startswith("dc1/phases/"):
            _, _, folder, name = path.split("/")
            found.setdefault(folder, {})[name] = item
    return {folder: {name: item for name, item in each.items() if "kind" in item} for folder, each in found.items()}


def nominal(item: dict[str, Any]) -> str:
    """The H100s of a queue or cohort."""
    (group,) = item["spec"]["resourceGroups"]
    (flavor,) = [each for each in group["flavors"] if each["name"] == "h100-sxm5-80gb"]
    (found,) = [each["nominalQuota"] for each in flavor["resources"] if each["name"] == "nvidia.com/gpu"]
    return str(found)


def test_a_quota_that_stays_has_no_phases() -> None:
    assert phases(rendered(FLEET)) == {}


def test_each_change_of_a_quota_begins_a_phase() -> None:
    folders = list(phases(rendered(fleet_with(NIGHT))))
    assert folders[:4] == ["20261201T000000Z", "20261201T080000Z", "20261201T200000Z", "20261202T080000Z"]
    assert len(folders) == 15


def test_phases_hold_only_what_changes() -> None:
    for tree in phases(rendered(fleet_with(NIGHT))).values():
        assert set(tree) == {"cohort-dc1-nvidia.yaml", "queue-vision-nvidia.yaml", "kustomization.yaml"}


def test_a_phase_has_the_quota_of_its_time_and_what_is_left_is_the_cohorts() -> None:
    night, day, *_ = phases(rendered(fleet_with(NIGHT))).values()
    assert (nominal(night["queue-vision-nvidia.yaml"]), nominal(night["cohort-dc1-nvidia.yaml"])) == ("20", "4")
    assert (nominal(day["queue-vision-nvidia.yaml"]), nominal(day["cohort-dc1-nvidia.yaml"])) == ("16", "8")
    assert night["queue-vision-nvidia.yaml"]["spec"]["fairSharing"] == {"weight": "3"}


def test_the_first_phase_is_what_stands_at_the_top() -> None:
    result = rendered(fleet_with(NIGHT))
    texts = {item.path: item.text for item in result.manifests}
    for name in ("cohort-dc1-nvidia.yaml", "queue-vision-nvidia.yaml"):
        assert texts[f"dc1/phases/20261201T000000Z/{name}"] == texts[f"dc1/_cluster/{name}"]


def test_the_index_lists_phases_in_order_and_kustomize_takes_each_alone() -> None:
    result = rendered(fleet_with(NIGHT))
    (index,) = [json.loads(item.text) for item in result.manifests if item.path == "dc1/index.json"]
    assert [item["start"] for item in index["phases"]][:2] == ["2026-12-01T00:00:00Z", "2026-12-01T08:00:00Z"]
    for item in index["phases"]:
        (listing,) = documents(result)[f"dc1/{item['folder']}/kustomization.yaml"]
        assert listing["resources"] == ["cohort-dc1-nvidia.yaml", "queue-vision-nvidia.yaml"]
    (top,) = documents(result)["dc1/kustomization.yaml"]
    assert not any("phases" in path for path in top["resources"])


def test_that_lowering_a_quota_stops_nothing_is_told() -> None:
    assert any("running jobs" in item.message for item in rendered(fleet_with(NIGHT)).degraded)
    assert not any("running jobs" in item.message for item in rendered(FLEET).degraded)


def test_the_plans_own_schedule_gives_the_guarantee() -> None:
    specs = specset_of(FLEET)
    times = [(0, 6, 4), (6, 168, 9)]
    windows = tuple(
        QuotaWindow(
            start=format_time(BEGIN + start * HOUR),
            end=format_time(BEGIN + end * HOUR),
            guaranteed=amount,
            used=0,
            borrowed=0,
            lent=0,
            reclaimable=0,
        )
        for start, end, amount in times
    )
    schedule = QuotaSchedule(team="vision", quota="vision-h100", reason="r", windows=windows)
    plan = sealed(plan_of(specs=specs).model_copy(update={"quota": (schedule,)}))
    found = phases(rendered(FLEET, plan))
    assert {folder: nominal(tree["queue-vision-nvidia.yaml"]) for folder, tree in found.items()} == {
        "20261201T000000Z": "4",
        "20261201T060000Z": "9",
    }


def test_a_slot_that_two_windows_touch_takes_the_stricter_value() -> None:
    window = 'windows: [{when: "daily 01:30-02:00", guaranteed: 4, limit: 32, lend: 3}]'
    specs = specset_of(fleet_with(window))
    calendar = calendar_of(specs.quota("vision-h100"), plan_of(specs=specs))
    assert calendar.at(BEGIN + HOUR) == Terms(guaranteed=4, limit=24, lend=3, weight=1)
    assert calendar.at(BEGIN + HOUR - 1) == Terms(guaranteed=16, limit=24, lend=8, weight=1)
    assert calendar.at(BEGIN + HOUR - 1) == calendar.at(BEGIN + 2 * HOUR) == calendar.at(BEGIN - 1)


@pytest.mark.parametrize(("used", "count"), [(True, 2), (False, 0)])
def test_a_divided_guarantee_moves_with_what_is_used_of_it(used: bool, count: int) -> None:
    quota = "---\napiVersion: planner/v1\nkind: Quota\nname: all\nteam: vision\nguaranteed: 12\n"
    fleet = FLEET.replace("name: vision-h100\nteam: vision", "name: nlp-2\nteam: nlp-2")
    fleet += quota + "---\napiVersion: planner/v1\nkind: Team\nname: nlp-2\n"
    specs = specset_of(fleet, a_job("x", "gpus: {count: 8, vendor: amd}", "duration: {mi300x: 2h}"))
    segment = a_segment("dc1/mi300x", a_node("mi-1", *range(8)), specs=specs)
    uses = (QuotaUse(quota="all", guaranteed=8, borrowed=0),) if used else ()
    placement = a_placement("job/vision/x", segment.model_copy(update={"quota": uses}), specs=specs)
    result = kubernetes.render(plan_of(placement, specs=specs), specs, specs.clusters[0])
    assert len(phases(result)) == count


def test_a_namespace_called_phases_is_no_phase() -> None:
    specs = specset_of(FLEET.replace("namespace: team-nlp", "namespace: phases"), a_job("x", "gpus: 1", team="nlp"))
    segment = a_segment("dc1/h100", a_node("h100-001", 0), specs=specs)
    plan = plan_of(a_placement("job/nlp/x", segment, specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert kubernetes.verify(documents(result), plan, specs, specs.clusters[0], result.degraded) == ()
    assert any(path.startswith("dc1/phases/job-nlp-x-") for path in documents(result))
