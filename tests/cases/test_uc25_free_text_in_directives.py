"""UC-25: no blank, parenthesis, `$` or `#` of a user reaches an `#SBATCH` line, and the command arrives unchanged."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from planner.spec.work import EnvironmentValue
from renderers.payload import jobs_of
from renderers.slurm import words
from renderers.slurm.reading import components
from renderers.slurm.tree import script
from tests.renderers.slurm.site import TEAM, a_cluster, a_site, lint
from tests.renderers.slurm.test_body import run

COMMAND = 'command: [run, "$HOME", "*", "two\\nlines", "-n", "it\'s \\"so\\""]'
ARRIVES = ["run", "$HOME", "*", "two\nlines", "-n", 'it\'s "so"']


def test_the_job_of_the_thread_keeps_all_its_directives(tmp_path: Path) -> None:
    fields = (
        COMMAND,
        "image: 'reg.local:5443#team/app:1'",
        "gpus: 8",
        "title: Big (v2) sim",
        'description: "a \\"quoted\\" word, and another"',
        "labels: {owner: 'R&D vision (team)'}",
    )
    team = f"{TEAM}title: R&D-vision\ncost_center: 'R&D (x)'\n"
    site = a_site(*fields, team=team, cluster=a_cluster("{type: slurm, containers: pyxis}"))
    (component,) = components(site.script())
    assert component.get("time") == "0-02:30:00"
    assert component.get("gres") == "gpu:h100:8"
    assert lint(site.script()) == ""
    argv, ran, _ = run(site.script(), tmp_path)
    assert ran == ARRIVES
    assert "--container-image=reg.local:5443#team/app:1" in argv


def test_the_name_of_the_thread_is_made_harmless() -> None:
    name = words.job_name("Big (v2) sim", "sha256:1")
    assert name.startswith("Big-v2-sim-")
    assert not set(name) & set(" ()'\"#$\\")


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_any_text_in_any_free_field_gives_the_same_directives(text: str) -> None:
    site = a_site("command: [a]", "gpus: 8")
    (payload,) = jobs_of(site.plan, site.specs, site.specs.cluster("hpc"))
    job = payload.job.model_copy(
        update={
            "title": text,
            "description": text,
            "labels": (("a", text),),
            "command": ("run", text),
            "env": (("A", EnvironmentValue(value=text)),),
        }
    )
    from dataclasses import replace

    specs = replace(site.specs, jobs=(job,))
    (hostile,) = jobs_of(site.plan, specs, specs.cluster("hpc"))
    given, comment = parted(script(hostile, specs))
    assert given == parted(site.script())[0]
    assert re.fullmatch(r"planner:job/vision/train@[0-9a-f]{12}\+[0-9a-f]{8}\.[0-9a-f]{8}", comment)


def parted(text: str) -> tuple[list[tuple[str, str | None]], str]:
    """The options of a script but for its comment, which is a digest of what runs; and the comment."""
    (component,) = components(text)
    return [option for option in component.options if option[0] != "comment"], str(dict(component.options)["comment"])
