"""A fleet's repository on a forge, the clone of somebody who edits it, and a folder in the place of its clusters."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from planner.apply.recording import Recording
from planner.cli import main
from planner.exits import Exit
from tests.ci.forge import Kept
from tests.ci.runner import ROOT, Forge, Ran, ran
from tests.planner.commands.conftest import FLEET, job
from tests.planner.repositories import NOON, commit, git, repository

MIDNIGHT: Final = NOON + 12 * 3_600
"""2026-12-01T00:00:00Z, when plans of the tree start."""
LOOK: Final = "--from kubernetes --name dc1"


def a_job(name: str, **fields: Any) -> str:
    """A file with one job."""
    return job(name, **fields).removeprefix("---\n")


def an_example(here: Path) -> None:
    """Two nodes and a job, with the workflows as this repository has them."""
    shutil.copytree(ROOT / ".github", here / ".github")
    shutil.copy(ROOT / "action.yml", here)
    (here / "specs").mkdir()
    (here / "specs" / "fleet.yaml").write_text(FLEET + 'owners: ["@acme/vision"]\n')
    (here / "specs" / "jobs.yaml").write_text(a_job("a"))


def initialised(here: Path) -> None:
    """What `planner init` makes for two nodes."""
    asked = ("--gpus", "h100-sxm5-80gb:8", "--nodes", "h100-[001-002]", "--team", "vision", "--platform", "@acme/ops")
    assert main(["init", str(here), *asked]) == Exit.OK


class Site:
    """A repository of a fleet on a forge, and the clone of somebody who works there."""

    def __init__(self, root: Path, begin: Callable[[Path], None] = an_example, **variables: str) -> None:
        self.root, self.here = root, repository(root / "clone")
        record = f"--record {root / 'fleet'}"
        self.forge = Forge(root=root, variables={"PLANNER_APPLY": "true", "PLANNER_BACKEND": record, **variables})
        self.kept, self.fleet = Kept(root=self.forge.kept), Recording(root=root / "fleet")
        self.clock(MIDNIGHT - 600)
        begin(self.here)
        commit(self.here, "Begin", hour=0)
        git(root, "clone", "--quiet", "--bare", "clone", "origin.git")
        git(self.here, "remote", "add", "origin", str(self.forge.origin))

    def clock(self, moment: int) -> None:
        """Set the time."""
        (self.root / "now").write_text(str(moment))

    @property
    def main(self) -> str:
        """The newest commit of main on the forge."""
        return git(self.forge.origin, "rev-parse", "main")

    def pull_request(self, *, hour: int, owner: str = "acme", **files: str) -> dict[str, Any]:
        """Open a pull request with these files from a branch `edit`; gives it as the forge has it."""
        git(self.here, "fetch", "--quiet", "origin")
        git(self.here, "checkout", "--quiet", "-B", "edit", "origin/main")
        head = commit(self.here, "Edit", hour=hour, **files)
        base = self.main
        git(self.here, "checkout", "--quiet", "--detach", "origin/main")
        git(self.here, "merge", "--quiet", "--no-ff", "--message", "Merge", head, hour=hour)
        git(self.here, "push", "--quiet", "--force", "origin", "HEAD:refs/pull/1/merge")
        entry = {
            "open": True, "label": f"{owner}:edit", "head": {"sha": head}, "base": {"ref": "main", "sha": base},
            "merge": git(self.here, "rev-parse", "HEAD"), "merge_commit_sha": "", "merged_at": None,
        }  # fmt: skip
        return entry | {"number": self.kept.add("pulls", **entry), "owner": owner}

    def planned(self, pull: dict[str, Any]) -> Ran:
        """What plan.yml makes of a pull request."""
        event = {"pull_request": {"base": {"sha": pull["base"]["sha"]}}}
        return ran(self.forge, "plan", pull["merge"], event=event)

    def commented(self, pull: dict[str, Any], run: int = 1) -> Ran:
        """What plan-comment.yml, as it is on main, makes of the plan of the first run."""
        head = {"owner": {"login": pull["owner"]}, "full_name": f"{pull['owner']}/fleet"}
        found = {
            "id": run, "event": "pull_request", "head_branch": "edit", "head_sha": pull["head"]["sha"],
            "head_repository": head,
        }  # fmt: skip
        return ran(self.forge, "plan-comment", self.main, event={"workflow_run": found})

    def merged(self, pull: dict[str, Any], hour: int) -> Ran:
        """Merge a pull request as one commit, and what apply.yml makes of that."""
        before = self.main
        git(self.here, "checkout", "--quiet", "--detach", "origin/main")
        git(self.here, "merge", "--quiet", "--squash", pull["head"]["sha"])
        after = commit(self.here, "Edit (squashed)", hour=hour)
        git(self.here, "push", "--quiet", "origin", "HEAD:refs/heads/main")
        self.kept.change("pulls", pull["number"], merge_commit_sha=after, merged_at="now", open=False)
        return ran(self.forge, "apply", after, event={"before": before})

    def approved(self) -> Ran:
        """Merge the pull request of replan.yml, and what apply.yml makes of that."""
        before = self.main
        git(self.here, "fetch", "--quiet", "origin")
        git(self.here, "push", "--quiet", "origin", "origin/planner/replan:refs/heads/main")
        return ran(self.forge, "apply", self.main, event={"before": before})

    def jobs(self) -> set[str]:
        """The jobs that the recording has."""
        names = (Path(key).stem for key in self.fleet.objects())
        return {name.removeprefix("job-").rpartition("-")[0] for name in names if name.startswith("job-")}

    def applied(self) -> str:
        """The digest of the plan that the branch of the state says is applied."""
        return str(json.loads(git(self.forge.origin, "show", "planner-state:applied.lock.json"))["digest"])

    def comments(self) -> list[str]:
        """The texts of all comments."""
        return [each["body"] for each in self.kept.read()["comments"]]

    def started(self) -> list[tuple[str, dict[str, str]]]:
        """The workflows that were started by workflows."""
        return [(each["workflow"], each["inputs"]) for each in self.kept.read()["started"]]
