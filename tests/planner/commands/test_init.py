"""`planner init`: a repository that passes its own checks at once, from flags, answers or specs that exist."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import planner
from planner import catalog
from planner.compile.problem import compiled
from planner.diagnostics import as_text
from planner.exits import Exit
from planner.spec.backend import BackendType
from planner.specset import SourceFile, load
from planner.starter import Crew, Fleet, is_owner, specs
from tests.planner.commands.conftest import FLEET, PLAN, Run, job
from tests.planner.commands.test_console import Terminal

SMALL = ("--gpus", "h100-sxm5-80gb:8", "--nodes", "gpu-[01-04]")
WHOLE = (*SMALL, "--cpus", "64", "--memory", "1Ti", "--team", "vision=@acme/vision", "--team", "nlp")


def files(folder: str) -> set[str]:
    """The files below a folder."""
    return {path.relative_to(folder).as_posix() for path in Path(folder).rglob("*") if path.is_file()}


@pytest.mark.parametrize("back_end", ["kubernetes", "slurm", "compose"])
def test_a_new_repository_is_valid_and_can_be_planned(back_end: str, run: Run, here: Path) -> None:
    done = run("init", "fleet", *WHOLE, "--backend", back_end, "--platform", "@acme/platform")
    assert done.code == Exit.OK, done.err
    checked = run("validate", "fleet/specs")
    assert (checked.code, checked.out) == (Exit.OK, "valid: no errors, no warnings\n")
    planned = run(*PLAN, "fleet/specs", "--at", "2026-12-01T00:00:00Z")
    assert planned.code == Exit.OK, planned.err
    assert "1 of 1 job run" in planned.out


@pytest.mark.parametrize("model", [each.slug for each in catalog.load().accelerators])
def test_a_fleet_of_any_model_makes_valid_specs_with_a_way_to_run(model: str) -> None:
    fleet = Fleet(cluster="dc1", backend=BackendType.KUBERNETES, nodes="a", node_count=1, model=model, gpus=1)
    texts = specs(fleet, (Crew(name="vision"),))
    read = load(tuple(SourceFile(path, text.encode()) for path, text in sorted(texts.items())))
    assert read.specset is not None, as_text(read.diagnostics)
    (work,) = compiled(read.specset, start=1_796_083_200).works
    assert work.candidates


def test_people_get_owners_hooks_and_schemas(run: Run, here: Path) -> None:
    run("init", "fleet", *WHOLE, "--platform", "@acme/platform")
    owners = Path("fleet/.github/CODEOWNERS").read_text().splitlines()
    rows = dict(line.split() for line in owners if not line.startswith("#"))
    assert rows["/specs/teams/"] == rows["/specs/policy.yaml"] == rows["/.github/"] == "@acme/platform"
    assert rows["/specs/jobs/vision/"] == "@acme/vision"
    assert "/specs/jobs/nlp/" not in rows
    hook = yaml.safe_load(Path("fleet/.pre-commit-config.yaml").read_text())["repos"][0]["hooks"][0]
    assert hook["additional_dependencies"] == [f"gpu-fleet-planner=={planner.__version__}"]
    first = Path("fleet/specs/jobs/vision/hello.yaml").read_text().splitlines()[0]
    schema = Path("fleet/specs/jobs/vision", first.rpartition("=")[2])
    assert schema.is_file()


def test_without_a_platform_team_nobody_owns_quotas_and_that_is_said(run: Run, here: Path) -> None:
    done = run("init", "fleet", *SMALL)
    assert "no CODEOWNERS is written" in done.err
    assert ".github/CODEOWNERS" not in files("fleet")


def test_workflows_install_the_released_planner_and_use_what_is_in_the_repository(run: Run, here: Path) -> None:
    run("init", "fleet", *SMALL)
    workflows = {path.name: path.read_text() for path in Path("fleet/.github").rglob("*.yml")}
    assert {"plan.yml", "plan-comment.yml", "action.yml"} <= workflows.keys()
    assert {"ci.yml", "release.yml"}.isdisjoint(workflows)
    text = "\n".join(workflows.values())
    assert f'check "gpu-fleet-planner=={planner.__version__}"' in text
    assert "GITHUB_ACTION_PATH" not in text
    for workflow in workflows.values():
        for used in steps(yaml.safe_load(workflow)):
            assert not used.startswith("./") or Path("fleet", used, "action.yml").is_file(), used
    installs = [line.strip() for line in text.splitlines() if "pip install" in line]
    assert installs
    assert all(line.endswith(f'"gpu-fleet-planner=={planner.__version__}"') for line in installs)


def steps(document: dict[Any, Any]) -> list[str]:
    """What the steps of a workflow or an action use."""
    jobs = [*document.get("jobs", {}).values(), document.get("runs", {})]
    return [step["uses"] for part in jobs for step in part.get("steps", ()) if "uses" in step]


@pytest.mark.parametrize(("ci", "there", "absent"), [("gitlab", ".gitlab-ci.yml", ".github/workflows/plan.yml"),
                                                      ("none", "specs/policy.yaml", ".gitlab-ci.yml")])  # fmt: skip
def test_other_pipelines_can_be_asked_for(ci: str, there: str, absent: str, run: Run, here: Path) -> None:
    assert run("init", "fleet", *SMALL, "--ci", ci).code == Exit.OK
    assert there in files("fleet")
    assert absent not in files("fleet")


def test_files_that_exist_are_left_as_they_are(run: Run, here: Path) -> None:
    Path("README.md").write_text("mine")
    done = run("init", *SMALL)
    assert "kept   README.md\n" in done.out
    assert Path("README.md").read_text() == "mine"
    again = run("init", *SMALL)
    assert "wrote" not in again.out


def test_specs_that_exist_are_taken_over_with_a_policy_where_they_have_none(run: Run, here: Path) -> None:
    policy, _, rest = FLEET.partition("---\n")
    (here / "dc1.yaml").write_text(rest.replace("name: vision", 'name: vision\nowners: ["@acme/eyes", "x y"]'))
    (here / "jobs.yaml").write_text(job("a").removeprefix("---\n"))
    done = run("init", "fleet", "--from", "dc1.yaml", "--from", "jobs.yaml", "--platform", "@acme/ops")
    assert done.code == Exit.OK, done.err
    assert (here / "fleet/specs/dc1.yaml").read_text() == (here / "dc1.yaml").read_text()
    assert (here / "fleet/specs/policy.yaml").exists()
    assert "@acme/eyes" in (here / "fleet/.github/CODEOWNERS").read_text()
    assert run(*PLAN, "fleet/specs", "--at", "2026-12-01T00:00:00Z").code == Exit.OK
    (here / "own.yaml").write_text(policy)
    run("init", "other", "--from", "dc1.yaml", "--from", "own.yaml")
    assert not (here / "other/specs/policy.yaml").exists()


def test_specs_with_errors_are_not_taken_over(run: Run, here: Path) -> None:
    (here / "jobs.yaml").write_text(job("a").replace("vision", "nobody"))
    done = run("init", "fleet", "--from", "jobs.yaml")
    assert done.code == Exit.INVALID
    assert "SPEC301" in done.err
    assert not Path("fleet").exists()


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ((), "--gpus is needed"),
        (("--gpus", "h100-sxm5-80gb:8"), "--nodes is needed"),
        (("--gpus", "h100-sxm5-80g:8", "--nodes", "a"), "did you mean 'h100-sxm5-80gb'"),
        (("--gpus", "h100-sxm5-80gb", "--nodes", "a"), "--gpus: '' is no count"),
        (("--gpus", "h100-sxm5-80gb:0", "--nodes", "a"), "--gpus: '0' is no count"),
        ((*SMALL, "--nodes", "a[1"), "is not a host list"),
        ((*SMALL, "--name", "../x"), "--name: '../x' is not a name"),
        ((*SMALL, "--team", "a/b"), "--team: 'a/b' is not a name"),
        ((*SMALL, "--team", "a=b"), "'b' is no owner"),
        ((*SMALL, "--platform", "@a\n* @evil"), "is no owner"),
        ((*SMALL, "--memory", "80"), "unit"),
        ((*SMALL, "--cpus", "1e3"), "--cpus: '1e3' is no count"),
    ],
)
def test_what_makes_no_specs_is_refused_before_anything_is_written(
    flags: tuple[str, ...], told: str, run: Run, here: Path
) -> None:
    done = run("init", "fleet", *flags)
    assert done.code == Exit.USAGE
    assert told in done.err
    assert not Path("fleet").exists()


def test_on_a_terminal_what_no_flag_says_is_asked_for(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = "\n\nmi300x:8\nmi-[1-2]\n\n\nvision=@acme/vision, nlp\n@acme/ops\n"
    monkeypatch.setattr(sys, "stdin", Terminal(answers))
    done = run("init", "fleet")
    assert done.code == Exit.OK, done.err
    assert "model: mi300x, count: 8" in Path("fleet/specs/clusters/dc1.yaml").read_text()
    assert "guaranteed: 8" in Path("fleet/specs/teams/quotas.yaml").read_text()
    assert "The names of its nodes" in done.err


@pytest.mark.parametrize(
    ("text", "expected"),
    [("@ada", True), ("@acme/ops.team", True), ("ada@example.org", True), ("ada", False), ("@", False), ("@a b", False),
     ("@a\n@b", False), ("#x@y", False)],
)  # fmt: skip
def test_an_owner_is_a_user_a_group_or_a_mail_address(text: str, expected: bool) -> None:
    assert is_owner(text) is expected
