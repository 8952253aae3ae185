"""Workloads of Kubernetes and scripts of sbatch to import."""

from __future__ import annotations

import json
from typing import Any

from planner import catalog
from planner.discovery.found import Text
from planner.discovery.imports.imported import Imported, ImportWish, Refused, Result
from planner.discovery.imports.read import imported
from planner.discovery.models import Models, said

MODELS = said([], catalog.load())
SECRET = "hunter2"
DAY = ImportWish(duration="1d")
SCRIPT = """#!/bin/bash
#SBATCH --job-name=Llama_Pretrain
#SBATCH -A vision -N 4
#SBATCH --gres=gpu:h100:8 --ntasks-per-node=8 -c 12
#SBATCH --mem=1800G  # all of it
#SBATCH -t 2-12
#SBATCH -C "ib&hopper" --qos=p1 --mail-user=ann@acme.example

module load cuda
#SBATCH --nodes=9
srun python train.py
"""


def pod(
    limits: dict[str, Any] | None = None, *, selector: dict[str, str] | None = None, **container: Any
) -> dict[str, Any]:
    held = {"nvidia.com/gpu": "8"} if limits is None else limits
    main = {"name": "main", "image": "registry.acme/train:2.9", "command": ["torchrun", "train.py"],
            "resources": {"limits": held}} | container  # fmt: skip
    return {
        "spec": {"containers": [main], "restartPolicy": "Never", **({"nodeSelector": selector} if selector else {})}
    }


def job(template: dict[str, Any] | None = None, *, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "resnet", "namespace": "vision", **({"labels": labels} if labels else {})},
        "spec": {"template": template or pod(), **spec},
    }  # fmt: skip


def job_set(*jobs: dict[str, Any], **spec: Any) -> dict[str, Any]:
    names = {"name": "js", "namespace": "vision"}
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": names,
            "spec": {"replicatedJobs": list(jobs), **spec}}  # fmt: skip


def replicated(name: str, template: dict[str, Any], *, replicas: int = 1, **spec: Any) -> dict[str, Any]:
    return {"name": name, "replicas": replicas, "template": {"spec": {"template": template, **spec}}}


def pytorch(master: dict[str, Any], worker: dict[str, Any], workers: int, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "pt", "namespace": "vision"},
        "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": master},
                                         "Worker": {"replicas": workers, "template": worker}}, **spec},
    }  # fmt: skip


def a(kind: str, api: str, spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An object of any kind."""
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "w", "namespace": "vision"}, "spec": spec, **more}


def results(*objects: dict[str, Any], wish: ImportWish = DAY, models: Models = MODELS) -> tuple[Result, ...]:
    files = [Text(name=f"{at}.json", data=json.dumps(tree).encode()) for at, tree in enumerate(objects)]
    return imported(files, wish, models)


def one(tree: dict[str, Any], wish: ImportWish = DAY) -> Imported:
    (result,) = results(tree, wish=wish)
    assert isinstance(result, Imported), result
    return result


def reason(tree: dict[str, Any], wish: ImportWish = DAY) -> str:
    (result,) = results(tree, wish=wish)
    assert isinstance(result, Refused), result
    return result.reason
