"""UC-32, as rendered: whole devices, equal limits, memory in whole Mi with the written unit respected."""

from __future__ import annotations

import re
from typing import Any

import pytest

from renderers import kubernetes
from tests.renderers.fleet import FLEET, a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes.reading import container_of, job_at, schema_faults

MEMORY = re.compile(r"[1-9][0-9]*Mi")


def resources(*fields: str) -> dict[str, Any]:
    """Requests and limits of a job with two devices."""
    specs = specset_of(FLEET, a_job("resnet", "gpus: 2", *fields))
    segment = a_segment("dc1/h100", a_node("h100-001", 0, 1), specs=specs)
    plan = plan_of(a_placement("job/vision/resnet", segment, specs=specs), specs=specs)
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    found: dict[str, Any] = container_of(job_at(result, "job/vision/resnet"))["resources"]
    return found


@pytest.mark.parametrize(
    ("written", "rendered"),
    [
        ("1.2Gi", "1229Mi"),
        ("64GB", "61036Mi"),
        ("64Gi", "65536Mi"),
        ("640Gi", "655360Mi"),
        ("500Mi", "500Mi"),
        ("500MB", "477Mi"),
    ],
)
def test_memory_is_whole_mebibytes_of_what_was_written(written: str, rendered: str) -> None:
    found = resources(f"memory: {written}")
    assert found["limits"]["memory"] == found["requests"]["memory"] == rendered


def test_devices_are_whole_numbers_as_text_and_equal_in_limits_and_requests() -> None:
    found = resources()
    assert found["limits"]["nvidia.com/gpu"] == found["requests"]["nvidia.com/gpu"] == "2"


def test_every_quantity_is_a_whole_number_as_text() -> None:
    for amounts in resources().values():
        for name, amount in amounts.items():
            assert MEMORY.fullmatch(amount) if name == "memory" else amount.isdigit()
