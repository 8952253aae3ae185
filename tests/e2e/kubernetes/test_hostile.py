"""Hostile text through a real API server: what it holds is what the spec says."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from planner.spec.backend import BackendType
from planner.spec.work import EnvironmentValue
from renderers import render
from tests.e2e.labs import trees
from tests.e2e.labs.kubernetes.cluster import Cluster
from tests.renderers.fleet import a_node, a_placement, a_segment, plan_of
from tests.renderers.kubernetes.reading import container_of, expanded
from tests.renderers.test_injection import ADDRESS, LINES, PRINTABLE, the_specs

TEXTS = (*PRINTABLE, *LINES)
"""All but control characters: specs refuse them, and so does the API server in what is applied."""


def test_words_variables_and_labels_are_held_as_they_were_written(cluster: Cluster, tmp_path: Path) -> None:
    folder = hostile_tree(TEXTS, tmp_path)
    (job,) = folder.glob("*/job-*.yaml")
    cluster.apply("-k", folder)
    held = read(cluster, job)
    container = container_of(held)
    values = {item["name"]: item.get("value") for item in container["env"]}
    assert [expanded(word, {}) for word in container["command"]] == ["run", *TEXTS]
    assert [expanded(values[f"TEXT_{at}"], {}) for at in range(len(TEXTS))] == list(TEXTS)
    assert json.loads(held["metadata"]["annotations"]["planner.dev/labels"]) == labels_of(TEXTS)


def hostile_tree(texts: tuple[str, ...], folder: Path) -> Path:
    """A job with the texts as words, variables and labels, which the schema was not asked about."""
    harmless = the_specs(BackendType.KUBERNETES)
    env = tuple((f"TEXT_{at}", EnvironmentValue(value=text)) for at, text in enumerate(texts))
    labels = tuple(labels_of(texts).items())
    job = harmless.jobs[0].model_copy(update={"command": ("run", *texts), "env": env, "labels": labels})
    segment = a_segment("c1/p", a_node("n-1", 0, 1), specs=harmless)
    plan = plan_of(a_placement(ADDRESS, segment, specs=harmless), specs=harmless)
    return trees.written(render(plan, replace(harmless, jobs=(job,))), folder) / "c1"


def labels_of(texts: tuple[str, ...]) -> dict[str, str]:
    return {f"note-{at}": text for at, text in enumerate(texts)}


def read(cluster: Cluster, path: Path) -> dict[str, Any]:
    """The job of a file, as the API server holds it."""
    meta = yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)["metadata"]
    return cluster.api.call("GET", f"/apis/batch/v1/namespaces/{meta['namespace']}/jobs/{meta['name']}")
