"""Verbs that do not solve load no solver."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner import lockfile
from planner.exits import Exit
from planner.plan import to_json
from tests.planner.commands.conftest import PLAN, Run, process
from tests.planner.plans import a_placement, a_plan

LOADED = """
import sys
from planner.cli import main
code = main(sys.argv[1:])
print("loaded:", *sorted({"ortools", "numba", "numpy", "git"} & set(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate",),
        ("schema",),
        ("show",),
        ("show", "catalog"),
        ("diff", "plan.lock.json", "other.json"),
        ("render", "--out", "m"),
        ("apply", "--digest", "DIGEST", "--record", "fleet", "--at", "2026-12-01T00:00:00Z"),
    ],
    ids=" ".join,
)
def test_no_solver_is_loaded(arguments: tuple[str, ...], run: Run, here: Path) -> None:
    assert run(*PLAN).code == Exit.OK
    lockfile.write(here / "other.json", to_json(a_plan([a_placement()])))
    digest = lockfile.read(here / "plan.lock.json").digest
    started = process(here, tuple(digest if word == "DIGEST" else word for word in arguments), LOADED)
    _, err = started.communicate()
    assert started.returncode == 0, err
    assert err.splitlines()[-1] == "loaded:"
