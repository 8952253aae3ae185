"""A bench of machines: libraries built from their tables of facts, and the command line run on them."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planner import catalog
from planner.discovery.facts import HostFacts, from_json
from planner.discovery.merge import merge
from planner.discovery.spec import back_end_of
from planner.discovery.write import fresh
from tests.planner.discovery.answers import build_amd, build_nvml
from tests.planner.discovery.machines import Machine

ROOT = Path(__file__).parents[3]
CATALOG = catalog.load()


class Bench:
    """Runs `planner discover` on machines; each is built once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._wrapper: Any = None
        self._built: dict[str, Path] = {}
        self._found: dict[str, HostFacts] = {}

    def place(self, machine: Machine) -> Path:
        """Build a machine, and give the folder that it is in."""
        if machine.name not in self._built:
            place = self.folder / machine.name
            machine.write_root(place / "root")
            (place / "lib").mkdir(parents=True, exist_ok=True)
            if machine.nvidia is not None:
                build_nvml(machine, place / "lib")
            if machine.amd is not None:
                build_amd(machine, place / "rocm/lib", amd_package(), self._layouts())
            self._built[machine.name] = place
        return self._built[machine.name]

    def _layouts(self) -> Any:
        """The AMD package's own layouts; importing them takes a library, so one that answers nothing is built first."""
        if self._wrapper is None:
            blank = self.folder / "blank"
            build_amd(Machine(name="blank"), blank / "lib", amd_package(), None)
            before = os.environ.get("ROCM_PATH")
            os.environ["ROCM_PATH"] = str(blank)
            try:
                self._wrapper = importlib.import_module("amdsmi.amdsmi_wrapper")
            finally:
                os.environ.pop("ROCM_PATH") if before is None else os.environ.update(ROCM_PATH=before)
        return self._wrapper

    def run(self, machine: Machine, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        """Run the verb on a machine."""
        place = self.place(machine)
        command = [sys.executable, "-m", "planner.cli", "discover", "--root", str(place / "root"), *arguments]
        environment = {
            "PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(place / "lib"), "ROCM_PATH": str(place / "rocm"),
            "NO_COLOR": "1", "COLUMNS": "120", "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1",
        }  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)
        assert done.returncode == expect, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    def facts(self, machine: Machine) -> HostFacts:
        """What the verb finds on a machine; found once."""
        if machine.name not in self._found:
            self._found[machine.name] = from_json(self.run(machine, "--format", "json").stdout.encode())
        return self._found[machine.name]

    def spec(self, machine: Machine, back_end: str = "") -> str:
        """The specs that are made of what is found on a machine."""
        host = self.facts(machine)
        return fresh(merge([host], CATALOG), "lab", back_end or back_end_of([host]), CATALOG)


def amd_package() -> Path:
    """Where the AMD package is; it comes with the extra `amd`, which development installs have."""
    found = importlib.util.find_spec("amdsmi")
    if found is None or found.origin is None:
        pytest.skip("the package amdsmi is not installed: pip install 'gpu-fleet-planner[amd]'")
    return Path(found.origin).parent
