"""From a pull request to an applied fleet: the workflows run as they stand, one after the other, as on GitHub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.ci.runner import condition, ran
from tests.ci.site import LOOK, MIDNIGHT, Site, a_job, initialised
from tests.e2e.labs.requirements import program
from tests.planner.commands.conftest import FLEET
from tests.planner.repositories import commit, git

pytestmark = pytest.mark.slow


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
    pull = reviewed(site, specs__more=a_job("b"))
    (comment,) = site.comments()
    assert comment.startswith("<!-- planner {")
    assert "1 new, 2 of 2 jobs run" in comment
    done = site.merged(pull, hour=9)
    assert done.succeeded, done.log
    assert site.jobs() == {"a", "b"}
    assert site.applied() in comment
    assert site.started() == []
    again = reviewed(site, specs__again=a_job("c"))
    assert "<!-- state " in site.comments()[-1]
    done = site.merged(again, hour=10)
    assert done.succeeded, done.log
    assert site.jobs() == {"a", "b", "c"}


def test_a_repository_that_init_made_applies_its_first_change_by_its_own_workflows(tmp_path: Path) -> None:
    site = Site(tmp_path, initialised, PLANNER_DISCOVER=LOOK)
    looked = ran(site.forge, "advance", site.main)
    assert looked.succeeded, looked.log
    pull = reviewed(site, specs__jobs__vision__more=a_job("b"))
    done = site.merged(pull, hour=9)
    assert done.succeeded, done.log
    assert site.jobs() == {"hello", "b"}
    assert f'"digest":"{site.applied()}"' in site.comments()[0]


def test_what_changed_since_the_review_is_not_applied_but_asked_for_anew(site: Site) -> None:
    pull = reviewed(site, specs__more=a_job("b"))
    git(site.here, "checkout", "--quiet", "--detach", "origin/main")
    commit(site.here, "Meanwhile", hour=4, specs__other=a_job("z"))
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
    forged = site.pull_request(hour=3, specs__more=a_job("b"))
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
    hostile = a_job("b", extra=f'labels: {{note: "{name}"}}\n')
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
    pull = site.pull_request(hour=3, specs__more=a_job("b"))
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
    assert site.merged(reviewed(site, specs__more=a_job("b")), hour=9).succeeded
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
    (told,) = site.comments()
    assert told.startswith("#### `vision` @acme/vision")
    assert re.search(r"vision/a.* \| \*\*later\*\* \| .*12-01 00:00.* \| .*12-01 02:00", told)


def test_a_plan_that_leaves_required_work_out_is_applied_only_where_people_approve_it(site: Site) -> None:
    crowd = "---\n".join(a_job(name, gpus=16, hours=30, extra="required: true\n") for name in "xyz")
    git(site.here, "checkout", "--quiet", "--detach", "main")
    commit(site.here, "Crowd", hour=2, specs__crowd=crowd)
    git(site.here, "push", "--quiet", "origin", "HEAD:refs/heads/main")
    proposed = ran(site.forge, "replan", site.main)
    assert proposed.output("plan", "exit-code") == "4", proposed.log
    assert proposed.output("promises", "verdict") == "broken"
    assert not site.fleet.objects()
    approved = site.approved()
    assert approved.succeeded, approved.log
    assert len(site.jobs() & {*"xyz"}) == 2


@pytest.mark.parametrize("workflow", ["apply", "advance", "replan", "drift"])
def test_nothing_reaches_a_fleet_until_the_repository_says_so(workflow: str) -> None:
    assert condition(workflow, {"PLANNER_APPLY": "true"})
    assert not condition(workflow, {})


def test_one_issue_tells_of_drift_and_is_closed_when_there_is_none(site: Site) -> None:
    quiet = ran(site.forge, "drift", site.main)
    assert quiet.succeeded, quiet.log
    assert site.merged(reviewed(site, specs__more=a_job("b")), hour=9).succeeded
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
