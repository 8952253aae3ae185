"""Services of compose projects as specs of Jobs and Services."""

from __future__ import annotations

import json
from typing import Any

import pytest

from planner.discovery.found import Text
from planner.discovery.imports.imported import Imported, ImportWish, Refused, Result
from planner.discovery.imports.read import imported
from tests.planner.discovery.imports.workloads import DAY, MODELS, SECRET

PROJECT = f"""name: render
services:
  prepare:
    image: acme/prepare:1
    command: sh -c 'make data'
    restart: "no"
  train:
    image: acme/train:2
    entrypoint: [torchrun]
    command: ["--nproc=2", train.py]
    environment: {{TOKEN: {SECRET}, DEBUG: "1"}}
    depends_on: {{prepare: {{condition: service_completed_successfully}}}}
    restart: on-failure:3
    shm_size: 16gb
    user: "1000"
    volumes: [/data:/data:ro, cache:/cache, ./src:/src]
    deploy:
      resources:
        limits: {{cpus: "7.5", memory: 64g}}
        reservations:
          devices: [{{driver: nvidia, device_ids: ["0", "1"], capabilities: [gpu]}}]
  chat:
    image: acme/chat:3
    restart: unless-stopped
    gpus: [{{driver: nvidia, count: 1}}]
    ports: ["127.0.0.1:80:9000"]
    deploy: {{replicas: 2}}
  db:
    image: acme/db:1
    restart: always
"""


def read(text: str, wish: ImportWish = DAY) -> dict[str, Result]:
    found = imported([Text(name="compose.yaml", data=text.encode())], wish, MODELS)
    return {result.subject: result for result in found}


def service(**fields: Any) -> Result:
    tree = {"name": "p", "services": {"s": {"image": "x"} | fields}}
    (result,) = imported([Text(name="compose.json", data=json.dumps(tree).encode())], DAY, MODELS)
    return result


def test_a_project_becomes_jobs_and_services() -> None:
    found = read(PROJECT)
    train = found["service render/train"]
    assert isinstance(train, Imported)
    assert train.document == {
        "apiVersion": "planner/v1", "kind": "Job", "name": "train", "team": "render", "image": "acme/train:2",
        "command": ["torchrun", "--nproc=2", "train.py"], "gpus": {"count": 2, "vendor": "nvidia"}, "cpus": 8,
        "memory": "64Gi", "shm": "16Gi", "user": "1000", "retries": 3, "after": ["prepare"], "duration": "1d",
        "mounts": [{"path": "/data", "host": "/data", "read_only": True}, {"path": "/cache", "claim": "cache"}],
        "template": "train.template.yaml",
    }  # fmt: skip
    assert train.untold == (
        "values of DEBUG, TOKEN are not written; put them into env, or secrets into the back end",
        "which cards it uses is not written; pin them where that matters",
    )
    prepare, chat, db = (found[f"service render/{name}"] for name in ("prepare", "chat", "db"))
    assert isinstance(prepare, Imported)
    assert (prepare.fields["gpus"], prepare.fields["command"]) == ({"count": 0}, ["sh", "-c", "make data"])
    assert isinstance(chat, Imported)
    assert chat.document == {
        "apiVersion": "planner/v1", "kind": "Service", "name": "chat", "team": "render", "image": "acme/chat:3",
        "gpus": {"count": 1, "vendor": "nvidia"}, "load": {"concurrent": 2}, "headroom": "0%", "port": 9000,
        "replicas": {"min": 2, "max": 2}, "template": "chat.template.yaml",
    }  # fmt: skip
    assert chat.untold[0].startswith("its load is not known: 2 replicas are kept")
    assert isinstance(db, Refused)
    assert db.reason == "it is always up and holds no devices: it needs no place in a plan"


@pytest.mark.parametrize(
    ("port", "inside"),
    [
        ("8000", 8000),
        ("80:8000", 8000),
        ("[::1]:80:8000/tcp", 8000),
        ({"target": 8000, "published": "80"}, 8000),
        (9000, 9000),
        ("53:53/udp", None),
    ],
)
def test_the_port_is_the_one_inside_the_container(port: object, inside: int | None) -> None:
    result = service(restart="always", gpus=[{"count": 1}], ports=[port])
    assert isinstance(result, Imported)
    assert result.fields.get("port") == inside


def test_a_template_is_the_one_service_without_values() -> None:
    train = read(PROJECT)["service render/train"]
    assert isinstance(train, Imported)
    assert SECRET.encode() not in train.template
    tree = json.loads(train.template)
    assert list(tree["services"]) == ["train"]
    assert tree["services"]["train"]["environment"] == ["DEBUG", "TOKEN"]


@pytest.mark.parametrize(
    ("fields", "gpus"),
    [
        ({"gpus": [{"driver": "nvidia", "count": 2}]}, {"count": 2, "vendor": "nvidia"}),
        ({"gpus": [{"count": 1}]}, {"count": 1, "vendor": "nvidia"}),
        ({"devices": ["/dev/kfd", "/dev/dri/renderD128", "/dev/dri/renderD129:/dev/dri/renderD129"]},
         {"count": 2, "vendor": "amd"}),
        ({"devices": ["amd.com/gpu=0"]}, {"count": 1, "vendor": "amd"}),
        ({"devices": ["nvidia.com/gpu=GPU-1", "nvidia.com/gpu=GPU-2"]}, {"count": 2, "vendor": "nvidia"}),
        ({"devices": ["/dev/fuse"]}, {"count": 0}),
        ({}, {"count": 0}),
    ],
)  # fmt: skip
def test_devices_in_all_their_spellings(fields: dict[str, Any], gpus: dict[str, Any]) -> None:
    result = service(**fields)
    assert isinstance(result, Imported)
    assert result.fields["gpus"] == gpus


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"gpus": "all"}, "all cards"),
        ({"gpus": [{"driver": "nvidia"}]}, "all cards"),
        ({"devices": ["nvidia.com/gpu=all"]}, "all cards"),
        ({"gpus": [{"count": 1}], "devices": ["amd.com/gpu=0"]}, "in several ways"),
        ({"restart": "always"}, "always up"),
        ({"restart": "always", "gpus": [{"count": 1}], "deploy": {"replicas": 0}}, "no replicas now"),
        ({"command": ["serve", f"--api-key={SECRET}"]}, "its command gives --api-key a value"),
    ],
)
def test_what_no_job_can_be_is_refused_with_its_reason(fields: dict[str, Any], why: str) -> None:
    result = service(**fields)
    assert isinstance(result, Refused)
    assert why in result.reason


@pytest.mark.parametrize(
    ("command", "words"),
    [("echo $$HOME", ["echo", "$HOME"]), ("echo ${NAME}", None), ("echo 'x", None), (["a b", "c"], ["a b", "c"])],
)
def test_a_command_that_compose_fills_in_is_not_written(command: object, words: list[str] | None) -> None:
    result = service(command=command)
    assert isinstance(result, Imported)
    assert result.fields.get("command") == words


@pytest.mark.parametrize(
    ("size", "memory"),
    [("1g", "1Gi"), ("512m", "512Mi"), ("1.5gb", "1536Mi"), (1048577, "2Mi"), ("x", None), (0, None)],
)
def test_sizes_are_binary(size: object, memory: str | None) -> None:
    result = service(mem_limit=size)
    assert isinstance(result, Imported)
    assert result.fields.get("memory") == memory


def test_the_planners_own_services_are_passed_over_and_nobody_knows_lengths() -> None:
    tree = {"services": {"s": {"image": "x", "labels": {"planner.dev/address": "job/a/b"}}}}
    assert imported([Text(name="c.json", data=json.dumps(tree).encode())], DAY, MODELS) == ()
    refused = read(PROJECT, ImportWish())["service render/train"]
    assert isinstance(refused, Refused)
    assert "--duration" in refused.reason
