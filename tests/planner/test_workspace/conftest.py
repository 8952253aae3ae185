"""Repositories with specs, and how tests open them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from planner import workspace
from planner.workspace import Workspace
from tests.planner.repositories import Open, commit, isolate, repository


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep this machine's settings out."""
    isolate(monkeypatch)


@pytest.fixture
def opened() -> Iterator[Open]:
    """Open trees of specs, and close them after the test."""
    with ExitStack() as stack:

        def one(root: Path) -> Workspace:
            found = workspace.find(root)
            assert found is not None
            return stack.enter_context(found)

        yield one


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """Two commits on main, of two spec files."""
    folder = repository(tmp_path / "repo")
    commit(folder, hour=0, specs__a="name: a\n")
    commit(folder, hour=2, specs__jobs__b="name: b\n")
    return folder
