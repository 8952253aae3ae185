"""`planner apply`: only what was reviewed, only while it holds, only as far as the policy allows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner import lockfile, pipeline
from planner.apply import lease
from planner.apply.recording import Recording
from planner.exits import Exit
from planner.plan import Inputs, Plan, sealed, to_json
from tests.planner.commands.conftest import PLAN, Done, Run, job

AT = "2026-12-01T00:00:00Z"
LATER = "2026-12-01T02:00:00Z"


def a_digest(path: Path) -> str:
    """The digest that a lock file names."""
    return str(json.loads(path.read_text())["digest"])


@pytest.fixture
def planned(run: Run, here: Path) -> Path:
    """The folder with a lock beside the specs."""
    assert run(*PLAN).code == Exit.OK
    return here


def applied(run: Run, *flags: str, digest: str = "", at: str = AT) -> Done:
    """Apply the lock in the folder by recording it."""
    return run("apply", "--digest", digest or a_digest(Path("plan.lock.json")), "--record", "fleet", "--at", at, *flags)


def jobs() -> set[str]:
    """The jobs that the recording has, without the hash in their names."""
    paths = (Path(key) for key in Recording(root=Path("fleet")).objects())
    return {path.stem.rpartition("-")[0] for path in paths if path.name.startswith("job-")}


def rewritten(path: Path, **inputs: Any) -> Plan:
    """Write a lock again with other inputs, under a digest that fits."""
    plan = lockfile.read(path)
    made = sealed(plan.model_copy(update={"inputs": Inputs(**{**plan.inputs.model_dump(), **inputs})}))
    lockfile.write(path, to_json(made))
    return made


def test_a_reviewed_plan_is_applied_and_a_second_time_nothing_changes(run: Run, planned: Path) -> None:
    done = applied(run)
    assert done.code == Exit.OK
    assert jobs() == {"job-a", "job-b"}
    assert done.out.endswith(" steps done\n")
    assert lockfile.read(Path("state/applied.lock.json")) == lockfile.read(Path("plan.lock.json"))
    before = {path: path.read_bytes() for path in planned.rglob("*") if path.is_file()}
    again = applied(run)
    assert (again.code, again.err) == (Exit.OK, "")
    assert again.out == f"{a_digest(Path('plan.lock.json'))} is applied: nothing had to change\n"
    assert {path: path.read_bytes() for path in planned.rglob("*") if path.is_file()} == before


def test_without_a_digest_nothing_is_applied(run: Run, planned: Path) -> None:
    done = run("apply", "--record", "fleet")
    assert done.code == Exit.USAGE
    assert "Missing option '--digest'" in done.err
    assert not Path("fleet").exists()


@pytest.mark.parametrize(
    "digest",
    [
        "",
        "sha256:",
        "sha256:41ab",
        "41ab" * 16,
        "sha256:" + "41AB" * 16,
        "sha1:" + "41ab" * 16,
        "*",
        "sha256:" + "g" * 64,
    ],
)
def test_what_is_no_digest_is_refused(digest: str, run: Run, planned: Path) -> None:
    done = run("apply", "--digest", digest, "--record", "fleet", "--at", AT)
    assert done.code == Exit.USAGE
    assert "is not a digest" in done.err
    assert not Path("fleet").exists()


def test_another_plan_than_was_reviewed_is_refused(run: Run, planned: Path) -> None:
    done = applied(run, digest="sha256:" + "41ab" * 16)
    assert done.code == Exit.STALE
    assert "is not the plan that was reviewed" in done.err
    assert not Path("fleet").exists()


def test_a_plan_that_was_edited_is_refused(run: Run, planned: Path) -> None:
    digest, lock = a_digest(Path("plan.lock.json")), Path("plan.lock.json")
    lock.write_text(lock.read_text().replace('"P2"', '"P0"'))
    done = applied(run, digest=digest)
    assert done.code == Exit.FAILURE
    assert "the plan was changed after it was made" in done.err
    assert not Path("fleet").exists()


def test_edited_specs_make_a_plan_stale(run: Run, planned: Path) -> None:
    (planned / "specs" / "jobs.yaml").write_text(job("a"))
    done = applied(run)
    assert done.code == Exit.STALE
    assert "error[PLAN701]: inputs.specs_digest: the plan says sha256:" in done.err
    assert "plan again with: planner plan specs" in done.err
    assert not Path("fleet").exists()


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("dirty", True, "only specs that are committed are applied"),
        ("planner_version", "0.9.0", "this is 0.1.0"),
        ("solver_version", "ortools 8.0", f"this has {pipeline.solver_version()}"),
        ("start", "2026-11-30T00:00:00Z", "more than 4h later"),
        ("snapshot_digest", "sha256:1", "no snapshot of now is given"),
    ],
)
def test_each_input_that_no_longer_holds_is_named(field: str, value: Any, told: str, run: Run, planned: Path) -> None:
    rewritten(Path("plan.lock.json"), **{field: value})
    done = applied(run)
    assert done.code == Exit.STALE
    assert f"error[PLAN701]: inputs.{field}: the plan says {'true' if value is True else value}, but" in done.err
    assert told in done.err
    assert not Path("fleet").exists()


def test_a_plan_is_old_one_second_after_its_longest_age(run: Run, planned: Path) -> None:
    assert applied(run, at="2026-12-01T04:00:01Z").code == Exit.STALE
    assert applied(run, at="2026-12-01T04:00:00Z").code == Exit.OK


def test_a_plan_that_does_not_follow_the_applied_one_is_refused(run: Run, planned: Path) -> None:
    first = a_digest(Path("plan.lock.json"))
    assert applied(run).code == Exit.OK
    (planned / "specs" / "jobs.yaml").write_text(job("a") + job("b", gpus=16, hours=4) + job("c"))
    Path("plan.lock.json").unlink()
    assert run(*PLAN).code == Exit.OK
    done = applied(run)
    assert done.code == Exit.STALE
    assert f"inputs.previous_digest: the plan says it follows none, but {first} is applied" in done.err
    assert "planner plan specs --lock state/applied.lock.json" in done.err
    assert run(*PLAN, "--lock", "state/applied.lock.json").code == Exit.OK
    assert applied(run).code == Exit.OK
    assert jobs() == {"job-a", "job-b", "job-c"}


def without(run: Run, text: str) -> None:
    """Apply the plan, then plan other jobs from it."""
    assert applied(run).code == Exit.OK
    Path("specs/jobs.yaml").write_text(text.replace("---\n", "", 1))
    assert run(*PLAN).code == Exit.OK


def test_running_work_is_not_stopped_unless_that_is_said(run: Run, planned: Path) -> None:
    without(run, job("a"))
    done = applied(run)
    assert done.code == Exit.BLOCKED
    assert "error[PLAN702]: safety.max_stopped: it stops 16 devices of 16 devices that run: job/vision/b;" in done.err
    assert "at most 10% may be (set by policy/default at specs/fleet.yaml:1:1)" in done.err
    assert "= if that is meant: --allow-stopped 16\n" in done.err
    assert jobs() == {"job-a", "job-b"}
    assert applied(run, "--allow-stopped", "15").code == Exit.BLOCKED
    assert applied(run, "--allow-stopped", "16").code == Exit.OK
    assert jobs() == {"job-a"}


def test_an_empty_plan_needs_a_word_of_its_own(run: Run, planned: Path) -> None:
    without(run, "")
    done = applied(run, "--allow-stopped", "999")
    assert done.code == Exit.BLOCKED
    assert "error[PLAN702]: empty: it runs nothing at all, and the applied plan runs 2" in done.err
    assert jobs() == {"job-a", "job-b"}
    assert applied(run, "--allow-stopped", "999", "--allow-empty").code == Exit.OK
    assert jobs() == set()


PROTECTED = 'labels: {planner/protected: "true"}\n'


def test_protected_work_is_not_removed_even_after_its_spec_is_gone(run: Run, planned: Path) -> None:
    (planned / "specs" / "jobs.yaml").write_text(job("a", extra=PROTECTED) + job("b"))
    Path("plan.lock.json").unlink()
    assert run(*PLAN).code == Exit.OK
    without(run, job("b"))
    done = applied(run, "--allow-stopped", "999", "--allow-moved", "999")
    assert done.code == Exit.BLOCKED
    assert "planner/protected: it removes dc1/vision/job-a-" in done.err
    assert "take the label planner/protected off job/vision/a in a change of its own" in done.err
    (planned / "specs" / "jobs.yaml").write_text(job("a") + job("b"))
    assert run(*PLAN, "--lock", "state/applied.lock.json").code == Exit.OK
    assert applied(run, "--allow-stopped", "999", "--allow-moved", "999").code == Exit.OK
    without(run, job("b"))
    assert applied(run, "--allow-stopped", "999", "--allow-moved", "999").code == Exit.OK
    assert jobs() == {"job-b"}


def test_a_dry_run_shows_the_calls_and_changes_nothing(run: Run, planned: Path) -> None:
    done = run("apply", "--digest", a_digest(Path("plan.lock.json")), "--at", AT, "--dry-run")
    assert done.code == Exit.OK
    assert "kubectl --context=dc1 apply --server-side" in done.out
    assert "kubectl --context=dc1 create --field-manager=gpu-fleet-planner" in done.out
    assert done.out.endswith("steps would be done; nothing was changed\n")
    assert not Path("state").exists()
    other = run("apply", "--digest", a_digest(Path("plan.lock.json")), "--at", AT, "--dry-run", "--context", "dc1=prod")
    assert "kubectl --context=prod apply" in other.out
    assert "--context=dc1" not in other.out


def test_an_empty_context_leaves_the_cluster_to_kubectl(run: Run, planned: Path) -> None:
    digest = a_digest(Path("plan.lock.json"))
    done = run("apply", "--digest", digest, "--at", AT, "--dry-run", "--context", "dc1=")
    assert "    kubectl apply --server-side" in done.out
    assert "--context" not in done.out


@pytest.mark.parametrize("word", ["prod", "dc9=prod", "dc9="])
def test_a_context_is_for_a_cluster_of_the_specs(word: str, run: Run, planned: Path) -> None:
    done = applied(run, "--context", word)
    assert done.code == Exit.USAGE
    assert "is not CLUSTER=NAME" in done.err


def test_while_another_run_holds_the_lock_nothing_is_applied(run: Run, planned: Path) -> None:
    held = lease.take(Path("state/apply.lock"), "ann@ci", "apply of sha256:1", lambda: 2_000_000_000)
    done = applied(run)
    assert done.code == Exit.BUSY
    assert "ann@ci has held it since 2033-05-18T03:33:20Z for apply of sha256:1" in done.err
    assert not Path("fleet").exists()
    held.release()
    assert applied(run).code == Exit.OK


def test_a_plan_of_a_failed_cluster_says_how_to_go_on(run: Run, planned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_folder = planned / "bin"
    bin_folder.mkdir()
    kubectl = bin_folder / "kubectl"
    kubectl.write_text(
        '#!/bin/sh\ncase "$*" in *get*) exit 0;; *create*) echo "no: $VAULT_TOKEN" >&2; exit 1;; esac\nexit 0\n'
    )
    kubectl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_folder}:/usr/bin:/bin")
    monkeypatch.setenv("VAULT_TOKEN", "s3cr3t-word")
    digest = a_digest(Path("plan.lock.json"))
    done = run("apply", "--digest", digest, "--at", AT)
    assert done.code == Exit.PARTIAL
    assert "error[PLAN703]: put dc1/vision/job-a-" in done.err
    assert "no: ***" in done.err
    assert f"this goes on from there: planner apply plan.lock.json --digest {digest} --specs specs" in done.err
    state = "".join(path.read_text() for path in Path("state").rglob("*") if path.is_file())
    assert "s3cr3t-word" not in done.err + done.out + state
    kubectl.write_text("#!/bin/sh\nexit 0\n")
    done = run("apply", "--digest", digest, "--at", AT)
    assert done.code == Exit.OK
    assert "2 steps done, " in done.out
    assert "by an earlier run" in done.out
