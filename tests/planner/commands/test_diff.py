"""`planner diff`: trees are planned, locks only compared, and the exit code says what the text says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from planner import lockfile
from planner.exits import Exit
from planner.plan import to_json
from tests.planner.commands.conftest import PLAN, Run, job
from tests.planner.plans import a_placement, a_plan


@pytest.fixture
def locks(here: Path) -> Path:
    """Two locks that differ in one job."""
    lockfile.write(here / "old.json", to_json(a_plan([a_placement("vision/a", 0, 6), a_placement("vision/b", 6, 9)])))
    lockfile.write(here / "new.json", to_json(a_plan([a_placement("vision/a", 0, 6), a_placement("vision/b", 8, 11)])))
    return here


@pytest.mark.parametrize(
    ("sides", "flags", "code"),
    [
        (("old.json", "new.json"), (), Exit.OK),
        (("old.json", "new.json"), ("--detailed-exitcode",), Exit.CHANGES),
        (("old.json", "old.json"), ("--detailed-exitcode",), Exit.OK),
    ],
)
def test_locks_are_compared(run: Run, locks: Path, sides: tuple[str, str], flags: tuple[str, ...], code: Exit) -> None:
    done = run("diff", *sides, *flags)
    assert (done.code, done.err) == (code, "")
    assert ("nothing changes" in done.out) is (sides[0] == sides[1])


def test_the_difference_has_a_form_for_programs(run: Run, locks: Path) -> None:
    document = json.loads(run("diff", "old.json", "new.json", "--format", "json").out)
    assert [(job["address"], job["effect"]) for job in document["jobs"]] == [("job/vision/b", "later")]


def test_a_tree_is_planned_from_the_lock_it_is_compared_with(run: Run, here: Path) -> None:
    run(*PLAN)
    before = (here / "plan.lock.json").read_bytes()
    assert run("diff", "--budget", "0", "plan.lock.json", "specs", "--detailed-exitcode").code == Exit.OK
    (here / "specs" / "more.yaml").write_text(job("c"))
    done = run("diff", "--budget", "0", "plan.lock.json", "specs", "--detailed-exitcode")
    assert done.code == Exit.CHANGES
    assert "+ 1 new   = 2 unchanged" in done.out
    assert (here / "plan.lock.json").read_bytes() == before


def test_two_trees_are_both_planned_and_a_rename_is_followed(run: Run, here: Path) -> None:
    shutil.copytree(here / "specs", here / "before")
    jobs = here / "specs" / "jobs.yaml"
    jobs.write_text(jobs.read_text().replace("name: b\n", "name: better\nformerly: [job/vision/b]\n"))
    done = run("diff", "--budget", "0", "before", "specs")
    assert done.code == Exit.OK
    assert "gone" not in done.out
    assert "was vision/b" in done.out


def test_invalid_specs_end_with_3(run: Run, here: Path) -> None:
    run(*PLAN)
    (here / "specs" / "bad.yaml").write_text("apiVersion: planner/v1\nkind: Team\nname: Bad Name\n")
    done = run("diff", "--budget", "0", "plan.lock.json", "specs")
    assert (done.code, done.out) == (Exit.INVALID, "")
