"""The programs of a Kubernetes lab, built from pinned modules, and the definitions that these modules bring."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import yaml

from tests.e2e.labs import gobuild
from tests.e2e.labs.kubernetes.api import Object

HERE = Path(__file__).parent
KUBERNETES = tuple(
    f"k8s.io/kubernetes/cmd/{name}"
    for name in ("kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl")
)
KUEUE = ("sigs.k8s.io/kueue/cmd/kueue",)
FACTS = {
    "gitVersion": "v1.37.2",
    "gitMajor": "1",
    "gitMinor": "37",
    "gitCommit": "lab",
    "gitTreeState": "clean",
}
"""A program built from a module knows no version, and Kueue refuses a server without one."""

DEFINITIONS = {
    "sigs.k8s.io/kueue": "config/components/crd/bases",
    "sigs.k8s.io/jobset": "config/components/crd/bases",
    "sigs.k8s.io/lws": "config/crd/bases",
    "github.com/kubeflow/trainer/v2": "manifests/base/crds",
    "github.com/kubeflow/training-operator": "manifests/base/crds",
    "github.com/ray-project/kuberay/ray-operator": "config/crd/bases",
}
"""Modules, and their folders of CustomResourceDefinitions."""


@cache
def kubernetes() -> Path:
    """The folder of the control plane's programs and kubectl."""
    return gobuild.built(HERE / "kubernetes", KUBERNETES, _versions())


@cache
def kueue() -> Path:
    """The folder of Kueue."""
    return gobuild.built(HERE / "kueue", KUEUE, _versions())


def _versions() -> str:
    return " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in FACTS.items())


def definitions() -> Iterator[Object]:
    """Every definition that the lab installs; no webhook that would convert between versions runs here."""
    for module, folder in DEFINITIONS.items():
        for path in sorted((gobuild.module_folder(HERE / "kueue", module) / folder).glob("*.yaml")):
            for document in yaml.load_all(path.read_text("utf-8"), Loader=yaml.CSafeLoader):
                if document and document["kind"] == "CustomResourceDefinition":
                    document["spec"].pop("conversion", None)
                    yield document


def webhooks() -> list[Object]:
    """The webhooks of Kueue, as its module describes them."""
    path = gobuild.module_folder(HERE / "kueue", "sigs.k8s.io/kueue") / "config/components/webhook/manifests.yaml"
    return list(yaml.load_all(path.read_text("utf-8"), Loader=yaml.CSafeLoader))
