"""What the wheel carries: three typed packages with all their data, the command, the licence, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from email.parser import HeaderParser
from importlib import metadata
from pathlib import Path

import pytest

import planner

ROOT = Path(__file__).parent.parent
PACKAGES = ("planner", "renderers", "solvers")
# Made by running the code, never part of it.
MADE = ("__pycache__",)
MADE_SUFFIXES = (".pyc", ".nbi", ".nbc")

# Imports each package from an unpacked wheel and says where it came from.
WHERE = """
import sys
sys.path.insert(0, sys.argv[1])
import planner, renderers, solvers
print(planner.__file__, renderers.__file__, solvers.__file__, sep="\\n")
print(planner.__version__)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def names(wheel: Path) -> frozenset[str]:
    """All file names in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return frozenset(archive.namelist())


def read(wheel: Path, ending: str) -> str:
    """The text of the one file whose name ends so."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(ending))
        return archive.read(name).decode()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_of_a_package_is_in_the_wheel(package: str, names: frozenset[str]) -> None:
    files = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / package).rglob("*")
        if file.is_file() and not set(MADE) & set(file.parts) and file.suffix not in MADE_SUFFIXES
    }
    assert files - names == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_typed(package: str, names: frozenset[str]) -> None:
    assert f"{package}/py.typed" in names


def test_the_wheel_holds_the_three_packages_and_nothing_else(names: frozenset[str]) -> None:
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)


def test_nothing_made_by_running_the_code_is_shipped(names: frozenset[str]) -> None:
    assert [name for name in names if name.endswith(MADE_SUFFIXES)] == []


def test_the_wheel_installs_the_planner_command(wheel: Path) -> None:
    assert "planner = planner.cli:main" in read(wheel, "entry_points.txt").splitlines()


def test_the_licence_comes_along(wheel: Path) -> None:
    assert "Apache License" in read(wheel, "licenses/LICENSE")
    assert HeaderParser().parsestr(read(wheel, "METADATA"))["License-Expression"] == "Apache-2.0"


def test_dependencies_have_floors_and_no_ceilings(wheel: Path) -> None:
    requirements = HeaderParser().parsestr(read(wheel, "METADATA")).get_all("Requires-Dist") or []
    bounds = [requirement.partition(";")[0] for requirement in requirements]
    assert [bound for bound in bounds if ">=" not in bound or "<" in bound or "==" in bound] == []
    assert len(bounds) > len(PACKAGES)


def test_the_packages_load_from_the_unpacked_wheel(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    result = subprocess.run(
        [sys.executable, "-I", "-c", WHERE, str(tmp_path)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    *places, version = result.stdout.splitlines()
    assert places == [str(tmp_path / package / "__init__.py") for package in PACKAGES]
    assert version == HeaderParser().parsestr(read(wheel, "METADATA"))["Version"]


def test_the_version_is_that_of_the_installed_distribution() -> None:
    assert planner.__version__ == metadata.version("gpu-fleet-planner")


def test_the_package_has_no_attribute_but_its_version() -> None:
    name = "plans"
    with pytest.raises(AttributeError, match="'planner' has no attribute 'plans'"):
        getattr(planner, name)


@pytest.mark.parametrize("path", [".github/workflows/plan.yml", "action.yml", "docs/gitlab-ci.yml"])
def test_the_pipelines_that_init_writes_are_those_of_this_repository(path: str, wheel: Path) -> None:
    assert read(wheel, f"planner/shipped/{path}") == (ROOT / path).read_text("utf-8")
