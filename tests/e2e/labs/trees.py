"""The specs of the repository, planned, and rendered files in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from planner import pipeline
from planner.plan import Plan
from planner.specset import SpecSet
from renderers import Rendered, render

SPECS = Path(__file__).parents[3] / "specs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """Specs and a plan for them."""

    specs: SpecSet
    plan: Plan


@cache
def the_specs() -> Planned:
    """The example that the repository plans; what is built at once will do here, it need not be the best plan."""
    specs = pipeline.load(SPECS).specset
    assert specs is not None
    plan = pipeline.plan(specs, start=pipeline.start_of(specs), budget=0).plan
    return Planned(specs=specs, plan=plan)


def written(rendered: Rendered, folder: Path) -> Path:
    """`folder`, with all rendered files below it."""
    for manifest in rendered.manifests:
        path = folder / manifest.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(manifest.text, encoding="utf-8")
        path.chmod(0o755 if manifest.executable else 0o644)
    return folder


def rendered_into(folder: Path, planned: Planned) -> Path:
    """`folder`, with the manifests of every back end below it."""
    return written(render(planned.plan, planned.specs), folder)
