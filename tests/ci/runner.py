"""Runs the jobs of a workflow as they stand: their own shell, their own composite actions, their own conditions.

What GitHub's actions do is done here by git and by copying files; the programs `gh`, `planner`, `kubectl` and `python`
are those of `programs/`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from tests.ci.expressions import holds, pasted, value
from tests.planner.repositories import ALONE, git

ROOT: Final = Path(__file__).parent.parent.parent
PROGRAMS: Final = Path(__file__).parent / "programs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Forge:
    """GitHub, as far as workflows see it: a bare repository, what `gh` keeps, and what the repository's variables say.

    `root/now` is the time that the planner's clock shows.
    """

    root: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> Path:
        """The bare repository."""
        return self.root / "origin.git"

    @property
    def kept(self) -> Path:
        """What `gh` reads and writes."""
        return self.root / "forge"

    @property
    def path(self) -> str:
        """The programs of the stub first, then those of the machine."""
        return f"{PROGRAMS}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@dataclass(slots=True)
class Ran:
    """One job that ran: its verdict, what every step with an id put out, and all that was printed."""

    succeeded: bool = True
    skipped: bool = False
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    log: str = ""
    summary: str = ""
    workspace: Path = Path()

    def output(self, step: str, name: str) -> str:
        """What a step put out under a name."""
        return str(self.steps[step]["outputs"].get(name, ""))


def ran(forge: Forge, workflow: str, commit: str, **github: Any) -> Ran:
    """Run the only job of a workflow of `commit`, with `github` and, under `inputs`, what it was started with."""
    text = git(forge.origin, "show", f"{commit}:.github/workflows/{workflow}.yml")
    (job,) = yaml.safe_load(text)["jobs"].values()
    number = len(list(forge.root.glob("run-*"))) + 1
    place = forge.root / f"run-{number}"
    (place / "temp").mkdir(parents=True)
    done = Ran(workspace=place / "work")
    inputs = github.pop("inputs", {})
    contexts = {
        "github": {"repository": "acme/fleet", "token": "t0ken", "sha": commit, "run_id": number, **github},
        "vars": forge.variables, "inputs": inputs, "runner": {"temp": str(place / "temp")}, "steps": done.steps,
    }  # fmt: skip
    done.skipped = not holds(str(job.get("if", "")), contexts, succeeded=True)
    if not done.skipped:
        _Job(forge=forge, place=place, done=done).run(job["steps"], contexts)
    return done


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    forge: Forge
    place: Path
    done: Ran

    def run(self, steps: list[dict[str, Any]], contexts: dict[str, Any]) -> None:
        """Each step in turn; `contexts['steps']` learns what it put out."""
        for step in steps:
            if not holds(str(step.get("if", "")), contexts, succeeded=self.done.succeeded):
                continue
            outputs: dict[str, str] = {}
            worked = self._ran(step, contexts, outputs)
            self.done.succeeded = self.done.succeeded and worked
            if "id" in step:
                outcome = "success" if worked else "failure"
                contexts["steps"][step["id"]] = {"outputs": outputs, "outcome": outcome}

    def _ran(self, step: dict[str, Any], contexts: dict[str, Any], outputs: dict[str, str]) -> bool:
        if "run" in step:
            return self._shell(step, contexts, outputs)
        wanted = {name: pasted(text, contexts) for name, text in step.get("with", {}).items()}
        action = str(step["uses"]).split("@")[0]
        match action:
            case "actions/checkout":
                self._checkout(contexts)
            case "actions/setup-python":
                pass
            case "actions/upload-artifact":
                target = self.forge.kept / "artifacts" / str(contexts["github"]["run_id"]) / wanted["name"]
                shutil.copytree(self.done.workspace / wanted["path"], target)
            case _:
                assert action.startswith("./"), action
                return self._composite(self.done.workspace / action / "action.yml", wanted, contexts, outputs)
        return True

    def _checkout(self, contexts: dict[str, Any]) -> None:
        git(self.place, "clone", "--quiet", "--no-checkout", str(self.forge.origin), "work")
        git(self.done.workspace, "fetch", "--quiet", "origin", contexts["github"]["sha"])
        git(self.done.workspace, "checkout", "--quiet", "--detach", contexts["github"]["sha"])

    def _composite(self, path: Path, wanted: dict[str, str], contexts: dict[str, Any], outputs: dict[str, str]) -> bool:
        action = yaml.safe_load(path.read_text("utf-8"))
        inputs = {name: str(each.get("default", "")) for name, each in action["inputs"].items()} | wanted
        inner = {**contexts, "inputs": inputs, "steps": {}}
        before = self.done.succeeded
        self.done.succeeded = True
        self.run(action["runs"]["steps"], inner)
        worked, self.done.succeeded = self.done.succeeded, before
        outputs.update({name: pasted(each["value"], inner) for name, each in action.get("outputs", {}).items()})
        return worked

    def _shell(self, step: dict[str, Any], contexts: dict[str, Any], outputs: dict[str, str]) -> bool:
        assert "${{" not in step["run"], step
        temp = Path(contexts["runner"]["temp"])
        files = {"GITHUB_OUTPUT": temp / "output", "GITHUB_STEP_SUMMARY": temp / "summary"}
        for path in files.values():
            path.write_text("")
        environment = {
            **ALONE,
            "PATH": self.forge.path, "HOME": str(temp), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(ROOT),
            "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", ""),
            "FORGE": str(self.forge.kept), "CLOCK": str(self.forge.root / "now"), "INTERPRETER": sys.executable,
            "RUNNER_TEMP": str(temp), "GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(self.done.workspace),
            **{name: str(path) for name, path in files.items()},
            **{name: pasted(text, contexts) for name, text in step.get("env", {}).items()},
        }  # fmt: skip
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        did = subprocess.run(
            shell, cwd=self.done.workspace, env={name: text for name, text in environment.items() if name != ""},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
        self.done.log += f"::: {step.get('name', '')}\n{did.stdout}"
        self.done.summary += files["GITHUB_STEP_SUMMARY"].read_text("utf-8")
        outputs.update(_pairs(files["GITHUB_OUTPUT"].read_text("utf-8")))
        return did.returncode == 0


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, sign, found = line.partition("=")
        assert sign, line
        yield name, found


def condition(workflow: str, variables: Mapping[str, str]) -> bool:
    """Whether the only job of a workflow of this tree runs where a repository has these variables."""
    text = (ROOT / ".github" / "workflows" / f"{workflow}.yml").read_text("utf-8")
    (job,) = yaml.safe_load(text)["jobs"].values()
    return bool(value(str(job["if"]), {"vars": variables}))
