"""Work that is interrupted for more urgent work, and goes on from its checkpoint: Slurm's own doing, as planned."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from planner.apply.backend import Programs
from planner.apply.collect import Rendering, items_of
from planner.apply.slurm import Slurm
from planner.apply.workfiles import WorkFiles
from planner.plan import Placement
from renderers import render
from tests.e2e.labs import trees
from tests.e2e.labs.processes import wait_for
from tests.e2e.labs.slurm.site import Site
from tests.e2e.labs.timescale import scaled
from tests.e2e.labs.trees import Planned
from tests.e2e.slurm import scenarios
from tests.e2e.slurm.accounting import Account, runs
from tests.renderers.fleet import a_node, a_placement, a_segment, plan_of

PATIENT, URGENT = "job/vision/patient", "job/vision/urgent"
RESUMING = (
    'if [ -e "$RECORD" ]; then echo resumed >>"$RECORD"; exit; fi; trap "echo saved >>$RECORD; exit 1" TERM; '
    'echo began >>"$RECORD"; sleep 60 & wait'
)
"""Work that would take a minute, saves what it has when it is told to stop, and is done soon when it goes on."""


def planned(record: Path) -> Planned:
    """Borrowed work on a whole node, which makes room for owned work in the second slot and goes on in the third."""
    made = scenarios.planned(
        scenarios.a_payload(
            "patient",
            scenarios.green(4),
            hours=2,
            record=str(record),
            command=["bash", "-c", RESUMING],
            priority="P3",
            checkpoint={"every": "10m", "restart": "1m"},
        ),
        scenarios.a_payload("urgent", scenarios.green(4), priority="P0", command=["sleep", "5"]),
    )
    return Planned(specs=made.specs, plan=plan_of(*placements(made), specs=made.specs))


def placements(made: Planned) -> tuple[Placement, ...]:
    node, specs = a_node("green-3", 0, 1, 2, 3), made.specs
    first, last = (a_segment("small/green", node, specs=specs, start=at, hours=1) for at in (0, 2))
    between = a_segment("small/green", node, specs=specs, start=1, hours=1)
    return (a_placement(PATIENT, first, last, specs=specs), a_placement(URGENT, between, specs=specs))


@pytest.fixture(scope="module")
def lived(site: Site, tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[Account, ...], list[str]]:
    """The runs of both jobs, and what the interrupted one wrote."""
    folder = tmp_path_factory.mktemp("interruption")
    made = planned(folder / "record")
    plan = scaled(made.plan, begin=int(time.time()) + 2, slot_seconds=10)
    tree = trees.rendered_into(folder / "manifests", Planned(specs=made.specs, plan=plan))
    site.submit(tree / scenarios.CLUSTER)
    wait_for(lambda: not site.queue("%A"), "the end of both", seconds=120, every=1)
    wait_for(lambda: all(item.end for item in ours(site)), "the accounts")
    return ours(site), (folder / "record").read_text().split()


def ours(site: Site) -> tuple[Account, ...]:
    return tuple(item for item in runs(site) if item.address in (PATIENT, URGENT))


def test_borrowed_work_makes_room_and_runs_again_afterwards(lived: tuple[tuple[Account, ...], list[str]]) -> None:
    found = [(item.address, item.state) for item in lived[0]]
    assert found == [(PATIENT, "PREEMPTED"), (URGENT, "COMPLETED"), (PATIENT, "COMPLETED")]


def test_all_of_them_run_on_the_planned_node_one_after_the_other(
    lived: tuple[tuple[Account, ...], list[str]],
) -> None:
    first, urgent, last = lived[0]
    assert {item.nodes for item in lived[0]} == {("green-3",)}
    assert first.end <= urgent.start <= urgent.end <= last.start


def test_interrupted_work_is_told_and_finds_its_checkpoint(lived: tuple[tuple[Account, ...], list[str]]) -> None:
    assert lived[1] == ["began", "saved", "resumed"]


def test_apply_holds_work_that_runs_and_lets_it_go_on(empty_site: Site, tmp_path: Path) -> None:
    made = planned(tmp_path / "record")
    plan = scaled(plan_of(placements(made)[0], specs=made.specs), begin=int(time.time()), slot_seconds=600)
    tree = trees.rendered_into(tmp_path / "manifests", Planned(specs=made.specs, plan=plan))
    files = render(plan, made.specs).manifests
    every = [Rendering(path=file.path, text=file.text, addresses=file.addresses) for file in files]
    script = next(item for item in items_of(every, made.specs) if item.record.is_workload)
    slurm = Slurm(files=WorkFiles(root=tree), runner=Programs(empty_site.environment))
    empty_site.submit(tree / scenarios.CLUSTER)
    wait_for((tmp_path / "record").exists, "the first run")
    assert slurm.release(script.record, PATIENT) is False
    assert slurm.interrupt(script.record, PATIENT) is True
    wait_for(lambda: list(empty_site.queue("%T").values()) == ["PENDING"], "the end of the first run")
    assert (tmp_path / "record").read_text().split() == ["began", "saved"]
    assert slurm.interrupt(script.record, PATIENT) is False
    assert slurm.release(script.record, PATIENT) is True
    assert slurm.release(script.record, PATIENT) is False
