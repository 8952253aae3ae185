"""Rendered files read back as a cluster would: parsed YAML, schemas, and what the kubelet makes of a text."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml
from jsonschema import Draft7Validator

from renderers.manifest import Rendered

SCHEMAS = Path(__file__).parents[2] / "schemas"
WITHOUT_SCHEMA = frozenset({"Kustomization"})
OF_THE_CORE = frozenset(
    {"ClusterRole", "ClusterRoleBinding", "ConfigMap", "CronJob", "Role", "RoleBinding", "ServiceAccount"}
)
"""Kinds whose schemas are those that `kubernetes_validate` brings."""


def documents(rendered: Rendered) -> dict[str, list[Any]]:
    """The parsed documents of every YAML file by its path."""
    return {
        manifest.path: list(yaml.load_all(manifest.text, Loader=yaml.CSafeLoader))
        for manifest in rendered.manifests
        if manifest.path.endswith(".yaml")
    }


def objects(rendered: Rendered, kind: str) -> list[dict[str, Any]]:
    """All objects of a kind that hold at the plan's beginning, in the order of their files."""
    found = documents(rendered).items()
    return [item for path, each in found if "/phases/" not in path for item in each if item["kind"] == kind]


def job_at(rendered: Rendered, address: str) -> dict[str, Any]:
    """The Job of an address; there must be exactly one."""
    found = [
        item for item in objects(rendered, "Job") if item["metadata"]["annotations"]["planner.dev/address"] == address
    ]
    assert len(found) == 1, f"{len(found)} Jobs for {address}"
    return found[0]


def pod_of(job: dict[str, Any]) -> dict[str, Any]:
    """The pod spec of a Job."""
    spec: dict[str, Any] = job["spec"]["template"]["spec"]
    return spec


def container_of(job: dict[str, Any]) -> dict[str, Any]:
    """The only container of a Job."""
    (container,) = pod_of(job)["containers"]
    found: dict[str, Any] = container
    return found


def schema_faults(rendered: Rendered) -> list[str]:
    """What the schemas of Kubernetes and Kueue say against the objects."""
    found = []
    for path, each in documents(rendered).items():
        for item in each:
            if item["kind"] in OF_THE_CORE:
                kubernetes_validate.validate(item, "1.37", strict=True)
            elif item["kind"] not in WITHOUT_SCHEMA:
                errors = _validator(item["kind"], item["apiVersion"]).iter_errors(item)
                found += [f"{path}: {error.json_path}: {error.message}" for error in errors]
    return found


@cache
def _validator(kind: str, api: str) -> Draft7Validator:
    name = f"{kind}-{api.replace('/', '-')}.json".lower()
    return Draft7Validator(json.loads((SCHEMAS / name).read_text(encoding="utf-8")))


def expanded(text: str, variables: dict[str, str]) -> str:
    """What the kubelet makes of a value: `$(NAME)` is replaced, `$$` is one `$`, any other `$` stands for itself."""
    out, position = "", 0
    while position < len(text):
        rest = text[position:]
        if rest.startswith("$$"):
            out, position = out + "$", position + 2
        elif rest.startswith("$(") and ")" in rest:
            name = rest[2 : rest.index(")")]
            out, position = out + variables.get(name, f"$({name})"), position + len(name) + 3
        else:
            out, position = out + rest[0], position + 1
    return out
