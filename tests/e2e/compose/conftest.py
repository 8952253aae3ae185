"""Docker Compose, alone and with an engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.labs.compose.engine import Compose, running_engine, the_compose


@pytest.fixture(scope="session")
def compose() -> Compose:
    """Compose without an engine: it reads projects."""
    return the_compose()


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compose]:
    """Compose with an engine that has one image."""
    with running_engine(tmp_path_factory.mktemp("engine")) as running:
        yield running
