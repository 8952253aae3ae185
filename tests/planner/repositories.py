"""Real git repositories for tests, made by git itself, with nothing of the machine's own settings in them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from planner.workspace import Workspace

Open = Callable[[Path], Workspace]
"""How tests open a tree of specs."""

ALONE: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}
NOON: Final = 1_796_040_000
"""2026-11-30T12:00:00Z; commits of tests count their hours from here."""


def isolate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings and the surroundings of this machine's git out of a test."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in ALONE.items():
        monkeypatch.setenv(name, value)


def git(folder: Path, *arguments: str, hour: int = 0) -> str:
    """Run git in a folder, `hour` hours after noon, and return what it says."""
    date = f"{NOON + 3_600 * hour} +0000"
    environment = {**os.environ, **ALONE, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    return done.stdout.strip()


def repository(folder: Path) -> Path:
    """An empty repository with the branch main."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def commit(folder: Path, message: str = "Change specs", *, hour: int = 0, **files: str | bytes) -> str:
    """Write files (`specs__a` is `specs/a.yaml`), commit everything, and return the commit's id."""
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message, hour=hour)
    return git(folder, "rev-parse", "HEAD")


def clone(source: Path, target: Path, *flags: str) -> Path:
    """Clone a repository over the wire, as CI does, and return where it is."""
    git(source.parent, "clone", "--quiet", *flags, source.as_uri(), str(target))
    return target
