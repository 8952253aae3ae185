"""`planner plan`: files in, a lock and a report out, the same each time."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from planner import lockfile, pipeline
from planner.exits import Exit
from planner.plan import Plan
from tests.planner.commands.conftest import PLAN, Run, job, process


def the_lock(here: Path) -> Plan:
    """The lock that was written beside the specs."""
    return lockfile.read(here / "plan.lock.json")


def test_the_lock_stands_beside_the_specs_and_show_prints_the_same(run: Run, here: Path) -> None:
    done = run(*PLAN, "--full")
    assert done.code == Exit.OK
    assert [item.address for item in the_lock(here).placements] == ["job/vision/a", "job/vision/b"]
    assert run("show", "plan.lock.json", "--full").out == done.out


def test_the_same_files_give_the_same_bytes(run: Run, here: Path) -> None:
    run(*PLAN, "--out", "one.json")
    run(*PLAN, "--out", "two.json")
    assert (here / "one.json").read_bytes() == (here / "two.json").read_bytes()


def test_stdout_carries_the_result_and_stderr_the_progress(run: Run, here: Path) -> None:
    done = run(*PLAN, "--format", "json")
    assert done.out == (here / "plan.lock.json").read_text()
    assert "\x1b" not in done.err


def test_the_previous_lock_is_taken_from_where_it_lies(run: Run, here: Path) -> None:
    run(*PLAN)
    first = the_lock(here)
    run(*PLAN)
    assert the_lock(here).inputs.previous_digest == first.digest
    run(*PLAN, "--out", "elsewhere.json", "--lock", "plan.lock.json")
    assert lockfile.read(here / "elsewhere.json").placements == first.placements


def test_changes_are_in_the_exit_code_only_when_asked_for(run: Run, here: Path) -> None:
    assert run(*PLAN, "--detailed-exitcode").code == Exit.CHANGES
    assert run(*PLAN, "--detailed-exitcode").code == Exit.OK
    (here / "specs" / "more.yaml").write_text(job("c"))
    assert run(*PLAN, "--out", "new.json").code == Exit.OK
    assert run(*PLAN, "--detailed-exitcode").code == Exit.CHANGES


def test_required_work_without_a_place_ends_with_4_and_the_plan_is_written(run: Run, here: Path) -> None:
    crowded = "".join(job(f"p0-{number}", gpus=16, hours=30, extra="required: true\n") for number in range(2))
    (here / "specs" / "jobs.yaml").write_text(crowded.replace("---\n", "", 1))
    (here / "specs" / "fleet.yaml").write_text((here / "specs" / "fleet.yaml").read_text().replace("2d", "1d"))
    done = run(*PLAN, "--detailed-exitcode")
    assert done.code == Exit.UNSATISFIED
    assert not the_lock(here).status.complete
    assert "required work has no place" in done.out


def test_invalid_specs_end_with_3_and_leave_the_old_lock(run: Run, here: Path) -> None:
    run(*PLAN)
    before = (here / "plan.lock.json").read_bytes()
    (here / "specs" / "bad.yaml").write_text("apiVersion: planner/v1\nkind: Team\nname: Bad Name\n")
    done = run(*PLAN)
    assert (done.code, done.out) == (Exit.INVALID, "")
    assert "specs/bad.yaml:3:7" in done.err
    assert (here / "plan.lock.json").read_bytes() == before


def test_a_plan_without_any_start_asks_for_one(run: Run, here: Path) -> None:
    fleet = here / "specs" / "fleet.yaml"
    fleet.write_text(fleet.read_text().replace("start: 2026-12-01T00:00:00Z, ", ""))
    done = run(*PLAN)
    assert done.code == Exit.USAGE
    assert "--at" in done.err
    assert run(*PLAN, "--at", "2026-12-05").code == Exit.OK
    assert the_lock(here).inputs.start == "2026-12-05T00:00:00Z"


@pytest.mark.parametrize("at", ["10:30", "tomorrow", "2026-13-01", ""])
def test_a_start_that_is_no_time_is_refused(run: Run, at: str) -> None:
    done = run(*PLAN, "--at", at)
    assert done.code == Exit.USAGE
    assert "--at" in done.err


@pytest.mark.parametrize("what", ["problem", "solution"])
def test_what_the_solver_sees_and_says_can_be_printed(run: Run, here: Path, what: str) -> None:
    done = run(*PLAN, "--emit", what)
    assert done.code == Exit.OK
    assert isinstance(json.loads(done.out), dict)
    assert not (here / "plan.lock.json").exists()


def test_an_answer_that_fails_its_check_is_kept_and_never_a_plan(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_options: object) -> pipeline.PlanResult:
        raise pipeline.WrongSolution("node h100-001 is used twice", '{"problem": {}}')

    monkeypatch.setattr(pipeline, "plan", fail)
    done = run(*PLAN)
    assert done.code == Exit.FAILURE
    assert "planner-failure.json" in done.err
    assert (here / "planner-failure.json").read_text() == '{"problem": {}}'
    assert not (here / "plan.lock.json").exists()


# A plan during which somebody presses Ctrl-C: the signal arrives when the solver first tells of itself.
PRESSED = """
import os, signal, sys
from planner import pipeline
from planner.cli import main
plan = pipeline.plan
def pressed(specset, *, progress, stop, **rest):
    done = []
    def tell(step):
        progress(step)
        if not done:
            done.append(os.kill(os.getpid(), signal.SIGINT))
            assert stop()
            if "twice" in sys.argv[1]:
                os.kill(os.getpid(), signal.SIGINT)
    return plan(specset, progress=tell, stop=stop, **rest)
pipeline.plan = pressed
sys.exit(main(["plan", "--budget", "0"]))
"""


def test_ctrl_c_shows_the_best_plan_so_far_and_leaves_the_old_lock(here: Path) -> None:
    started = process(here, ["once"], PRESSED)
    out, err = started.communicate()
    assert started.returncode == Exit.INTERRUPTED, err
    assert out.startswith("Plan ")
    assert "interrupted: this is the best plan so far; plan.lock.json was not written" in err
    assert sorted(path.name for path in here.iterdir()) == ["specs"]


def test_a_second_ctrl_c_ends_at_once(here: Path) -> None:
    started = process(here, ["twice"], PRESSED)
    out, err = started.communicate()
    assert (started.returncode, out) == (-signal.SIGINT, "")
    assert "press Ctrl-C again" in err
    assert sorted(path.name for path in here.iterdir()) == ["specs"]


SNAPSHOT = "apiVersion: planner/v1\nkind: Snapshot\nname: now\ntaken_at: 2026-12-01T00:00:00Z\n"


def test_a_snapshot_is_read_from_its_own_file_and_sealed_into_the_plan(run: Run, here: Path) -> None:
    (here / "now.yaml").write_text(SNAPSHOT)
    run(*PLAN, "--out", "without.json")
    done = run(*PLAN, "--snapshot", "now.yaml")
    assert done.code == Exit.OK, done.err
    inputs = the_lock(here).inputs
    assert inputs.snapshot_digest is not None
    assert inputs.specs_digest == lockfile.read(here / "without.json").inputs.specs_digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds 0 documents of kind Snapshot"),
        (SNAPSHOT + "---\n" + SNAPSHOT.replace("now", "then"), "holds 2 documents of kind Snapshot"),
    ],
)
def test_a_file_that_is_not_one_snapshot_is_refused(run: Run, here: Path, text: str, message: str) -> None:
    (here / "now.yaml").write_text(text)
    done = run(*PLAN, "--snapshot", "now.yaml")
    assert done.code == Exit.USAGE
    assert message in done.err


def test_a_snapshot_that_is_invalid_or_missing_is_refused(run: Run, here: Path) -> None:
    (here / "now.yaml").write_text(SNAPSHOT + "wat: 1\n")
    assert run(*PLAN, "--snapshot", "now.yaml").code == Exit.INVALID
    assert run(*PLAN, "--snapshot", "no.yaml").code == Exit.USAGE


def test_enforce_ends_with_6_where_apply_would_and_names_the_override(run: Run, here: Path) -> None:
    assert run(*PLAN).code == Exit.OK
    (here / "specs" / "jobs.yaml").write_text(job("a"))
    later = ("--at", "2026-12-01T01:00:00Z", "--out", "next.lock.json")
    told = run(*PLAN, *later)
    assert told.code == Exit.OK
    assert "note[PLAN702]: safety.max_stopped: it stops 16 devices of 16 devices that run" in told.err
    done = run(*PLAN, *later, "--enforce")
    assert done.code == Exit.BLOCKED
    assert "error[PLAN702]: safety.max_stopped" in done.err
    assert "if that is meant: --allow-stopped 16" in done.err
    assert (here / "next.lock.json").exists()
    assert run(*PLAN, *later, "--enforce", "--allow-stopped", "15").code == Exit.BLOCKED
    meant = run(*PLAN, *later, "--enforce", "--allow-stopped", "16")
    assert (meant.code, "PLAN702" in meant.err) == (Exit.OK, False)
