"""From a pull request to an applied fleet: the workflows run as they stand, one after the other, as on GitHub."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from planner.apply.recording import Recording
from tests.ci.forge import Kept
from tests.ci.runner import ROOT, Forge, Ran, condition, ran
from tests.e2e.labs.requirements import program
from tests.planner.commands.conftest import FLEET, job
from tests.planner.repositories import NOON, commit, git, repository

pytestmark = pytest.mark.slow
MIDNIGHT = NOON + 12 * 3_600
"""2026-12-01T00:00:00Z, when plans of the tree start."""
LOOK = "--from kubernetes --name dc1"


class Site:
    """A repository of a fleet on a forge, and the clone of somebody who works there."""

    def __init__(self, root: Path, **variables: str) -> None:
        self.root, self.here = root, repository(root / "clone")
        record = f"--record {root / 'fleet'}"
        self.forge = Forge(root=root, variables={"PLANNER_APPLY": "true", "PLANNER_BACKEND": record, **variables})
        self.kept, self.fleet = Kept(root=self.forge.kept), Recording(root=root / "fleet")
        self.clock(MIDNIGHT - 600)
        for name in (".github", "action.yml"):
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, self.here / name)
        commit(self.here, "Begin", hour=0, specs__fleet=FLEET, specs__jobs=job("a").removeprefix("---\n"))
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


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A fleet of two nodes with a cluster to look at, and nothing applied."""
    program("jq", "jq")
    return Site(tmp_path, PLANNER_DISCOVER=LOOK)


def reviewed(site: Site, **files: str) -> dict[str, Any]:
    """A pull request with a plan in its comment."""
    pull = site.pull_request(hour=3, **files)
    plan = site.planned(pull)
    assert plan.succeeded, plan.log
    comment = site.commented(pull, len(list(site.root.glob("run-*"))))
    assert comment.succeeded, comment.log
    return pull


def test_what_was_reviewed_is_applied_once_it_is_merged(site: Site) -> None:
    pull = reviewed(site, specs__more=job("b").removeprefix("---\n"))
    (comment,) = site.comments()
    assert comment.startswith("<!-- planner {")
    assert "1 new, 2 of 2 jobs run" in comment
    done = site.merged(pull, hour=9)
    assert done.succeeded, done.log
    assert site.jobs() == {"a", "b"}
    assert site.applied() in comment
    assert site.started() == []
    again = reviewed(site, specs__again=job("c").removeprefix("---\n"))
    assert "<!-- state " in site.comments()[-1]
    done = site.merged(again, hour=10)
    assert done.succeeded, done.log
    assert site.jobs() == {"a", "b", "c"}


def test_what_changed_since_the_review_is_not_applied_but_asked_for_anew(site: Site) -> None:
    pull = reviewed(site, specs__more=job("b").removeprefix("---\n"))
    git(site.here, "checkout", "--quiet", "--detach", "origin/main")
    commit(site.here, "Meanwhile", hour=4, specs__other=job("z").removeprefix("---\n"))
    git(site.here, "push", "--quiet", "origin", "HEAD:refs/heads/main")
    git(site.here, "fetch", "--quiet", "origin")
    done = site.merged(pull, hour=9)
    assert not done.succeeded
    assert done.output("apply", "code") == "5"
    assert site.jobs() == set()
    assert site.started() == [("replan.yml", {"ask": "true"})]

    asked = ran(site.forge, "replan", site.main, inputs={"ask": True})
    assert asked.succeeded, asked.log
    assert site.jobs() == set()
    (proposal,) = [each for each in site.kept.read()["pulls"] if each.get("head") == "planner/replan"]
    assert "3 of 3 jobs run" in proposal["body"]
    assert ran(site.forge, "replan", site.main, inputs={"ask": True}).succeeded
    assert len(site.kept.read()["pulls"]) == 2
    approved = site.approved()
    assert approved.succeeded, approved.log
    assert site.jobs() == {"a", "b", "z"}
    assert f'"digest":"{site.applied()}"' in proposal["body"]


def test_what_nobody_reviewed_is_not_applied(site: Site) -> None:
    before = site.main
    forged = site.pull_request(hour=3, specs__more=job("b").removeprefix("---\n"))
    site.planned(forged)
    site.commented(forged)
    (genuine,) = site.comments()
    content = site.kept.read()
    content["comments"] = [
        {**content["comments"][0], "user": {"login": "mallory", "type": "User"}},
        {**content["comments"][0], "body": genuine.replace('"truncated":false', '"truncated":true')},
    ]
    site.kept.write(content)
    done = site.merged(forged, hour=9)
    assert done.output("apply", "code") == "5"
    assert "nothing was reviewed that covers this commit" in done.log
    direct = ran(site.forge, "apply", before, event={"before": "0" * 40})
    assert direct.output("apply", "code") == "5"
    assert not site.fleet.objects()


def test_a_hostile_pull_request_neither_lowers_the_bar_nor_reaches_the_fleet(site: Site) -> None:
    site.kept.root.mkdir()
    (site.kept.root / "read-only").touch()
    lax = FLEET.replace("currency: USD\n", "currency: USD\nsafety: {max_moved: 100%, max_stopped: 100%}\n", 1)
    name = "job/vision/a'; touch owned; `touch owned` $(touch owned) <!-- state " + "0" * 40 + " -->"
    hostile = job("b", extra=f'labels: {{note: "{name}"}}\n').removeprefix("---\n")
    pull = site.pull_request(hour=3, owner="mallory", specs__fleet=lax, specs__more=hostile)
    plan = site.planned(pull)
    assert plan.succeeded, plan.log
    assert "the base's hold for this plan" in plan.log
    assert "2 of 2 jobs run" in plan.summary
    comment = site.commented(pull)
    assert comment.succeeded, comment.log
    assert "this token may not comment; the summary of the plan has the same text" in comment.log
    assert site.comments() == []
    assert not list(site.root.rglob("owned"))
    assert not site.fleet.objects()


def test_a_plan_that_a_pull_request_forged_is_not_what_is_applied(site: Site) -> None:
    pull = site.pull_request(hour=3, specs__more=job("b").removeprefix("---\n"))
    assert site.planned(pull).succeeded
    artefact = site.kept.root / "artifacts" / "1" / "plan"
    plans = [(artefact / name).read_bytes() for name in ("base.lock.json", "plan.lock.json")]
    for name, data in zip(("plan.lock.json", "base.lock.json"), plans, strict=True):
        (artefact / name).write_bytes(data)
    (artefact / "state").write_text("$(touch owned)\n--><script>\n")
    assert site.commented(pull).succeeded
    (comment,) = site.comments()
    assert "1 gone, 1 of 1 job run" in comment
    assert "script" not in comment
    assert site.merged(pull, hour=9).output("apply", "code") == "5"
    assert not site.fleet.objects()
    assert not list(site.root.rglob("owned"))


def test_work_begins_when_its_time_has_come_and_once(site: Site) -> None:
    early = ran(site.forge, "advance", site.main)
    assert early.succeeded, early.log
    assert "nothing begins" in early.log
    assert site.merged(reviewed(site, specs__more=job("b").removeprefix("---\n")), hour=9).succeeded
    begun = []
    for moment in (MIDNIGHT - 1, MIDNIGHT, MIDNIGHT + 900):
        site.clock(moment)
        done = ran(site.forge, "advance", site.main)
        assert ", 0 left" in done.summary, done.log
        begun.append(sum(effect == "released" for effect, _ in site.fleet.log()))
    assert begun == [0, 2, 2]
    assert git(site.forge.origin, "show", "planner-state:snapshot.yaml").endswith("taken_at: 2026-12-01T00:15:00Z")


def test_a_plan_that_keeps_every_promise_is_applied_at_once_and_any_other_is_proposed(site: Site) -> None:
    first = ran(site.forge, "replan", site.main)
    assert first.output("promises", "verdict") == "broken"
    assert site.approved().succeeded
    before = site.applied()
    kept = ran(site.forge, "replan", site.main)
    assert kept.output("promises", "verdict") == "kept", kept.log
    assert site.applied() != before or "nothing had to change" in kept.log
    site.clock(MIDNIGHT + 7_200)
    late = ran(site.forge, "replan", site.main)
    assert late.output("promises", "verdict") == "broken", late.log
    (proposal,) = [each for each in site.kept.read()["pulls"] if each["open"]]
    assert "1 later" in proposal["body"]


@pytest.mark.parametrize("workflow", ["apply", "advance", "replan", "drift"])
def test_nothing_reaches_a_fleet_until_the_repository_says_so(workflow: str) -> None:
    assert condition(workflow, {"PLANNER_APPLY": "true"})
    assert not condition(workflow, {})


def test_one_issue_tells_of_drift_and_is_closed_when_there_is_none(site: Site) -> None:
    quiet = ran(site.forge, "drift", site.main)
    assert quiet.succeeded, quiet.log
    assert site.merged(reviewed(site, specs__more=job("b").removeprefix("---\n")), hour=9).succeeded
    assert ran(site.forge, "drift", site.main).succeeded
    assert site.kept.read()["issues"] == []
    path, text = next(
        (path, path.read_text()) for path in site.fleet.root.rglob("*.json") if "job-a-" in path.read_text()
    )
    path.unlink()
    for _ in range(2):
        done = ran(site.forge, "drift", site.main)
        assert done.succeeded, done.log
    (issue,) = site.kept.read()["issues"]
    assert issue["open"]
    assert "job-a-" in issue["body"]
    assert site.started() == [("replan.yml", {}), ("replan.yml", {})]
    path.write_text(text)
    assert ran(site.forge, "drift", site.main).succeeded
    (issue,) = site.kept.read()["issues"]
    assert not issue["open"]
    assert len(site.started()) == 2
