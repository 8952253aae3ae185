"""The planner as people run it, in an environment of a lab's own."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from planner.source import read_tree
from planner.specset import SpecSet, load
from tests.e2e.labs.processes import run

ROOT = Path(__file__).parents[3]


def planner(*words: object, env: Mapping[str, str], cwd: Path) -> str:
    """What the planner says; a failure is that of the test."""
    return run(sys.executable, "-m", "planner.cli", *words, env={**env, "PYTHONPATH": str(ROOT)}, cwd=cwd)


def loaded(*paths: Path) -> SpecSet:
    """The specs in files and below folders, which must be valid together."""
    result = load([file for path in paths for file in read_tree(path)])
    assert result.specset is not None, result.diagnostics
    return result.specset
