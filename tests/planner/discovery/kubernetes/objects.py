"""Objects of a Kubernetes cluster, with the fields that its own programs write."""

from __future__ import annotations

import json
from typing import Any

from planner import catalog
from planner.discovery.found import ClusterFacts, Text
from planner.discovery.kubernetes.objects import Thing, things
from planner.discovery.kubernetes.read import read
from planner.discovery.models import Models, said

MODELS = said([], catalog.load())
H100 = "h100-sxm5-80gb"
SECRET = "hunter2"
HASH = "sha256:" + "ab" * 32


def node(
    name: str,
    labels: dict[str, str] | None = None,
    *,
    resources: dict[str, str] | None = None,
    spec: dict[str, Any] | None = None,
    ready: str = "True",
    version: str = "v1.31.4",
) -> dict[str, Any]:
    """A node of 8 H100 as NVIDIA's feature discovery labels it, unless labels and resources say otherwise."""
    marks = {"kubernetes.io/hostname": name, **(h100() if labels is None else labels)}
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": marks},
        "spec": spec or {},
        "status": {
            "allocatable": {"cpu": "191500m", "memory": "2113929216Ki", "pods": "110",
                            **({"nvidia.com/gpu": "8"} if resources is None else resources)},
            "conditions": [{"type": "Ready", "status": ready, "reason": "KubeletReady" if ready == "True" else "Lost"}],
            "nodeInfo": {"architecture": "amd64", "kubeletVersion": version},
        },
    }  # fmt: skip


def h100(**more: str) -> dict[str, str]:
    labels = {
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.memory": "81559",
        "nvidia.com/gpu.count": "8", "nvidia.com/gpu.replicas": "1", "nvidia.com/gpu.sharing-strategy": "none",
        "nvidia.com/cuda.driver-version.full": "570.86.15", "nvidia.com/cuda.runtime-version.full": "12.8",
    }  # fmt: skip
    return labels | {f"nvidia.com/{key.replace('_', '.')}": value for key, value in more.items()}


def mi300x(**more: str) -> dict[str, str]:
    labels = {"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM", "amd.com/gpu.vram": "192G",
              "amd.com/gpu.driver-version": "6.10.5"}  # fmt: skip
    return labels | {f"amd.com/gpu.{key.replace('_', '-')}": value for key, value in more.items()}


def pod(
    name: str,
    on: str = "",
    *,
    devices: int = 1,
    owner: str = "",
    phase: str = "Running",
    namespace: str = "vision",
    resource: str = "nvidia.com/gpu",
) -> dict[str, Any]:
    """A pod with a secret in its environment, which nothing may ever show."""
    references = [{"apiVersion": "batch/v1", "kind": "Job", "name": owner, "controller": True}] if owner else []
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "ownerReferences": references},
        "spec": {
            **({"nodeName": on} if on else {}),
            "containers": [{
                "name": "main", "image": "registry.acme/train", "command": ["train", f"--token={SECRET}"],
                "env": [{"name": "TOKEN", "value": SECRET}],
                "resources": {"requests": {"cpu": "7500m", "memory": "64Gi"},
                              "limits": {resource: str(devices)} if devices else {}},
            }],
        },
        "status": {"phase": phase, "startTime": "2026-11-30T21:00:00Z"},
    }  # fmt: skip


def job(
    name: str,
    address: str = "",
    *,
    spec: dict[str, Any] | None = None,
    conditions: list[dict[str, str]] | None = None,
    spec_hash: str = HASH,
) -> dict[str, Any]:
    marks = {"planner.dev/address": address, "planner.dev/spec-hash": spec_hash} if address else {}
    return {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "namespace": "vision", "annotations": marks},
        "spec": spec or {},
        "status": {"startTime": "2026-11-30T20:00:00Z", "conditions": conditions or []},
    }  # fmt: skip


def listed(*objects: dict[str, Any]) -> list[Text]:
    tree = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
    return [Text(name="objects.json", data=json.dumps(tree).encode())]


def found(*objects: dict[str, Any]) -> tuple[Thing, ...]:
    return things(listed(*objects))


def facts(*objects: dict[str, Any], models: Models = MODELS) -> ClusterFacts:
    return read(listed(*objects), models, 1_796_073_600)
