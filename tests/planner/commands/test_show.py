"""`planner show`: a plan as it was printed, and the catalogue."""

from __future__ import annotations

import json
from pathlib import Path

from planner import catalog, lockfile
from planner.exits import Exit
from planner.plan import to_json
from tests.planner.commands.conftest import Run
from tests.planner.plans import a_placement, a_plan


def test_a_lock_is_shown_as_text(run: Run, here: Path) -> None:
    lockfile.write(here / "plan.lock.json", to_json(a_plan([a_placement("vision/resnet", 0, 18)])))
    done = run("show")
    assert (done.code, done.err) == (Exit.OK, "")
    assert done.out.startswith("Plan ")
    assert "vision/resnet" in done.out


def test_json_is_the_lock_byte_for_byte(run: Run, here: Path) -> None:
    text = to_json(a_plan([a_placement()]))
    lockfile.write(here / "plan.lock.json", text)
    assert run("show", "plan.lock.json", "--format", "json").out == text


def test_what_is_no_plan_is_refused_by_name(run: Run, here: Path) -> None:
    (here / "other.json").write_text("{}")
    done = run("show", "other.json")
    assert done.code == Exit.FAILURE
    assert "other.json: not a planner/plan/v1 file" in done.err


def test_colour_is_a_choice(run: Run, here: Path) -> None:
    lockfile.write(here / "plan.lock.json", to_json(a_plan([a_placement()])))
    assert "\x1b" not in run("show").out
    assert "\x1b[" in run("show", "--color", "always").out


def test_the_catalogue_lists_every_model(run: Run) -> None:
    slugs = [accelerator.slug for accelerator in catalog.load().accelerators]
    done = run("show", "catalog")
    assert done.code == Exit.OK
    assert [line.split()[0] for line in done.out.splitlines()[2:-1]] == slugs
    document = json.loads(run("show", "catalog", "--format", "json").out)
    assert [item["model"] for item in document["accelerators"]] == slugs
