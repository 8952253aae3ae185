"""A real Prometheus with the metrics of both vendors' exporters: what it tells of use and of the lengths of runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from planner.discovery.past import Run
from planner.discovery.prometheus import answers
from planner.discovery.usage import measured, metered, uses_in
from tests.e2e.labs.processes import wait_for
from tests.e2e.labs.prometheus import exporter, running_prometheus

WINDOW_SECONDS = 600
RUN_SECONDS = 6
MARGIN_SECONDS = 4
AMD = 'gpu_gfx_activity{gpu_id="0",hostname="n2",pod="bert-0",namespace="nlp",job_id=""}'
SLURM = 'gpu_gfx_activity{gpu_id="1",hostname="n2",pod="",namespace="",job_id="9"}'


def nvidia(metric: str, pod: str, gpu: int) -> str:
    return f'{metric}{{gpu="{gpu}",UUID="GPU-{gpu}",Hostname="n1",namespace="vision",pod="{pod}",container="main"}}'


@dataclass
class Devices:
    """What the exporters tell at this moment."""

    lines: list[str] = field(default_factory=list)

    def text(self) -> str:
        return "\n".join([*self.lines, ""])


@dataclass(frozen=True, slots=True, kw_only=True)
class Metered:
    """What was read of a server: the mean uses, and the runs that were seen."""

    uses: dict[str, list[int]]
    runs: dict[str, Run]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metered]:
    """One run that begins and ends while the server looks, and others that go on."""
    devices = Devices(lines=[f"{AMD} 50", f"{SLURM} 3", nvidia("DCGM_FI_DEV_GPU_UTIL", "idle-0", 7) + " 1"])
    with exporter(devices.text) as port, running_prometheus(tmp_path_factory.mktemp("prometheus"), port) as url:
        since = int(time.time())
        wait_for(lambda: len(measured(uses_in(answers(url, WINDOW_SECONDS, int(time.time()))))) >= 3, "a scrape")
        time.sleep(MARGIN_SECONDS)
        trained = [
            nvidia("DCGM_FI_DEV_GPU_UTIL", "resnet-0", 0) + " 10",
            nvidia("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "resnet-0", 0) + " 0.9",
            nvidia("DCGM_FI_PROF_GR_ENGINE_ACTIVE", "resnet-0", 1) + " 0.7",
        ]
        before = list(devices.lines)
        devices.lines = [*before, *trained]
        time.sleep(RUN_SECONDS)
        devices.lines = before
        time.sleep(2 * MARGIN_SECONDS)
        now = int(time.time())
        told = answers(url, WINDOW_SECONDS, now)
        uses: dict[str, list[int]] = {}
        for one in measured(uses_in(told)):
            uses.setdefault(one.part, []).append(one.permille)
        yield Metered(uses=uses, runs={run.part: run for run in metered(told, (), since, now, MARGIN_SECONDS)})


def test_devices_of_both_vendors_are_told_by_pod_and_by_job(found: Metered) -> None:
    assert set(found.uses) == {"vision/idle-0", "vision/resnet-0", "nlp/bert-0", "job 9"}
    assert (found.uses["nlp/bert-0"], found.uses["job 9"], found.uses["vision/idle-0"]) == ([500], [30], [10])


def test_of_two_metrics_of_one_device_the_better_counts(found: Metered) -> None:
    assert found.uses["vision/resnet-0"] == [700, 900]


def test_a_run_that_began_and_ended_has_the_length_that_was_seen(found: Metered) -> None:
    seconds = found.runs["vision/resnet-0"].seconds
    assert seconds is not None
    assert RUN_SECONDS - 2 <= seconds <= RUN_SECONDS + 2


def test_a_run_that_goes_on_has_no_length_yet(found: Metered) -> None:
    assert found.runs["nlp/bert-0"].seconds is None
