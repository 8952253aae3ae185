"""The program that submits: run with stand-ins for Slurm's programs that keep their queue in a file."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from renderers.slurm.submission import Step, ordered
from tests.renderers.fleet import a_job
from tests.renderers.slurm.site import Site, a_chain, lint

SBATCH = """#!/bin/sh
[ ! -e "$STATE/broken" ] || exit 1
for last; do :; done
id=$(( $(wc -l < "$STATE/queue") + 100 ))
name=$(sed -n 's/^#SBATCH --job-name=//p' "$last" | head -n 1)
echo "$name $id" >> "$STATE/queue"
echo "$*" >> "$STATE/calls"
env | grep -E '^(SLURM|SBATCH)_' >> "$STATE/leaked"
echo "$id;hpc"
"""
SQUEUE = '#!/bin/sh\n[ ! -e "$STATE/nosqueue" ] || exit 1\ncat "$STATE/queue"\n'
SACCT = """#!/bin/sh
[ ! -e "$STATE/nosacct" ] || exit 1
echo "$TZ $*" >> "$STATE/asked"
case $* in *--state=COMPLETED*) cat "$STATE/done" ;; *) cat "$STATE/failed" ;; esac
"""


class Controller:
    """A folder with rendered files and programs that act as Slurm's."""

    def __init__(self, folder: Path, site: Site) -> None:
        self.folder = folder
        for manifest in site.rendered.manifests:
            path = folder / manifest.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(manifest.text)
            path.chmod(0o755 if manifest.executable else 0o644)
        for name, text in (("sbatch", SBATCH), ("squeue", SQUEUE), ("sacct", SACCT)):
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        for name in ("queue", "done", "failed", "asked", "calls", "leaked"):
            (folder / name).write_text("")

    def submit(self, *, check: bool = True, **environment: str) -> list[str]:
        """Run the program; the lines that it prints."""
        base = {"PATH": f"{self.folder}:{os.environ['PATH']}", "STATE": str(self.folder)}
        done = subprocess.run(
            [self.folder / "hpc" / "submit.sh"], env=base | environment, text=True, capture_output=True, check=check
        )
        return done.stdout.splitlines() + done.stderr.splitlines()

    def lines(self, name: str) -> list[str]:
        """The lines of a file of the controller."""
        return (self.folder / name).read_text().splitlines()


def names(site: Site) -> dict[str, str]:
    """The names in the queue by the jobs' own."""
    scripts = {item.path.split(".")[-2]: item.text for item in site.rendered.manifests if item.path.endswith(".sbatch")}
    return {job: text.partition("--job-name=")[2].partition("\n")[0] for job, text in scripts.items()}


CHAIN: dict[str, tuple[str, ...]] = {"prep": (), "train": ("prep",), "eval": ("train", "prep")}


def test_each_job_is_submitted_after_those_that_it_waits_for(tmp_path: Path) -> None:
    controller = Controller(tmp_path, a_chain(CHAIN))
    printed = controller.submit()
    calls = controller.lines("calls")
    assert [line.rpartition(".sbatch")[0].rpartition(".")[2] for line in calls] == ["prep", "train", "eval"]
    assert "--dependency" not in calls[0]
    assert "--kill-on-invalid-dep=yes --dependency=afterok:100 " in calls[1]
    assert "--dependency=afterok:100:101 " in calls[2]
    assert [line.split(": ")[1] for line in printed] == [
        "submitted as 100",
        "submitted as 101, afterok:100",
        "submitted as 102, afterok:100:101",
    ]


def test_a_second_run_submits_nothing(tmp_path: Path) -> None:
    controller = Controller(tmp_path, a_chain(CHAIN))
    controller.submit()
    printed = controller.submit()
    assert len(controller.lines("calls")) == 3
    assert all("already queued as 10" in line for line in printed)


def test_after_a_failure_half_way_only_the_rest_is_submitted(tmp_path: Path) -> None:
    site = a_chain(CHAIN)
    controller = Controller(tmp_path, site)
    (tmp_path / "queue").write_text(f"{names(site)['prep']} 77\n")
    controller.submit()
    assert [line.rpartition(".sbatch")[0].rpartition(".")[2] for line in controller.lines("calls")] == ["train", "eval"]
    assert "afterok:77 " in controller.lines("calls")[0]


def test_what_has_succeeded_is_neither_submitted_again_nor_waited_for(tmp_path: Path) -> None:
    site = a_chain(CHAIN)
    controller = Controller(tmp_path, site)
    (tmp_path / "done").write_text(f"{names(site)['prep']} 55\n")
    printed = controller.submit()
    assert f"{names(site)['prep']}: has succeeded as 55" in printed
    assert "--dependency" not in controller.lines("calls")[0]
    succeeded, failed = controller.lines("asked")
    assert succeeded.startswith("UTC0 ")
    assert "--state=COMPLETED --starttime=2026-10-02T00:00:00 " in succeeded
    assert "--starttime=2026-12-01T00:00:00 " in failed


def test_what_has_failed_under_this_plan_is_left_to_the_next_and_its_children_wait(tmp_path: Path) -> None:
    site = a_chain({**CHAIN, "other": ()})
    controller = Controller(tmp_path, site)
    (tmp_path / "failed").write_text(f"{names(site)['train']} 55\n")
    printed = controller.submit()
    assert f"{names(site)['train']}: has ended without success as 55; a new plan submits it again" in printed
    assert f"{names(site)['eval']}: not submitted, since {names(site)['train']} has not succeeded" in printed
    assert [line.rpartition(".sbatch")[0].rpartition(".")[2] for line in controller.lines("calls")] == ["prep", "other"]


def test_without_an_answer_from_the_queue_nothing_is_submitted(tmp_path: Path) -> None:
    controller = Controller(tmp_path, a_chain(CHAIN))
    (tmp_path / "nosqueue").touch()
    with pytest.raises(subprocess.CalledProcessError):
        controller.submit()
    assert controller.lines("calls") == []


def test_a_name_that_only_begins_alike_is_another_job(tmp_path: Path) -> None:
    site = a_chain({"prep": ()})
    controller = Controller(tmp_path, site)
    (tmp_path / "queue").write_text(f"{names(site)['prep']}x 9\n")
    controller.submit()
    assert len(controller.lines("calls")) == 1


def test_a_refused_submission_ends_the_program_with_an_error(tmp_path: Path) -> None:
    controller = Controller(tmp_path, a_chain(CHAIN))
    (tmp_path / "broken").touch()
    with pytest.raises(subprocess.CalledProcessError):
        controller.submit()
    assert controller.lines("calls") == []


def test_without_accounting_it_warns_and_goes_on(tmp_path: Path) -> None:
    controller = Controller(tmp_path, a_chain(CHAIN))
    (tmp_path / "nosacct").touch()
    assert any("may be submitted again" in line for line in controller.submit())
    assert len(controller.lines("calls")) == 3


def test_an_outer_jobs_variables_do_not_reach_what_is_submitted(tmp_path: Path) -> None:
    controller = Controller(tmp_path, a_chain({"prep": ()}))
    controller.submit(SLURM_MEM_PER_GPU="40G", SBATCH_PARTITION="debug", SLURM_JOB_ID="1", SLURM_CONF="/etc/slurm.conf")
    assert controller.lines("leaked") == ["SLURM_CONF=/etc/slurm.conf"]


def test_the_program_is_plain_sh_without_a_finding() -> None:
    site = a_chain(CHAIN)
    assert lint(site.text("submit.sh"), "sh") == ""


def test_all_elements_of_an_array_are_waited_for(tmp_path: Path) -> None:
    from renderers.slurm import render
    from tests.renderers.fleet import a_node, a_placement, a_segment, plan_of, specset_of
    from tests.renderers.slurm.site import TEAM, a_cluster

    specs = specset_of(
        a_cluster(),
        TEAM,
        a_job("sweep", "command: [a]", "gpus: 1", "array: 3"),
        a_job("last", "command: [a]", "gpus: 1", "after: [sweep]"),
    )
    addresses = [*(f"job/vision/sweep[{index}]" for index in range(3)), "job/vision/last"]
    placements = [
        a_placement(address, a_segment("hpc/h100", a_node("gpu-001", 0), specs=specs, start=2 * number), specs=specs)
        for number, address in enumerate(addresses)
    ]
    plan = plan_of(*placements, specs=specs)
    controller = Controller(tmp_path, Site(specs=specs, plan=plan, rendered=render(plan, specs, specs.cluster("hpc"))))
    controller.submit()
    assert "--dependency=afterok:100:101:102 " in controller.lines("calls")[-1]
    assert "PLANNER_ARRAY_INDEX=2\n" in (tmp_path / "hpc/jobs/vision.sweep.2.sbatch").read_text()


def a_step(name: str, *after: str, start: int = 0) -> Step:
    """A submission of that name."""
    return Step(address=name, start=start, name=name, file=name, after=after)


def test_steps_come_after_their_parents_and_else_by_start_and_address() -> None:
    steps = (a_step("a", "z"), a_step("d"), a_step("z", start=9), a_step("c", "a", "d"), a_step("b", start=1))
    assert [step.name for step in ordered(steps)] == ["z", "a", "d", "c", "b"]
    assert ordered(steps) == ordered(steps[::-1])


def test_a_chain_longer_than_pythons_stack_is_ordered() -> None:
    steps = tuple(a_step(f"{index:05}", f"{index + 1:05}") for index in range(5_000))
    assert [step.name for step in ordered(steps)] == [f"{index:05}" for index in reversed(range(5_000))]


def test_a_parent_that_runs_elsewhere_is_not_waited_for_and_that_is_said() -> None:
    from tests.renderers.fleet import FLEET

    other = FLEET.replace("name: vision\n---", "name: other\n---", 1).replace("team: vision", "team: other")
    site = a_chain({"train": ()}, extra=(other, a_job("prep", "command: [a]", "gpus: 1", team="nlp")))
    specs_with = a_chain({"train": ("nlp/prep",)}, extra=(other, a_job("prep", "command: [a]", "gpus: 1", team="nlp")))
    assert site.messages() == []
    assert specs_with.messages() == [
        "job/nlp/prep does not run in this cluster: only the planned start makes it wait for that job"
    ]
