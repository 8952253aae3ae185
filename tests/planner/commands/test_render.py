"""`planner render`: the manifests of what was planned, in a folder of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from planner.exits import Exit
from planner.outfolder import INDEX
from planner.plan import Plan
from planner.specset import SpecSet
from tests.planner.commands.conftest import PLAN, Run, job


@pytest.fixture
def planned(run: Run, here: Path) -> Path:
    """The folder with a lock beside the specs."""
    assert run(*PLAN).code == Exit.OK
    return here


def files(root: Path) -> set[str]:
    """Every file below a folder but the index."""
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and path.name != INDEX}


def test_manifests_are_written_once_and_then_stay(run: Run, planned: Path) -> None:
    done = run("render", "plan.lock.json", "--out", "build/manifests")
    assert done.code == Exit.OK
    written = files(planned / "build" / "manifests")
    assert written
    assert all(path.startswith("dc1/") for path in written)
    assert f"build/manifests holds {len(written)} files: {len(written)} new" in done.out
    assert run("render", "plan.lock.json", "--out", "build/manifests").out.endswith("all as they were\n")


def test_check_writes_nothing_and_ends_with_2_on_a_difference(run: Run, planned: Path) -> None:
    assert run("render", "--out", "m", "--check").code == Exit.CHANGES
    assert not (planned / "m").exists()
    run("render", "--out", "m")
    assert run("render", "--out", "m", "--check").code == Exit.OK
    victim = planned / "m" / min(files(planned / "m"))
    victim.write_text("edited by hand")
    done = run("render", "--out", "m", "--check")
    assert done.code == Exit.CHANGES
    assert done.out.startswith(f"~ {min(files(planned / 'm'))}\n")
    assert victim.read_text() == "edited by hand"


def test_other_specs_than_were_planned_are_refused(run: Run, planned: Path) -> None:
    (planned / "specs" / "more.yaml").write_text(job("c"))
    done = run("render", "--out", "m")
    assert (done.code, done.out) == (Exit.STALE, "")
    assert "plan again with: planner plan specs" in done.err
    assert not (planned / "m").exists()


def test_a_job_that_is_gone_takes_its_manifests_along(run: Run, planned: Path) -> None:
    run("render", "--out", "m")
    before = files(planned / "m")
    (planned / "specs" / "jobs.yaml").write_text(job("a").replace("---\n", "", 1))
    run(*PLAN)
    run("render", "--out", "m")
    assert files(planned / "m") < before


def test_a_target_is_a_cluster_of_the_specs(run: Run, planned: Path) -> None:
    assert run("render", "--out", "m", "--target", "dc1").code == Exit.OK
    done = run("render", "--out", "m", "--target", "dc9")
    assert done.code == Exit.USAGE
    assert "there are: dc1" in done.err


def test_a_folder_of_somebody_else_is_left_alone(run: Run, planned: Path) -> None:
    run("render", "--out", "m")
    name = min(files(planned / "m"))
    (planned / "mine" / name).parent.mkdir(parents=True)
    (planned / "mine" / name).write_text("mine")
    done = run("render", "--out", "mine")
    assert done.code == Exit.FAILURE
    assert "was not rendered here" in done.err
    assert files(planned / "mine") == {name}


def test_manifests_that_are_not_what_was_planned_are_not_written(
    run: Run, planned: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import renderers
    from renderers import Rendered

    made = renderers.render

    def dropping(plan: Plan, specset: SpecSet) -> Rendered:
        result = made(plan, specset)
        return replace(result, manifests=tuple(item for item in result.manifests if "/job-" not in item.path))

    monkeypatch.setattr(renderers, "render", dropping)
    done = run("render", "--out", "m")
    assert done.code == Exit.FAILURE
    assert "nothing was written" in done.err
    assert not (planned / "m").exists()
