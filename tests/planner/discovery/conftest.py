"""The bench on which machines are discovered."""

from __future__ import annotations

import pytest

from tests.planner.discovery.bench import Bench


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Where machines are built, once for all tests of a run."""
    return Bench(tmp_path_factory.mktemp("machines"))
