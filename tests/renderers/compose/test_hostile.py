"""Hostile text on hosts without an engine: Apptainer is given exactly what was written, and nothing else runs."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from planner.spec.work import EnvironmentValue, Mount
from planner.specset import SpecSet
from renderers.compose import render
from tests.renderers.compose.edge import GREEN, TEAM, a_cluster
from tests.renderers.fleet import a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.test_injection import HOSTILE, NAMES, UNSENDABLE

SHOW = '#!/bin/bash\nprintf "%s\\0" "$@" >"$SHOWN/words"\nenv -0 >"$SHOWN/env"\n'


@cache
def the_specs() -> SpecSet:
    """A host with Apptainer, and one job whose text is still harmless."""
    cluster = a_cluster(GREEN, "{type: compose, engine: apptainer}")
    return specset_of(cluster, TEAM, a_job("job", "gpus: 1", "command: [run]"))


def files(**fields: object) -> dict[str, str]:
    """The files of the job with fields that no schema has seen."""
    harmless = the_specs()
    specs = replace(harmless, jobs=(harmless.jobs[0].model_copy(update=fields),))
    segment = a_segment("store/green", a_node("till-nv", 0), specs=specs)
    plan = plan_of(a_placement("job/vision/job", segment, specs=harmless), specs=harmless)
    return {item.path.rpartition("till-nv/")[2]: item.text for item in render(plan, specs, specs.clusters[0]).manifests}


@pytest.mark.parametrize("text", HOSTILE, ids=NAMES)
def test_hostile_text_reaches_apptainer_as_it_was_written(text: str, tmp_path: Path) -> None:
    env = (("HOSTILE", EnvironmentValue(value=text)), ("LD_PRELOAD", EnvironmentValue(value=text)))
    script = files(command=("run", text, "end"), env=env, image=text, title=text)["jobs/vision.job.sh"]
    (tmp_path / "apptainer").write_text(SHOW)
    (tmp_path / "apptainer").chmod(0o755)
    (tmp_path / "job").write_text(script, encoding="utf-8")
    system = {"PATH": f"{tmp_path}:{os.defpath}", "SHOWN": str(tmp_path), "LC_ALL": "C.UTF-8"}
    subprocess.run(["bash", tmp_path / "job"], env=system, check=True, cwd=tmp_path)
    words = (tmp_path / "words").read_bytes().decode().split("\0")[:-1]
    environment = dict(pair.split("=", 1) for pair in (tmp_path / "env").read_bytes().decode().split("\0")[:-1])
    assert words[:2] == ["exec", "--nv"]
    assert words[2] in (text, f"docker://{text.replace('#', '/')}")
    assert words[3:] == ["env", f"LD_PRELOAD={text}", "run", text, "end"]
    assert environment["HOSTILE"] == text
    assert "LD_PRELOAD" not in environment


@pytest.mark.parametrize("text", HOSTILE, ids=NAMES)
def test_hostile_text_is_in_no_program_of_the_schedule(text: str) -> None:
    fields: dict[str, object] = {
        "command": (text,), "image": text, "title": text, "description": text, "labels": (("a", text),)
    }  # fmt: skip
    hostile, harmless = files(**fields), files()
    assert hostile.keys() == harmless.keys()
    assert [name for name in hostile if hostile[name] != harmless[name]] == ["jobs/vision.job.sh"]


@pytest.mark.parametrize("text", UNSENDABLE, ids=["nul", "surrogate"])
def test_text_that_no_process_can_be_given_is_refused(text: str) -> None:
    with pytest.raises(TypeError):
        files(command=(text,))


@pytest.mark.parametrize("path", ["/a,b", "/a:b", "/a\\b"])
def test_a_path_that_apptainer_would_read_otherwise_is_refused(path: str) -> None:
    assert files(mounts=(Mount.model_construct(path=path, host="/x"),)) == {}
