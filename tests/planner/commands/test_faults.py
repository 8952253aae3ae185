"""Whatever befalls a plan in the making, there is a valid plan, or a refusal that says why and keeps the instance; and
the old lock is whole.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from planner import lockfile
from planner.exits import Exit
from planner.plan import from_json
from solvers.jsonform import problem_from_json
from tests.planner.commands.conftest import FLEET, PLAN, Run, job, process

# `planner plan`, to which something happens at one moment: when the solver first tells of itself, when the lock is
# written through, or when it takes its name.
AT = """
import os, signal, sys
from pathlib import Path
from planner import lockfile, pipeline
from planner.cli import main
moment, number, *arguments = sys.argv[1:]
def befall(*_arguments, **_options):
    os.kill(os.getpid(), int(number))
def first(then, function):
    def both(*arguments, **options):
        then()
        return function(*arguments, **options)
    return both
def told(specset, *, progress, **rest):
    return plan(specset, progress=first(befall, progress), **rest)
plan = pipeline.plan
if moment == "solve":
    pipeline.plan = told
elif moment == "load":
    pipeline.plan = first(befall, plan)
elif moment == "write":
    os.fsync = first(befall, os.fsync)
else:
    Path.replace = first(befall, Path.replace)
sys.exit(main(["plan", "--budget", "0", *arguments]))
"""

# `planner plan` in a process that may take no more memory once the problem is there.
NO_MEMORY = """
import resource, sys
from importlib import import_module
from planner import pipeline
from planner.cli import main
engine = import_module("solvers.solve")
solve = engine.solve
def cramped(*arguments, **options):
    import solvers.search, solvers.check, solvers.jsonform
    taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken, resource.RLIM_INFINITY))
    try:
        return solve(*arguments, **options)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
engine.solve = cramped
sys.exit(main(["plan", "--budget", "0"]))
"""


def ended(here: Path, number: signal.Signals, moment: str, *arguments: str) -> tuple[int, str, str]:
    """Run the plan to which a signal happens; its exit code and what it said."""
    started = process(here, [moment, str(int(number)), *arguments], AT)
    out, err = started.communicate()
    return started.returncode, out, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_end_gives_a_labelled_plan_and_leaves_the_old_lock(
    run: Run, here: Path, number: signal.Signals
) -> None:
    run(*PLAN)
    before = (here / "plan.lock.json").read_bytes()
    code, out, err = ended(here, number, "solve", "--format", "json")
    assert code == Exit.INTERRUPTED, err
    plan = from_json(out)
    assert (plan.status.proof, [each.address for each in plan.placements]) == (
        "bounded" if plan.status.gap_micros else "optimal",
        ["job/vision/a", "job/vision/b"],
    )
    assert "plan.lock.json was not written" in err
    assert (here / "plan.lock.json").read_bytes() == before


@pytest.mark.parametrize("moment", ["write", "rename"])
def test_a_request_to_end_while_the_lock_is_written_leaves_the_old_one_and_nothing_else(
    run: Run, here: Path, moment: str
) -> None:
    run(*PLAN)
    before = (here / "plan.lock.json").read_bytes()
    code, out, err = ended(here, signal.SIGTERM, moment)
    assert (code, out, err.splitlines()[-1]) == (Exit.INTERRUPTED, "", "interrupted")
    assert (here / "plan.lock.json").read_bytes() == before
    assert sorted(path.name for path in here.iterdir()) == ["plan.lock.json", "specs"]


@pytest.mark.parametrize("moment", ["load", "solve", "write", "rename"])
def test_a_plan_that_is_killed_leaves_the_old_lock_and_the_next_one_writes_its_own(
    run: Run, here: Path, moment: str
) -> None:
    run(*PLAN)
    before = lockfile.read(here / "plan.lock.json")
    (here / "specs" / "more.yaml").write_text(job("c"))
    code, out, _ = ended(here, signal.SIGKILL, moment)
    assert (code, out) == (-signal.SIGKILL, "")
    assert lockfile.read(here / "plan.lock.json") == before
    assert run(*PLAN).code == Exit.OK
    assert [each.address for each in lockfile.read(here / "plan.lock.json").placements] == [
        f"job/vision/{name}" for name in "abc"
    ]


def test_without_enough_memory_there_is_no_plan_but_the_instance(here: Path) -> None:
    (here / "specs" / "fleet.yaml").write_text(FLEET.replace("2d", "60d").replace("h100-[001-002]", "h100-[001-400]"))
    started = process(here, [], NO_MEMORY)
    out, err = started.communicate()
    assert (started.returncode, out) == (Exit.FAILURE, ""), err
    assert "not enough memory to search for a plan of this size" in err
    kept = json.loads((here / "planner-failure.json").read_text())
    assert [task.name for task in problem_from_json(json.dumps(kept["problem"])).tasks] == [
        "job/vision/a",
        "job/vision/b",
    ]
    assert not (here / "plan.lock.json").exists()


@pytest.mark.parametrize(("extra", "code"), [("", Exit.OK), ("required: true\n", Exit.UNSATISFIED)])
def test_what_has_no_place_is_named_and_the_rest_is_planned(run: Run, here: Path, extra: str, code: Exit) -> None:
    late = "window: {deadline: 2026-12-01T05:00:00Z, deadline_is: hard}\n"
    (here / "specs" / "more.yaml").write_text(job("late", extra=late + extra))
    assert run(*PLAN).code == code
    plan = lockfile.read(here / "plan.lock.json")
    assert [each.address for each in plan.unplaced] == ["job/vision/late"]
    assert len(plan.placements) == 2
    assert plan.status.complete is (code is Exit.OK)


@pytest.mark.parametrize(("rate", "code"), [("900000", Exit.OK), ("9000000000", Exit.FAILURE)])
def test_rates_whose_sums_no_integer_holds_are_refused_and_smaller_ones_are_planned(
    run: Run, here: Path, rate: str, code: Exit
) -> None:
    rates = f"rates: {{P0: USD {rate}, P1: USD {rate}, P2: USD {rate}, P3: USD 1}}\nguarantee: USD {rate}.5\n"
    (here / "specs" / "fleet.yaml").write_text(FLEET.replace("currency: USD\n", f"currency: USD\n{rates}"))
    (here / "specs" / "jobs.yaml").write_text("".join(job(f"j{at}", gpus=16, hours=40) for at in range(4)))
    done = run(*PLAN)
    assert done.code == code, done.err
    assert ("more than int64 arithmetic holds safely" in done.err) == (code is Exit.FAILURE)
    assert (here / "plan.lock.json").exists() == (code is Exit.OK)
