"""What a lab needs of its machine: said clearly where it is missing, and never passed over in CI."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest


def program(name: str, package: str) -> Path:
    """The path of an installed program; without it the test is skipped, or fails where CI is true."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        missing(f"{name} is not installed; on Debian and Ubuntu: apt-get install {package}")
    return Path(found)


def root(why: str) -> None:
    """Skip where the tests do not run as root."""
    if os.geteuid() != 0:
        missing(f"only root can {why}")


def missing(why: str) -> NoReturn:
    """Skip the test, or fail it where CI is true."""
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)
