"""What the documents say is true: commands run, verbs are listed, paths exist, schemas are current."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from planner.cli import VERBS
from planner.spec.schema import json_schemas
from tests.e2e.labs.requirements import program as require

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PLACES = "(?:planner|solvers|renderers|tests|specs)"
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def tour() -> list[str]:
    """The shell blocks of the tour."""
    text = README.partition("## A tour")[2].partition("## Commands")[0]
    return re.findall(r"```sh\n(.*?)```", text, re.DOTALL)


def planned(folder: Path) -> None:
    """What `make plan` does, without search: a first plan is enough to tour."""
    (folder / "build").mkdir()
    lock = folder / "build/plan.lock.json"
    program = ROOT / ".venv/bin/planner"
    planner = str(program) if program.exists() else str(shutil.which("planner"))
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/planner").symlink_to(planner)
    for words in (
        ("plan", "specs", "--budget", "0", "--out", str(lock)),
        ("render", str(lock), "--out", str(folder / "build/manifests")),
    ):
        subprocess.run([planner, *words], cwd=folder, check=True, capture_output=True, timeout=300)


@pytest.mark.slow
def test_the_tour_runs_as_written(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "specs", tmp_path / "specs")
    planned(tmp_path)
    script = "set -eu\n" + "".join(tour()).replace("/tmp/", f"{tmp_path}/").replace(
        "planner diff ", "planner diff --budget 0 "
    )
    ran = subprocess.run(
        ["bash", "-c", script],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "gpuz" in ran.stdout
    assert "did you mean 'gpus'?" in ran.stdout
    assert "vision/resnet" in ran.stdout


def test_the_tour_shows_a_mistake_a_difference_and_the_manifests() -> None:
    text = "".join(tour())
    assert all(words in text for words in ("planner validate", "planner diff", "ls build/manifests", "planner show"))


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_is_in_the_table_of_commands(verb: str) -> None:
    table = README.partition("## Commands")[2].partition("## What is where")[0]
    assert re.search(rf"^\| `planner {re.escape(verb)}\b", table, re.MULTILINE), verb


def test_the_table_of_commands_lists_no_verb_that_does_not_exist() -> None:
    assert {verb for verb in re.findall(r"^\| `planner (\w+)", README, re.MULTILINE)} <= set(VERBS)


@pytest.mark.parametrize(
    "path",
    sorted(
        {
            path.rstrip("/")
            for path in re.findall(r"`((?:planner|solvers|renderers|tests|specs)/[\w./]+)`", CONTRIBUTING)
        }
    ),
)
def test_every_path_that_the_guide_for_contributors_names_exists(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([\w./]+)\)", README))))
def test_every_link_of_the_readme_leads_somewhere(link: str) -> None:
    assert (ROOT / link).exists()


@pytest.mark.parametrize(("name", "text"), sorted(json_schemas().items()))
def test_the_schemas_for_editors_are_those_of_the_models(name: str, text: str) -> None:
    kept = (ROOT / "specs/schemas" / name).read_text(encoding="utf-8")
    assert kept.rstrip("\n") == text.rstrip("\n"), "run: planner schema --out specs/schemas"


def test_no_schema_is_kept_for_a_kind_that_is_gone() -> None:
    assert {path.name for path in (ROOT / "specs/schemas").iterdir()} == set(json_schemas())


WORKFLOW = (ROOT / "docs/workflow.md").read_text(encoding="utf-8")
IDENTITY = {
    f"GIT_{role}_{part}": text
    for role in ("AUTHOR", "COMMITTER")
    for part, text in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
}


def comparable(text: str) -> set[str]:
    """The lines of an output, digests and the width of columns aside."""
    return {re.sub(r"[0-9a-f]{12,}", "…", " ".join(row.split())) for row in text.splitlines()}


@pytest.mark.slow
def test_the_walk_from_an_edit_to_an_applied_fleet_says_what_it_says(tmp_path: Path) -> None:
    require("jq", "jq")
    blocks = re.findall(r"```(sh|text)\n(.*?)```", WORKFLOW, re.DOTALL)
    scripts, outputs = ([text for kind, text in blocks if kind == wanted] for wanted in ("sh", "text"))
    assert len(scripts) == len(outputs) > 5
    program = Path(sys.executable).parent
    ran = subprocess.run(
        ["bash", "-c", "set -eu\n" + "printf '\\f\\n'\n".join(scripts)],
        check=False, cwd=tmp_path, capture_output=True, text=True, timeout=500,
        env={**os.environ, **IDENTITY, "PATH": f"{program}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
             "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C.UTF-8", "COLUMNS": "120"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for expected, said in zip(outputs, ran.stdout.split("\f\n"), strict=True):
        assert comparable(expected) <= comparable(said), said
