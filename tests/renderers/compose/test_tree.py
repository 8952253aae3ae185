"""Projects: a file a host, a service a job, valid by the schema and equal to the plan."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from renderers.compose import render
from renderers.compose.verify import verify
from tests.renderers.compose.edge import GREEN, TEAM, Edge, a_cluster, an_edge, several
from tests.renderers.fleet import a_node

THREE = GREEN.replace("[till-nv]", "till-[1-3]")


def two_hosts() -> Edge:
    """Three jobs on two hosts of a pool of three."""
    command = ("command: [a]", "gpus: 2")
    return several(
        {
            "a": (command, (a_node("till-1", 0, 1),), "green", 0),
            "b": (command, (a_node("till-1", 2, 3),), "green", 0),
            "c": (command, (a_node("till-2", 0, 1),), "green", 0),
        },
        cluster=a_cluster(THREE),
    )


def test_each_host_with_work_has_a_project_of_its_own() -> None:
    edge = two_hosts()
    assert list(edge.projects()) == ["store/till-1/compose.yaml", "store/till-2/compose.yaml"]
    assert {path: project["name"] for path, project in edge.projects().items()} == {
        "store/till-1/compose.yaml": "store-till-1",
        "store/till-2/compose.yaml": "store-till-2",
    }
    assert list(edge.project("till-1")["services"]) == ["vision.a", "vision.b"]
    assert edge.project("till-1")["x-planner"] == {"cluster": "store", "host": "till-1"}
    assert edge.rendered.manifests[0].addresses == ("job/vision/a", "job/vision/b")


def test_a_project_is_as_planned() -> None:
    assert two_hosts().faults() == ()


def change(tree: Any, path: tuple[str | int, ...], value: object) -> Any:
    """A copy of a tree with one value replaced."""
    copy = json.loads(json.dumps(tree))
    at = copy
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    return copy


RESERVATION = ("deploy", "resources", "reservations", "devices", 0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("image",), "other"),
        (("x-planner", "start"), "2026-12-01T00:00:01Z"),
        (("x-planner", "end"), "2026-12-01T00:00:01Z"),
        ((*RESERVATION, "device_ids"), ["0"]),
        ((*RESERVATION, "device_ids"), [0, 1]),
        ((*RESERVATION, "capabilities"), []),
        ((*RESERVATION, "count"), 2),
        (("devices",), ["/dev/kfd:/dev/kfd"]),
        (("group_add",), ["0"]),
    ],
)
def test_a_project_that_says_something_else_than_the_plan_is_noticed(
    path: tuple[str | int, ...], value: object
) -> None:
    edge = two_hosts()
    projects = edge.projects()
    file = "store/till-1/compose.yaml"
    changed = {**projects, file: change(projects[file], ("services", "vision.a", *path), value)}
    documents = {name: [project] for name, project in changed.items()}
    assert verify(documents, edge.plan, edge.specs, edge.specs.cluster("store")) != ()


def test_a_service_too_many_or_too_few_is_noticed() -> None:
    edge = two_hosts()
    projects = edge.projects()
    services = projects["store/till-1/compose.yaml"]["services"]
    services["vision.x"] = services.pop("vision.b")
    documents = {name: [project] for name, project in projects.items()}
    assert verify(documents, edge.plan, edge.specs, edge.specs.cluster("store")) == (
        "store/till-1/compose.yaml has vision.x, which the plan does not",
        "store/till-1/compose.yaml lacks vision.b",
    )


@pytest.mark.parametrize(("start", "device", "clash"), [(0, 1, True), (1, 1, True), (2, 1, False), (0, 2, False)])
def test_two_jobs_on_one_device_at_once_are_noticed(start: int, device: int, clash: bool) -> None:
    edge = several(
        {
            "a": (("command: [a]", "gpus: 2"), (a_node("till-nv", 0, 1),), "green", 0),
            "b": (("command: [a]", "gpus: 2"), (a_node("till-nv", device, 3),), "green", start),
        }
    )
    assert edge.faults() == (("job/vision/a and job/vision/b both have device 1 of till-nv",) if clash else ())


def test_nothing_starts_before_its_time() -> None:
    project = two_hosts().project("till-1")
    for name, service in project["services"].items():
        assert service["profiles"] == [name]
        assert service["restart"] == "no"
        assert service["x-planner"]["start"] == "2026-12-01T00:00:00Z"
        assert service["x-planner"]["limit_seconds"] == 9_000


def test_no_dependency_is_written_that_would_start_a_finished_job_again() -> None:
    edge = several(
        {
            "prep": (("command: [a]", "gpus: 1"), (a_node("till-nv", 0),), "green", 0),
            "job": (("command: [a]", "gpus: 1", "after: [prep]"), (a_node("till-nv", 0),), "green", 2),
        }
    )
    assert "depends_on" not in edge.service()
    assert edge.service()["x-planner"]["after"] == ["vision/prep"]
    assert edge.messages() == []


def test_a_job_that_waits_for_one_of_another_host_is_told_to_be_held_by_time_alone() -> None:
    edge = several(
        {
            "prep": (
                ("command: [a]", "gpus: 1", "variants: [{name: amd, vendor: amd}]"),
                (a_node("till-amd", 0),),
                "red",
                0,
            ),
            "job": (("command: [a]", "gpus: 1", "after: [prep]"), (a_node("till-nv", 0),), "green", 2),
        }
    )
    assert edge.messages() == ["job/vision/prep does not run on its host: only the planned start makes it wait"]


def test_the_command_is_the_whole_of_what_runs() -> None:
    service = an_edge("command: [python, -c, 'print($A)']", "gpus: 1", node=a_node("till-nv", 0)).service()
    assert service["entrypoint"] == []
    assert service["command"] == ["python", "-c", "print($$A)"]


def test_without_a_command_the_images_own_runs() -> None:
    service = an_edge("gpus: 1", node=a_node("till-nv", 0)).service()
    assert "command" not in service
    assert "entrypoint" not in service


def test_labels_say_whose_it_is_and_ours_win() -> None:
    fields = ("gpus: 1", "title: costs $5", 'labels: {team: x, planner.dev/address: fake, "a$b": "$c"}')
    labels = an_edge(*fields, node=a_node("till-nv", 0)).service()["labels"]
    assert labels["planner.dev/address"] == "job/vision/job"
    assert labels["planner.dev/spec-hash"].startswith("sha256:")
    assert labels["planner.dev/title"] == "costs $$5"
    assert labels["team"] == "x"
    assert json.loads(labels["planner.dev/labels"])["a$$b"] == "$$c"
    assert all("$" not in key for key in labels)


def test_a_secret_is_taken_from_who_starts_the_service() -> None:
    edge = an_edge("gpus: 1", "env: {TOKEN: {secret: hf, key: token}, A: '1'}", node=a_node("till-nv", 0))
    environment = edge.service()["environment"]
    assert environment["TOKEN"] is None
    assert environment["A"] == "1"
    assert any("secrets" in message for message in edge.messages())


def test_every_value_of_the_environment_is_text() -> None:
    text = "env: {A: 'NO', B: '0755', C: '1e3', D: '', E: 'null', F: '10:30'}"
    environment = an_edge("gpus: 1", text, node=a_node("till-nv", 0)).service()["environment"]
    assert [environment[name] for name in "ABCDEF"] == ["NO", "0755", "1e3", "", "null", "10:30"]


def test_mounts_are_bound_named_or_empty() -> None:
    mounts = "mounts: [{path: /d, host: /s, read_only: true}, {path: /c, claim: cache}, {path: /t, empty: true}]"
    edge = an_edge("gpus: 1", mounts, node=a_node("till-nv", 0))
    assert edge.service()["volumes"] == [
        {"type": "bind", "source": "/s", "target": "/d", "read_only": True, "bind": {"create_host_path": False}},
        {"type": "volume", "source": "cache", "target": "/c", "read_only": False},
        {"type": "volume", "target": "/t", "read_only": False},
    ]
    assert edge.project()["volumes"] == {"cache": {"external": True}}


def test_a_job_that_checkpoints_has_time_to_stop() -> None:
    assert (
        an_edge("gpus: 1", "checkpoint: {every: 5m}", node=a_node("till-nv", 0)).service()["stop_grace_period"] == "2m"
    )
    assert "stop_grace_period" not in an_edge("gpus: 1", node=a_node("till-nv", 0)).service()


def test_a_gang_over_hosts_is_refused() -> None:
    nodes = (a_node("till-1", 0, 1, 2, 3), a_node("till-2", 0, 1, 2, 3))
    edge = several({"job": (("gpus: 8",), nodes, "green", 0)}, cluster=a_cluster(THREE))
    assert edge.rendered.manifests == ()
    assert "the gang needs 2" in edge.messages()[0]
    assert edge.faults() == ()


def test_a_host_that_runs_apptainer_gets_scripts_and_no_project() -> None:
    cluster = a_cluster(GREEN, "{type: compose, engine: apptainer}")
    edge = an_edge("gpus: 1", "command: [a]", node=a_node("till-nv", 0), cluster=cluster)
    assert [item.path.removeprefix("store/till-nv/") for item in edge.rendered.manifests] == [
        "gpu-fleet-planner@.service",
        "gpu-fleet-planner@.timer",
        "install.sh",
        "jobs/vision.job.sh",
        "schedule.sh",
    ]
    assert any("only a variable says which are its own" in message for message in edge.messages())
    assert edge.faults() == ()


def test_what_compose_cannot_do_is_said_once_for_all_and_job_by_job() -> None:
    fields = ("gpus: 1", "pull_secrets: [reg]", "service_account: sa", "gres: {nvme: 1}")
    pool = f"{GREEN.rstrip()}\n    gres: {{nvme: 2}}\n"
    edge = an_edge(*fields, node=a_node("till-nv", 0), cluster=a_cluster(pool))
    assert len(edge.messages("cluster/store")) == 2
    said = " ".join(edge.messages())
    assert all(word in said for word in ("credentials", "service accounts", "other resources"))


def test_an_idle_cluster_has_no_files_and_nothing_to_say() -> None:
    edge = several({}, cluster=a_cluster())
    assert edge.rendered.manifests == ()
    assert edge.rendered.degraded == ()


def test_the_same_plan_gives_the_same_bytes_and_a_text_that_ends_once() -> None:
    one, other = two_hosts().rendered, two_hosts().rendered
    assert one == other
    for manifest in one.manifests:
        assert manifest.text.endswith("\n")
        assert not manifest.text.endswith("\n\n")
        assert all(line == line.rstrip() for line in manifest.text.splitlines())
    assert one.manifests


def test_the_users_and_torchruns_settings_reach_the_service() -> None:
    edge = an_edge("gpus: 2", "user: '1000:1000'", node=a_node("till-nv", 0, 1), team=TEAM)
    assert edge.service()["user"] == "1000:1000"
    assert edge.service()["environment"]["PET_NPROC_PER_NODE"] == "2"
    own = an_edge("gpus: 2", "env: {PET_NPROC_PER_NODE: '1'}", node=a_node("till-nv", 0, 1))
    assert own.service()["environment"]["PET_NPROC_PER_NODE"] == "1"


def test_a_job_without_an_image_is_refused() -> None:
    edge = an_edge("gpus: 1", node=a_node("till-nv", 0))
    bare = replace(edge.specs, jobs=(edge.specs.jobs[0].model_copy(update={"image": None}),))
    rendered = render(edge.plan, bare, bare.cluster("store"))
    assert rendered.manifests == ()
    assert any("a service needs an image" in item.message for item in rendered.degraded)
