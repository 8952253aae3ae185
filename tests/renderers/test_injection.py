"""Hostile text in every free-text field, through every renderer, arrives as exactly that text or is refused."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.plan import Plan
from planner.spec.backend import BackendType
from planner.spec.job import Job
from planner.spec.work import EnvironmentValue, Mount
from planner.specset import SourceFile, SpecSet, load
from renderers import RENDERERS, Rendered, kubernetes
from renderers.environment import yaml_value
from tests.renderers.fleet import a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.kubernetes import reading

PRINTABLE = (
    "plain",
    "two words",
    " leading and trailing ",
    '"',
    "'",
    "''",
    'it\'s "both"',
    "\\",
    "\\n",
    "\\\\",
    'a"; rm -rf /; "',
    "'; rm -rf /; '",
    "$(touch /tmp/owned)",
    "`touch /tmp/owned`",
    "${HOME}",
    "$HOME",
    "$$HOME",
    "$(HOME)",
    "$$(HOME)",
    "$",
    "a$",
    "$(",
    "{{ 7 * 7 }}",
    "{{7*7}}",
    "{% for x in y %}",
    "{# comment #}",
    "%j",
    "%",
    "100%",
    "#",
    "# comment",
    "a # b",
    "#SBATCH --wrap=id",
    "---",
    "--- a",
    "...",
    "- item",
    "key: value",
    "key:",
    ": value",
    "[a, b]",
    "{a: b}",
    "&anchor",
    "*alias",
    "!!python/object/apply:os.system [id]",
    "| block",
    "> folded",
    "? complex",
    "@at",
    "~",
    "null",
    "NO",
    "true",
    "0755",
    "1e16",
    "10:30",
    "--privileged",
    "-n",
    "-",
    "*",
    "~root",
    "!history",
    "a;b&&c|d>e<f",
    "émile 日本語 🚀",
    "\u202egnp.exe\u202c",
    "zero\u200bwidth",
    "no\u00a0break",
    "a" * 5_000,
)
LINES = (
    "two\nlines",
    "\n",
    "ends\n",
    "\nbegins",
    "tab\there",
    "a\n---\nkind: Secret",
    "x\n#SBATCH --wrap=id",
    "a\n  b: c",
)
CONTROL = (
    "next\u0085line",
    "line\u2028separator",
    "para\u2029graph",
    "cr\rlf\r\n",
    "bell\x07",
    "esc\x1b[31m",
    "del\x7f",
    "c1\x9b",
    "bom\ufeff",
    "\ufffe",
)
UNSENDABLE = ("nul\0byte", "half\ud800pair")

HOSTILE = (*PRINTABLE, *LINES, *CONTROL)
NAMES = [f"{index:02}-{text[:12]!a}" for index, text in enumerate(HOSTILE)]
ADDRESS = "job/vision/hostile"

CLUSTER = """
apiVersion: planner/v1
kind: Cluster
name: c1
backend: {backend}
pools:
  - name: p
    nodes: n-1
    gpus: {{model: l40s, count: 2}}
    cpus: 32
    memory: 256Gi
---
apiVersion: planner/v1
kind: Team
name: vision
"""


@cache
def the_specs(backend: BackendType) -> SpecSet:
    """One node of one back end, and one job whose text is still harmless."""
    return specset_of(CLUSTER.format(backend=backend), a_job("hostile", "gpus: 2", "command: [run]"))


def rendered(backend: BackendType, **fields: object) -> tuple[Rendered, Plan, SpecSet]:
    """The files of a job whose fields were replaced without asking the schema."""
    harmless = the_specs(backend)
    specs = replace(harmless, jobs=(harmless.jobs[0].model_copy(update=fields),))
    segment = a_segment("c1/p", a_node("n-1", 0, 1), specs=specs)
    plan = plan_of(a_placement(ADDRESS, segment, specs=harmless), specs=harmless)
    return RENDERERS[backend](plan, specs, specs.clusters[0]), plan, specs


def everywhere(text: str) -> dict[str, object]:
    """`text` as a word of the command, as a variable, as image, title, description and label."""
    return {
        "command": ("run", text, "end"),
        "env": (("HOSTILE", EnvironmentValue(value=text)), ("LAST", EnvironmentValue(value="end"))),
        "image": text,
        "title": text,
        "description": text,
        "labels": (("note", text), (f"key {text[:900]}", "v")),
    }


def read_kubernetes(result: Rendered, folder: Path) -> Mapping[str, object]:
    """What the cluster and the process would see."""
    job = reading.job_at(result, ADDRESS)
    container, annotations = reading.container_of(job), job["metadata"]["annotations"]
    visible = {"HOME": "/expanded"}
    return {
        "command": tuple(reading.expanded(word, visible) for word in container["command"]),
        "env": {item["name"]: reading.expanded(item["value"], visible) for item in container["env"]},
        "image": container["image"],
        "title": annotations.get("planner.dev/title", ""),
        "description": annotations.get("planner.dev/description", ""),
        "labels": json.loads(annotations["planner.dev/labels"]),
    }


def read_slurm(result: Rendered, folder: Path) -> Mapping[str, object]:
    """What a process sees that the script starts by a `srun` which only shows its words and its environment."""
    (script,) = [item.text for item in result.manifests if item.path.endswith(".sbatch")]
    srun = folder / "srun"
    srun.write_text('#!/bin/bash\nprintf "%s\\0" "$@" >"$SHOWN/words"\nenv -0 >"$SHOWN/env"\n', encoding="utf-8")
    srun.chmod(0o755)
    (folder / "job").write_text(script, encoding="utf-8")
    system = {"PATH": f"{folder}:{os.defpath}", "SHOWN": str(folder), "SLURM_JOB_ID": "1", "LC_ALL": "C.UTF-8"}
    subprocess.run(["bash", str(folder / "job")], env=system, check=True, cwd=folder)
    words = (folder / "words").read_bytes().decode().split("\0")[:-1]
    pairs = (folder / "env").read_bytes().decode().split("\0")[:-1]
    return {
        "command": tuple(words[words.index("--") + 1 :]),
        "env": dict(pair.split("=", 1) for pair in pairs),
    }


def read_compose(result: Rendered, folder: Path) -> Mapping[str, object]:
    """What Compose makes of a project: `$$` is one `$`; a single one would be a variable."""
    (project,) = [
        yaml.load(item.text, Loader=yaml.CSafeLoader) for item in result.manifests if item.path.endswith("compose.yaml")
    ]
    (service,) = project["services"].values()
    labels = interpolated(service["labels"])
    kept = json.loads(labels["planner.dev/labels"]) if "planner.dev/labels" in labels else labels
    return {
        "command": tuple(interpolated(service["command"])),
        "env": interpolated(service["environment"]),
        "image": interpolated(service["image"]),
        "title": labels.get("planner.dev/title", ""),
        "description": labels.get("planner.dev/description", ""),
        "labels": {key: value for key, value in kept.items() if not key.startswith("planner.dev/")},
    }


def interpolated(value: Any) -> Any:
    """Values, but not keys, as Compose reads them; a `$` that is not doubled fails."""
    match value:
        case str():
            assert "$" not in value.replace("$$", ""), value
            return value.replace("$$", "$")
        case list():
            return [interpolated(item) for item in value]
        case dict():
            return {key: interpolated(item) for key, item in value.items()}
        case _:
            return value


READERS: Mapping[BackendType, Callable[[Rendered, Path], Mapping[str, object]]] = {
    BackendType.KUBERNETES: read_kubernetes,
    BackendType.SLURM: read_slurm,
    BackendType.COMPOSE: read_compose,
}


def test_every_renderer_is_read_back() -> None:
    assert READERS.keys() == RENDERERS.keys()


def test_there_are_more_than_sixty_hostile_strings() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) > 60


@pytest.mark.parametrize("text", HOSTILE, ids=NAMES)
@pytest.mark.parametrize("backend", RENDERERS)
def test_hostile_text_arrives_as_it_was_written(backend: BackendType, text: str, tmp_path: Path) -> None:
    fields = (
        everywhere(text) if backend is not BackendType.SLURM or "\n" not in text else everywhere(text) | {"image": "i"}
    )
    result, _, _ = rendered(backend, **fields)
    seen = READERS[backend](result, tmp_path)
    expected = {
        "command": ("run", text, "end"),
        "image": text,
        "title": text,
        "description": text,
        "labels": {"note": text, f"key {text[:900]}": "v"},
    }
    env = seen["env"]
    assert isinstance(env, dict)
    assert (env["HOSTILE"], env["LAST"]) == (text, "end")
    assert seen["command"] == expected["command"]
    assert {key: expected[key] for key in seen if key in expected} == {
        key: seen[key] for key in seen if key in expected
    }


@pytest.mark.parametrize("backend", RENDERERS)
def test_hostile_text_adds_no_file_and_moves_none(backend: BackendType) -> None:
    def kinds(text: str) -> list[str]:
        result, _, _ = rendered(backend, **everywhere(text))
        return sorted(Path(item.path).suffix for item in result.manifests)

    assert all(kinds(text) == kinds("plain") for text in (*PRINTABLE, *CONTROL))


@pytest.mark.parametrize("text", UNSENDABLE, ids=["nul", "surrogate"])
@pytest.mark.parametrize("field", ["command", "env"])
@pytest.mark.parametrize("backend", RENDERERS)
def test_text_that_no_process_can_be_given_is_refused(backend: BackendType, field: str, text: str) -> None:
    with pytest.raises(TypeError):
        rendered(backend, **{field: everywhere(text)[field]})


@pytest.mark.parametrize("text", (*PRINTABLE, *CONTROL), ids=ascii)
def test_hostile_words_of_a_pod_arrive_and_change_nothing_else(text: str) -> None:
    hostile = {
        "mounts": (
            Mount.model_construct(path=text, host=text),
            Mount.model_construct(path="/b", claim=text, read_only=True),
        ),
        "pull_secrets": (text,),
        "service_account": text,
        "user": text,
    }
    result, plan, specs = rendered(BackendType.KUBERNETES, **hostile)
    found = reading.documents(result)
    assert kubernetes.verify(found, plan, specs, specs.clusters[0], result.degraded) == ()
    pod = reading.pod_of(reading.job_at(result, ADDRESS))
    assert [item.get("hostPath", item.get("persistentVolumeClaim")) for item in pod["volumes"][1:]] == [
        {"path": text},
        {"claimName": text},
    ]
    assert [item["mountPath"] for item in reading.container_of(reading.job_at(result, ADDRESS))["volumeMounts"]] == [
        "/dev/shm",
        text,
        "/b",
    ]
    assert pod["imagePullSecrets"] == [{"name": text}]
    assert pod["serviceAccountName"] == text
    assert set(pod) <= {
        "affinity", "containers", "enableServiceLinks", "imagePullSecrets", "nodeSelector", "restartPolicy",
        "securityContext", "serviceAccountName", "volumes",
    }  # fmt: skip


@pytest.mark.parametrize("text", (*HOSTILE, "nul\0byte"), ids=ascii)
def test_the_schema_is_the_first_fence(text: str) -> None:
    """Printable text is loaded as it was written; control characters never come as far as a renderer."""
    written = yaml_value(text) if "\0" not in text else '"nul\\0byte"'
    document = a_job("hostile", "gpus: 2", f"command: [{written}]", f"env: {{A: {written}}}")
    files = [SourceFile("a.yaml", CLUSTER.format(backend="slurm").encode()), SourceFile("b.yaml", document.encode())]
    result = load(files)
    if text in (*PRINTABLE, *LINES):
        assert result.specset is not None
        job: Job = result.specset.jobs[0]
        assert job.command == (text,)
        assert dict(job.env)["A"].value == text
    else:
        assert result.specset is None
        assert any(item.is_error and "control character" in item.summary for item in result.diagnostics)
