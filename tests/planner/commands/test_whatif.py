"""`planner whatif`: what a change would do, told and not made."""

from __future__ import annotations

import json
from pathlib import Path

from planner.exits import Exit
from tests.planner.commands.conftest import PLAN, Run, job

LOOK = ("whatif", "--budget", "0")


def contents() -> dict[str, bytes]:
    """Every file of the folder."""
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def test_what_a_field_would_do_is_told_and_no_file_is_written(run: Run, here: Path) -> None:
    assert run(*PLAN).code == Exit.OK
    before = contents()
    done = run(*LOOK, "--set", "job/vision/a.gpus=16", "--format", "json")
    assert done.code == Exit.OK, done.err
    found = json.loads(done.out)
    assert found["specs"][0]["address"] == "job/vision/a"
    assert {item["address"]: item["after"]["gpus"] for item in found["jobs"]}["job/vision/a"] == 16
    assert contents() == before


def test_specs_are_added_and_left_out(run: Run, here: Path) -> None:
    (here / "more.yaml").write_text(job("c"))
    done = run(*LOOK, "--add", "more.yaml", "--remove", "job/vision/b")
    assert done.code == Exit.OK, done.err
    assert "+ 1 new" in done.out
    assert "- 1 gone" in done.out
    assert not (here / "plan.lock.json").exists()


def test_a_required_job_that_would_have_no_place_ends_with_4(run: Run, here: Path) -> None:
    (here / "more.yaml").write_text(
        "".join(job(f"c{number}", gpus=16, hours=30, extra="required: true\n") for number in range(3))
    )
    assert run(*LOOK, "--add", "more.yaml").code == Exit.UNSATISFIED


def test_what_would_be_invalid_is_told_with_its_place(run: Run, here: Path) -> None:
    done = run(*LOOK, "--set", "job/vision/a.gpuz=16")
    assert done.code == Exit.INVALID
    assert "did you mean 'gpus'?" in done.err
