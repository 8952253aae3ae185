"""Options, marks and hypothesis profiles of the whole test suite."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

E2E = Path(__file__).parent / "e2e"

# How long an example takes depends on the machine, so no profile has a deadline or complains of slow data.
settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("nightly", settings.get_profile("ci"), derandomize=False, max_examples=2_000)
settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that rewrites expected files from what the code says now."""
    parser.addoption("--update-goldens", action="store_true", help="rewrite expected files; review the difference")


@pytest.fixture
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Say whether expected files are to be rewritten instead of compared."""
    return bool(request.config.getoption("--update-goldens"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything under tests/e2e, so that no test there can forget it."""
    for item in items:
        if item.path.is_relative_to(E2E):
            item.add_marker(pytest.mark.e2e)
