"""Programs built from Go modules that a go.mod pins: once, into a cache outside of the repository."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.e2e.labs import requirements
from tests.e2e.labs.processes import run

BUILD_SECONDS = 3_000


def cache() -> Path:
    """Where built programs are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "gpu-fleet-planner"


def built(module: Path, packages: Sequence[str], linker_flags: str) -> Path:
    """The folder with the programs of `packages`, built from `module` if no earlier build is kept.

    The folder's name says what went into it: pins, flags and compiler. The first build takes minutes.
    """
    go = requirements.program("go", "golang")
    target = cache() / f"{module.name}-{_key(module, packages, linker_flags, go)}"
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / f"{module.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            _build(go, module, packages, linker_flags, target)
    return target


def _key(module: Path, packages: Sequence[str], linker_flags: str, go: Path) -> str:
    pins = [(module / name).read_text("utf-8") for name in ("go.mod", "go.sum")]
    text = "\0".join([run(go, "version"), linker_flags, *packages, *pins])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _build(go: Path, module: Path, packages: Sequence[str], linker_flags: str, target: Path) -> None:
    """Build beside the target and move: what is there is always whole."""
    with tempfile.TemporaryDirectory(dir=cache(), prefix="building-") as unfinished:
        programs = Path(unfinished) / "programs"
        programs.mkdir()
        for package in packages:
            flags = ("-mod=readonly", f"-ldflags=-s -w {linker_flags}", "-o", programs / package.rpartition("/")[2])
            run(go, "build", *flags, package, cwd=module, env=os.environ, seconds=BUILD_SECONDS)
        shutil.move(programs, target)


def module_folder(pins: Path, module: str) -> Path:
    """Where the sources of a pinned module are, downloaded if need be."""
    go = requirements.program("go", "golang")
    run(go, "mod", "download", module, cwd=pins, env=os.environ, seconds=BUILD_SECONDS)
    return Path(run(go, "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module, cwd=pins, env=os.environ).strip())
