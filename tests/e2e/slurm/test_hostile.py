"""Hostile text in commands and variables: through Slurm's own parser and a real run, byte for byte."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

from planner.spec.work import EnvironmentValue
from tests.e2e.labs import trees
from tests.e2e.labs.processes import wait_for
from tests.e2e.labs.slurm.site import Site
from tests.e2e.labs.timescale import scaled
from tests.e2e.labs.trees import Planned
from tests.e2e.slurm import scenarios
from tests.renderers.fleet import a_node, a_placement, a_segment, plan_of
from tests.renderers.test_injection import LINES, PRINTABLE

TEXTS = (*PRINTABLE, *LINES)
SAY = (
    "import os, sys; out = open(os.environ['RECORD'], 'wb'); "
    "texts = sys.argv[1:] + [os.environ[f'TEXT_{at}'] for at in range(len(sys.argv) - 1)]; "
    "out.write(b'\\0'.join(map(os.fsencode, texts))); out.close()"
)


def hostile_fields(record: Path) -> dict[str, object]:
    """A command and variables that the schema was not asked about."""
    env = {"RECORD": str(record)} | {f"TEXT_{at}": text for at, text in enumerate(TEXTS)}
    return {
        "command": (sys.executable, "-c", SAY, *TEXTS),
        "env": tuple((name, EnvironmentValue(value=text)) for name, text in env.items()),
    }


def test_words_and_variables_arrive_byte_for_byte(empty_site: Site, tmp_path: Path) -> None:
    record = tmp_path / "record"
    harmless = scenarios.small_site().specs
    segment = a_segment("small/green", a_node("green-1", 0), specs=harmless, hours=1)
    plan = plan_of(a_placement("job/vision/alone", segment, specs=harmless), specs=harmless)
    moved = scaled(plan, begin=int(time.time()), slot_seconds=60)
    specs = replace(harmless, jobs=(harmless.jobs[0].model_copy(update=hostile_fields(record)),))
    tree = trees.rendered_into(tmp_path / "manifests", Planned(specs=specs, plan=moved))
    empty_site.submit(tree / scenarios.CLUSTER)
    wait_for(lambda: not empty_site.queue("%A"), "the end of the job")
    assert record.read_bytes().decode().split("\0") == [*TEXTS, *TEXTS]
    assert not Path("/tmp/owned").exists()
