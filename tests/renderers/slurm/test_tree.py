"""The files of a Slurm cluster: which there are, and that they are the same whenever they are made."""

from __future__ import annotations

from renderers.slurm import render
from tests.renderers.fleet import a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.slurm.site import TEAM, a_chain, a_cluster, a_site


def test_a_cluster_has_a_script_a_job_and_programs_that_submit_and_set_up_accounts() -> None:
    rendered = a_chain({"prep": (), "train": ("prep",)}).rendered
    assert [(item.path, item.addresses, item.executable) for item in rendered.manifests] == [
        ("hpc/accounts.sh", ("team/vision",), True),
        ("hpc/jobs/vision.prep.sbatch", ("job/vision/prep",), True),
        ("hpc/jobs/vision.train.sbatch", ("job/vision/train",), True),
        ("hpc/proposals/gres.conf", ("cluster/hpc",), False),
        ("hpc/proposals/slurm.conf", ("cluster/hpc",), False),
        ("hpc/submit.sh", ("job/vision/prep", "job/vision/train"), True),
    ]


def test_an_idle_cluster_has_no_files_and_nothing_to_say() -> None:
    specs = specset_of(a_cluster(), TEAM)
    rendered = render(plan_of(specs=specs), specs, specs.cluster("hpc"))
    assert rendered.manifests == ()
    assert rendered.degraded == ()


def test_the_same_plan_gives_the_same_bytes_and_a_text_that_ends_once() -> None:
    one, other = (a_chain({"a": (), "b": ("a",), "c": ("a", "b")}).rendered for _ in range(2))
    assert one == other
    for manifest in one.manifests:
        assert manifest.text.endswith("\n")
        assert not manifest.text.endswith("\n\n")
        assert all(line == line.rstrip() for line in manifest.text.splitlines())


def test_a_refused_job_takes_no_other_with_it() -> None:
    specs = specset_of(
        a_cluster("{type: slurm, containers: pyxis}"), TEAM,
        a_job("bad", "gpus: 1"), a_job("good", "command: [a]", "gpus: 1", "after: [bad]"),
    )  # fmt: skip
    placements = [
        a_placement(
            f"job/vision/{name}", a_segment("hpc/h100", a_node("gpu-001", 0), specs=specs, start=2 * index), specs=specs
        )
        for index, name in enumerate(("bad", "good"))
    ]
    rendered = render(plan_of(*placements, specs=specs), specs, specs.cluster("hpc"))
    assert [item.path for item in rendered.manifests] == [
        "hpc/accounts.sh",
        "hpc/jobs/vision.good.sbatch",
        "hpc/proposals/gres.conf",
        "hpc/proposals/slurm.conf",
        "hpc/submit.sh",
    ]
    said = {item.address: item.message for item in rendered.degraded if item.address.startswith("job/")}
    assert said["job/vision/bad"].startswith("not written: ")
    assert said["job/vision/good"].startswith("job/vision/bad does not run in this cluster")


def test_a_later_run_of_interrupted_work_is_left_to_the_next_plan_and_that_is_said() -> None:
    specs = specset_of(a_cluster(), TEAM, a_job("train", "command: [a]", "gpus: 1", "checkpoint: {every: 20m}"))
    segments = [a_segment("hpc/h100", a_node("gpu-001", 0), specs=specs, start=start) for start in (0, 6)]
    plan = plan_of(a_placement("job/vision/train", *segments, specs=specs), specs=specs)
    rendered = render(plan, specs, specs.cluster("hpc"))
    assert [item.path for item in rendered.manifests if item.path.endswith(".sbatch")] == [
        "hpc/jobs/vision.train.sbatch"
    ]
    assert any("only its first run is written" in item.message for item in rendered.degraded)


def test_no_line_says_when_or_by_which_plan_it_was_made() -> None:
    site = a_site("command: [a]", "gpus: 8")
    assert site.plan.digest.removeprefix("sha256:")[:8] not in site.script()
    assert site.plan.digest.removeprefix("sha256:")[:8] not in site.text("submit.sh")
