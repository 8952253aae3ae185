"""What lets due work begin inside a cluster: its rights, when it runs, and the three commands that it runs."""

from __future__ import annotations

from typing import Any

import pytest

from planner.discovery.kubernetes.read import COMMANDS
from planner.plan import Inputs, Parameters
from planner.spec.backend import DueRunner
from planner.specset import SourceFile, load
from renderers import kubernetes
from renderers.kubernetes.due import minutes_between
from renderers.manifest import Rendered
from tests.renderers.fleet import FLEET, plan_of, specset_of
from tests.renderers.kubernetes.reading import documents, expanded, objects, schema_faults
from tests.renderers.test_injection import CONTROL, LINES, PRINTABLE

RUNNER = "image: registry.acme/planner:1, repository: https://git.acme/fleet.git"
SLOT = 900


def rendered(runner: str | None = RUNNER, *, slot: int = SLOT, fleet: str = FLEET) -> Rendered:
    """The files of the fleet with such a runner."""
    backend = "kubernetes" if runner is None else f"{{type: kubernetes, due: {{{runner}}}}}"
    specs = specset_of(fleet.replace("backend: kubernetes", f"backend: {backend}", 1))
    inputs = Inputs(
        specs_digest=specs.digest,
        start="2026-12-01T00:00:00Z",
        slot_seconds=slot,
        slots=4,
        parameters=Parameters(effort="quick"),
        planner_version="0",
        solver_version="0",
    )
    plan = plan_of(specs=specs).model_copy(update={"inputs": inputs, "digest": "sha256:41ab"})
    result = kubernetes.render(plan, specs, specs.clusters[0])
    assert schema_faults(result) == []
    assert kubernetes.verify(documents(result), plan, specs, specs.clusters[0], result.degraded) == ()
    return result


def the(result: Rendered, kind: str, namespace: str | None = None) -> dict[str, Any]:
    """The runner's only object of a kind, in a namespace."""
    (found,) = [
        item
        for item in objects(result, kind)
        if item["metadata"]["name"] == "planner-due" and item["metadata"].get("namespace") == namespace
    ]
    return found


def pod(result: Rendered) -> dict[str, Any]:
    """What the CronJob runs."""
    found: dict[str, Any] = the(result, "CronJob", "planner")["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return found


def commands(result: Rendered) -> list[list[str]]:
    """The commands as the containers see them, in order."""
    every = [*pod(result)["initContainers"], *pod(result)["containers"]]
    return [[expanded(word, {"HOME": "/tmp"}) for word in item["command"]] for item in every]


def allowed(role: dict[str, Any]) -> set[tuple[str, str, str]]:
    """All that a role allows: verb, group and resource."""
    return {
        (verb, group, resource)
        for rule in role["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def test_without_a_runner_nothing_of_it_is_written() -> None:
    result = rendered(None)
    assert not any("planner-due" in item.path or "/planner/" in item.path for item in result.manifests)
    assert any("nothing in the cluster starts them" in item.message for item in result.degraded)


def test_it_clones_then_looks_then_lets_begin_what_is_due_here() -> None:
    result = rendered()
    assert commands(result) == [
        ["git", "clone", "--quiet", "--", "https://git.acme/fleet.git", "/work/fleet"],
        [
            *("planner", "discover", "--from=kubernetes", "--name=dc1", "--specs=specs"),
            "--snapshot=/work/now.yaml",
        ],
        [
            *("planner", "apply", "state/applied.lock.json", "--digest=sha256:41ab", "--due"),
            *("--snapshot=/work/now.yaml", "--specs=specs", "--state=state", "--state-branch=planner-state"),
            *("--cluster=dc1", "--context=dc1="),
        ],
    ]
    assert not any("nothing in the cluster starts them" in item.message for item in result.degraded)
    assert any("begins what has come due" in item.message for item in result.degraded)


def test_a_secret_is_named_never_written_and_only_the_clone_sees_it() -> None:
    found = pod(rendered(f"{RUNNER}, secret: git-token"))
    (volume,) = [item for item in found["volumes"] if item["name"] == "git"]
    assert volume["secret"] == {"secretName": "git-token", "items": [{"key": "credentials", "path": "credentials"}]}
    clone, look = found["initContainers"]
    assert clone["command"][1:3] == ["-c", "credential.helper=store --file=/etc/planner-git/credentials"]
    seen = {item["name"]: [mount["name"] for mount in item["volumeMounts"]] for item in (clone, look)}
    assert seen == {"clone": ["work", "tmp", "git"], "snapshot": ["work", "tmp"]}
    assert "git" not in [mount["name"] for mount in found["containers"][0]["volumeMounts"]]


def test_no_text_of_the_specs_becomes_an_option_or_is_expanded() -> None:
    hostile = "--upload-pack=touch /tmp/owned; $(HOME)"
    result = rendered(f'image: i, repository: "{hostile}", specs: "{hostile}", state_branch: "$(HOME)"')
    clone, look, release = commands(result)
    assert clone[-3:] == ["--", hostile, "/work/fleet"]
    assert f"--specs={hostile}" in look
    assert "--state-branch=$(HOME)" in release


@pytest.mark.parametrize("text", PRINTABLE + LINES + CONTROL)
def test_hostile_text_arrives_as_it_was_written(text: str) -> None:
    specs = specset_of(FLEET)
    (cluster,) = specs.clusters
    runner = DueRunner.model_construct(
        image=text, repository=text, specs=text, state_branch=text, namespace="planner", secret=None
    )
    backend = cluster.backend.model_copy(update={"due": runner})
    result = kubernetes.render(plan_of(specs=specs), specs, cluster.model_copy(update={"backend": backend}))
    clone, look, release = commands(result)
    assert (clone[-2], pod(result)["containers"][0]["image"]) == (text, text)
    assert look[4] == f"--specs={text}"
    assert f"--state-branch={text}" in release


@pytest.mark.parametrize(
    ("slot", "schedule"),
    [(60, "* * * * *"), (300, "*/5 * * * *"), (480, "*/6 * * * *"), (899, "*/12 * * * *"), (3_600, "*/15 * * * *")],
)
def test_it_runs_each_quarter_of_an_hour_and_with_shorter_slots_as_often_as_they_begin(
    slot: int, schedule: str
) -> None:
    cron = the(rendered(slot=slot), "CronJob", "planner")
    assert cron["spec"]["schedule"] == schedule
    assert cron["spec"]["concurrencyPolicy"] == "Forbid"
    assert 60 % minutes_between(slot) == 0


def test_it_may_read_what_discovery_lists_and_change_nothing_but_work_of_the_teams() -> None:
    result = rendered()
    reads = allowed(the(result, "ClusterRole"))
    assert {verb for verb, _, _ in reads} == {"list"}
    listed = {command[2].partition(".")[::2] for command in COMMANDS}
    assert {(resource, group) for _, group, resource in reads} == listed
    for namespace in ("vision", "team-nlp"):
        changes = allowed(the(result, "Role", namespace))
        assert {(verb, resource) for verb, _, resource in changes} == {
            (verb, resource)
            for verb in ("get", "patch")
            for resource in ("jobs", "jobsets", "trainjobs", "pytorchjobs", "mpijobs", "rayjobs")
        } | {("list", "workloads"), ("patch", "workloads")}
        binding = the(result, "RoleBinding", namespace)
        assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "planner-due", "namespace": "planner"}]
    assert [item["metadata"]["namespace"] for item in objects(result, "ServiceAccount")] == ["planner"]


def test_it_runs_without_privileges() -> None:
    found = pod(rendered())
    assert found["securityContext"]["runAsNonRoot"] is True
    for item in (*found["initContainers"], *found["containers"]):
        assert item["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_it_can_share_the_namespace_of_a_team() -> None:
    result = rendered(f"{RUNNER}, namespace: vision")
    assert the(result, "CronJob", "vision")["spec"]["jobTemplate"]
    (space,) = [item for item in objects(result, "Namespace") if item["metadata"]["name"] == "vision"]
    assert space["metadata"]["name"] == "vision"


@pytest.mark.parametrize("missing", ["image", "repository"])
def test_a_runner_without_an_image_or_a_repository_is_refused(missing: str) -> None:
    kept = ", ".join(item for item in RUNNER.split(", ") if not item.startswith(missing))
    text = FLEET.replace("backend: kubernetes", f"backend: {{type: kubernetes, due: {{{kept}}}}}", 1)
    result = load([SourceFile("specs/0.yaml", text.encode())])
    assert result.specset is None
    assert any(missing in item.summary for item in result.diagnostics)
