"""Reading projects as Compose does, and what the sandbox of the lab needs to run them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.e2e.labs.compose.engine import Compose

SANDBOX = """services:
  {name}:
    init: false
    network_mode: host
    ulimits: !override {{nofile: {{soft: 1024, hard: 1024}}, nproc: 1000}}
    devices: !override {devices}
    environment: {environment}
    deploy: !override {{resources: {{limits: {{cpus: "1", memory: 64m}}}}}}
"""
"""What the engine of the lab cannot grant is replaced: its own limits, and devices that do not exist."""


def services_of(compose: Compose, project: Path) -> dict[str, dict[str, Any]]:
    """The services of a project as Compose sees them, whatever their profiles."""
    words = ("--file", project, "--profile", "*", "config", "--format", "json")
    found: dict[str, dict[str, Any]] = json.loads(compose.tell(*words, cwd=project.parent))["services"]
    return found


def read(value: Any) -> Any:
    """Values as the container gets them: `config` doubles every `$` once more."""
    match value:
        case str():
            return value.replace("$$", "$")
        case list():
            return [read(item) for item in value]
        case dict():
            return {key: read(item) for key, item in value.items()}
        case _:
            return value


def device_ids(service: dict[str, Any]) -> list[str]:
    """The ids that a service asks a driver for."""
    requests = service["deploy"]["resources"].get("reservations", {}).get("devices", [])
    return [text for request in requests for text in request["device_ids"]]


def device_nodes(service: dict[str, Any]) -> list[str]:
    """The device nodes that a service sees."""
    return [item["target"] for item in service.get("devices", [])]


def in_the_sandbox(compose: Compose, project: Path) -> Path:
    """An override beside `project`: null devices for device nodes, and for a driver what its runtime would set."""
    parts = ["services:\n"]
    for name, service in services_of(compose, project).items():
        ids = device_ids(service)
        text = SANDBOX.format(
            name=json.dumps(name),
            devices=json.dumps([f"/dev/null:{path}" for path in device_nodes(service)]),
            environment=json.dumps({"NVIDIA_VISIBLE_DEVICES": ",".join(ids)} if ids else {}),
        )
        parts.append(text.partition("\n")[2])
    override = project.with_name("sandbox.yaml")
    override.write_text("".join(parts))
    return override
