"""The program that submits: run with stand-ins for Slurm's programs that keep their queue in a file."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from planner.plan import Device, Reason, Unplaced, sealed
from planner.specset import SpecSet
from renderers.slurm import render
from renderers.slurm.submission import Step, ordered
from tests.renderers.fleet import a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.slurm.controller import Controller
from tests.renderers.slurm.site import TEAM, Site, a_chain, a_cluster, lint


def names(site: Site) -> dict[str, str]:
    """The names in the queue by the jobs' own."""
    scripts = {item.path.split(".")[-2]: item.text for item in site.rendered.manifests if item.path.endswith(".sbatch")}
    return {job: text.partition("--job-name=")[2].partition("\n")[0] for job, text in scripts.items()}


CHAIN: dict[str, tuple[str, ...]] = {"prep": (), "train": ("prep",), "eval": ("train", "prep")}


def queued(controller: Controller, site: Site, job_name: str, number: int, **fields: Any) -> None:
    """Put a job into the queue as it was submitted."""
    job = {
        "id": number,
        "state": "PENDING",
        "reason": "BeginTime",
        "name": names(site)[job_name],
        "comment": site.options(job_name).get("comment"),
        "waits": [],
        "given": {},
    }
    controller.save(jobs=[*controller.queue["jobs"], job | fields])


def test_each_job_is_submitted_after_those_that_it_waits_for(tmp_path: Path) -> None:
    controller = Controller(tmp_path, a_chain(CHAIN))
    printed = controller.submit()
    calls = controller.calls()
    assert controller.submitted() == ["prep", "train", "eval"]
    assert "--dependency" not in calls[0]
    assert "--kill-on-invalid-dep=yes --dependency=afterok:100 " in calls[1]
    assert "--dependency=afterok:100,101 ".replace(",", ":") in calls[2]
    assert [line.split(": ")[1] for line in printed] == [
        "submitted as 100",
        "submitted as 101, afterok:100",
        "submitted as 102, afterok:100:101",
    ]


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    controller = Controller(tmp_path, a_chain(CHAIN))
    controller.submit()
    printed = controller.submit()
    assert len(controller.calls()) == 3
    assert all("already queued as 10" in line for line in printed)


def test_after_a_failure_half_way_only_the_rest_is_submitted(tmp_path: Path) -> None:
    site = a_chain(CHAIN)
    controller = Controller(tmp_path, site)
    queued(controller, site, "prep", 77)
    controller.submit()
    assert controller.submitted() == ["train", "eval"]
    assert "afterok:77 " in controller.calls()[0]


def test_what_has_succeeded_is_neither_submitted_again_nor_waited_for(tmp_path: Path) -> None:
    site = a_chain(CHAIN)
    controller = Controller(tmp_path, site)
    controller.save(done=[(names(site)["prep"], 55)])
    printed = controller.submit()
    assert f"{names(site)['prep']}: has succeeded as 55" in printed
    assert "--dependency" not in controller.calls()[0]
    succeeded, failed = controller.queue["asked"]
    assert succeeded.startswith("UTC0 ")
    assert "--state=COMPLETED --starttime=2026-10-02T00:00:00 " in succeeded
    assert "--starttime=2026-12-01T00:00:00 " in failed


def test_what_has_failed_under_this_plan_is_left_to_the_next_and_its_children_wait(tmp_path: Path) -> None:
    site = a_chain({**CHAIN, "other": ()})
    controller = Controller(tmp_path, site)
    controller.save(failed=[(names(site)["train"], 55)])
    printed = controller.submit()
    assert f"{names(site)['train']}: has ended without success as 55; a new plan submits it again" in printed
    assert f"{names(site)['eval']}: not submitted, since {names(site)['train']} has not succeeded" in printed
    assert controller.submitted() == ["prep", "other"]


def test_without_an_answer_from_the_queue_nothing_is_submitted(tmp_path: Path) -> None:
    controller = Controller(tmp_path, a_chain(CHAIN))
    (tmp_path / "nosqueue").touch()
    with pytest.raises(subprocess.CalledProcessError):
        controller.submit()
    assert controller.submit(check=False) == []


def test_a_name_that_only_begins_alike_is_another_job(tmp_path: Path) -> None:
    site = a_chain({"prep": ()})
    controller = Controller(tmp_path, site)
    queued(controller, site, "prep", 9, name=f"other.{names(site)['prep']}")
    queued(controller, site, "prep", 10, name=f"{names(site)['prep']}x", state="RUNNING")
    controller.submit()
    assert controller.calls() == ["sbatch --parsable jobs/vision.prep.sbatch"]


def test_a_refused_submission_ends_the_program_with_an_error(tmp_path: Path) -> None:
    controller = Controller(tmp_path, a_chain(CHAIN))
    (tmp_path / "nosbatch").touch()
    with pytest.raises(subprocess.CalledProcessError):
        controller.submit()
    controller.submit(check=False)
    assert controller.queue["jobs"] == []


def test_without_accounting_it_warns_and_goes_on(tmp_path: Path) -> None:
    controller = Controller(tmp_path, a_chain(CHAIN))
    (tmp_path / "nosacct").touch()
    assert any("may be submitted again" in line for line in controller.submit())
    assert len(controller.calls()) == 3


def test_an_outer_jobs_variables_do_not_reach_what_is_submitted(tmp_path: Path) -> None:
    controller = Controller(tmp_path, a_chain({"prep": ()}))
    controller.submit(SLURM_MEM_PER_GPU="40G", SBATCH_PARTITION="debug", SLURM_JOB_ID="1", SLURM_CONF="/etc/slurm.conf")
    assert controller.queue["leaked"] == ["SLURM_CONF"]


def test_the_program_is_plain_sh_without_a_finding() -> None:
    site = a_chain(CHAIN)
    assert lint(site.text("submit.sh"), "sh") == ""


def test_all_elements_of_an_array_are_waited_for(tmp_path: Path) -> None:
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
    assert "--dependency=afterok:100:101:102 " in controller.calls()[-1]
    assert "PLANNER_ARRAY_INDEX=2\n" in (tmp_path / "hpc/jobs/vision.sweep.2.sbatch").read_text()


def replanned(*jobs: tuple[str, int, str, str], unplaced: tuple[str, ...] = ()) -> Site:
    """A plan in which each job (name, start, node, those that it waits for) has one device."""
    specs = specset_of(
        a_cluster(), TEAM, *(documents(name, after) for name, _, _, after in jobs), *map(documents, unplaced)
    )
    placements = [
        a_placement(
            f"job/vision/{name}",
            a_segment("hpc/h100", a_node(node, Device(index=0)), specs=specs, start=start),
            specs=specs,
        )
        for name, start, node, _ in jobs
    ]
    return site_of(specs, *placements, unplaced=unplaced)


def documents(name: str, after: str = "") -> str:
    return a_job(name, "command: ['true']", "gpus: 1", f"after: [{after}]" if after else "")


def site_of(specs: SpecSet, *placements: Any, unplaced: tuple[str, ...] = ()) -> Site:
    reason = Reason(code="must-wait", subject="hpc", message="no room")
    waiting = tuple(Unplaced(address=f"job/vision/{name}", reasons=(reason,)) for name in unplaced)
    plan = sealed(plan_of(*placements, specs=specs).model_copy(update={"unplaced": waiting}))
    return Site(specs=specs, plan=plan, rendered=render(plan, specs, specs.cluster("hpc")))


FIRST = (("prep", 0, "gpu-001", ""), ("train", 2, "gpu-001", "prep"), ("gone", 0, "gpu-003", ""))
SECOND = (("prep", 1, "gpu-002", ""), ("train", 2, "gpu-001", "prep"))


def test_a_queued_job_that_is_planned_elsewhere_and_later_is_changed_and_keeps_its_place(tmp_path: Path) -> None:
    controller = Controller(tmp_path, replanned(*FIRST[:2]))
    controller.submit()
    controller.render(replanned(*SECOND))
    printed = controller.submit()
    changes = controller.calls("scontrol")
    assert changes[0] == (
        "scontrol update JobId=100 Account=vision QOS=p2 StartTime=uts1796086800 ReqNodeList=gpu-002 ExcNodeList="
    )
    assert [line.split()[-1].partition("=")[0] for line in changes] == ["ExcNodeList", "Comment"]
    assert controller.submitted() == ["prep", "train"]
    assert any("changed as 100" in line for line in printed)
    assert controller.submit()[0].endswith("already queued as 100")


def test_what_a_changed_script_does_is_submitted_anew_and_the_old_one_goes_last(tmp_path: Path) -> None:
    site = a_chain({"prep": (), "train": ("prep",)})
    controller = Controller(tmp_path, site)
    queued(controller, site, "prep", 50, comment="planner:job/vision/prep@0123456789ab+00000000.00000000")
    queued(controller, site, "train", 51, waits=[50])
    controller.submit()
    assert controller.calls() == [
        "sbatch --parsable jobs/vision.prep.sbatch",
        "scontrol update JobId=51 Dependency=afterok:100",
        "scancel 50",
    ]
    assert controller.jobs()["train"]["waits"] == ["prep"]


def test_what_runs_is_left_as_it_is(tmp_path: Path) -> None:
    site = a_chain({"prep": ()})
    controller = Controller(tmp_path, site)
    queued(controller, site, "prep", 50, state="RUNNING", comment="planner:job/vision/prep@0+0.0")
    assert controller.submit() == [f"{names(site)['prep']}: runs as 50"]
    assert controller.calls() == []


def test_what_the_plan_does_not_know_any_more_is_cancelled_unless_it_runs_or_is_of_others(tmp_path: Path) -> None:
    site = a_chain({"prep": ()})
    controller = Controller(tmp_path, site)
    queued(controller, site, "prep", 50, name="vision.gone-01234567")
    queued(controller, site, "prep", 51, name="vision.runs-01234567", state="RUNNING")
    queued(controller, site, "prep", 52, name="other.job-01234567")
    queued(controller, site, "prep", 53, name="vision.mine-01234567", comment="by hand")
    printed = controller.submit()
    assert controller.calls("scancel") == ["scancel 50"]
    assert "vision.runs-01234567: runs as 51, which the plan does not know; it is left alone" in printed


def test_a_job_that_has_no_place_is_held_once_and_goes_on_when_it_has_one(tmp_path: Path) -> None:
    controller = Controller(tmp_path, replanned(*FIRST))
    controller.submit()
    controller.render(replanned(*FIRST[:2], unplaced=("gone",)))
    controller.submit()
    assert controller.jobs()["gone"]["reason"] == "JobHeldUser"
    calls = len(controller.calls())
    controller.submit()
    assert len(controller.calls()) == calls
    controller.render(replanned(*FIRST))
    controller.submit()
    assert controller.jobs()["gone"]["reason"] == "BeginTime"
    assert len(controller.submitted()) == 3


def test_a_job_that_its_owner_holds_stays_held(tmp_path: Path) -> None:
    site = a_chain({"prep": ()})
    controller = Controller(tmp_path, site)
    queued(controller, site, "prep", 50, reason="JobHeldUser")
    controller.submit()
    assert controller.calls() == []


def test_an_array_without_a_place_is_held_element_by_element(tmp_path: Path) -> None:
    specs = specset_of(a_cluster(), TEAM, documents("prep"), a_job("sweep", "command: [a]", "gpus: 1", "array: 2"))
    placement = a_placement("job/vision/prep", a_segment("hpc/h100", a_node("gpu-001", 0), specs=specs), specs=specs)
    text = site_of(specs, placement, unplaced=("sweep",)).text("submit.sh")
    assert [line.rpartition("-")[0] for line in text.splitlines() if line.startswith("hold ")] == [
        "hold vision.sweep.0",
        "hold vision.sweep.1",
    ]


def test_killed_at_any_step_and_run_again_it_ends_where_an_unbroken_run_does(tmp_path: Path) -> None:
    def started(folder: Path) -> Controller:
        folder.mkdir()
        controller = Controller(folder, replanned(*FIRST, ("new", 4, "gpu-004", "")))
        controller.submit()
        jobs = controller.queue["jobs"]
        jobs[-1]["comment"] = jobs[-1]["comment"].replace("+", "+f")
        controller.save()
        second = replanned(*SECOND, ("new", 4, "gpu-004", "train"), unplaced=("gone",))
        controller.render(second)
        return controller

    whole = started(tmp_path / "whole")
    before = len(whole.calls())
    whole.submit()
    steps = len(whole.calls()) - before
    assert steps >= 6
    for step in range(steps):
        broken = started(tmp_path / f"killed-{step}")
        broken.save(limit=before + step)
        broken.submit(check=False)
        assert len(broken.calls()) == before + step
        broken.save(limit=-1)
        broken.submit()
        assert broken.jobs() == whole.jobs(), step


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
