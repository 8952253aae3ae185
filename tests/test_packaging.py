"""What is released: a wheel of three typed packages with all that they need and nothing else, and an image of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from email.parser import HeaderParser
from importlib import metadata
from pathlib import Path

import pytest

import planner
from tests.planner.commands.conftest import FLEET, job

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


# Of each package: the distribution that it belongs to, and where it was loaded from; then the files that are missing.
WHOSE = """
from importlib.metadata import distribution, packages_distributions
import planner, renderers, solvers
for package in (planner, renderers, solvers):
    print(package.__name__, *packages_distributions()[package.__name__], package.__file__)
print(*(file for file in distribution("gpu-fleet-planner").files if not file.locate().exists()))
"""


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel; what the wheel needs is that of this environment, found after its own packages."""
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    install = [sys.executable, "-m", "pip", f"--python={folder / 'bin' / 'python'}", "install", "--quiet", "--no-deps"]
    subprocess.run([*install, "--no-index", "--disable-pip-version-check", str(wheel)], check=True)
    (own,) = folder.glob("lib/python*/site-packages")
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


def in_clean(clean: Path, *command: str, cwd: Path) -> str:
    """What a program of the environment prints, with nothing of this one's settings."""
    environment = {"PATH": os.environ["PATH"], "NUMBA_DISABLE_JIT": "1", "HOME": str(cwd), "LC_ALL": "C.UTF-8"}
    program = [str(clean / "bin" / command[0]), *command[1:]]
    done = subprocess.run(program, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_environment_with_the_wheel_has_the_packages_from_it_and_from_nowhere_else(
    clean: Path, tmp_path: Path
) -> None:
    *told, missing = in_clean(clean, "python", "-I", "-c", WHOSE, cwd=tmp_path).split("\n")[:-1]
    (own,) = clean.glob("lib/python*/site-packages")
    assert told == [f"{package} gpu-fleet-planner {own / package / '__init__.py'}" for package in PACKAGES]
    assert missing == ""


def test_the_installed_command_plans_and_renders_without_the_sources(clean: Path, tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "fleet.yaml").write_text(FLEET + job("a"))
    assert in_clean(clean, "planner", "--version", cwd=tmp_path).split()[-1] == planner.__version__
    in_clean(clean, "planner", "plan", "--budget", "0", cwd=tmp_path)
    in_clean(clean, "planner", "render", "--out", "manifests", cwd=tmp_path)
    assert list(tmp_path.glob("manifests/dc1/vision/job-a-*.yaml"))


def instructions() -> list[tuple[str, str]]:
    """The lines of the Containerfile, continued ones as one, as instruction and arguments."""
    text = (ROOT / "Containerfile").read_text("utf-8")
    lines = re.sub(r"\\\n", "", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if line)]


def test_the_image_is_made_from_the_wheel_and_runs_the_command_as_nobody_in_particular() -> None:
    made = instructions()
    assert [rest.split() for name, rest in made if name == "COPY"] == [
        ["dist/*.whl", "/tmp/"],
        ["--from=built", "/opt/planner", "/opt/planner"],
    ]
    assert {name for name, _ in made} <= {"FROM", "COPY", "RUN", "ENV", "USER", "WORKDIR", "ENTRYPOINT"}
    assert made[-1] == ("ENTRYPOINT", '["planner"]')
    (user,) = (rest for name, rest in made if name == "USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    assert (ROOT / ".dockerignore").read_text("utf-8").splitlines() == ["*", "!dist/*.whl"]


def test_the_stages_of_the_image_start_from_one_base_of_a_version() -> None:
    bases = {rest.split(" AS ")[0] for name, rest in instructions() if name == "FROM"}
    assert len(bases) == 1
    assert re.fullmatch(r"[\w./-]+:\d+\.\d+-[\w-]+", bases.pop())


def test_the_image_is_kept_small_by_leaving_behind_what_only_its_making_needs() -> None:
    scripts = "\n".join(rest for name, rest in instructions() if name == "RUN")
    assert "--no-cache-dir" in scripts
    assert "--no-install-recommends" in scripts
    assert "rm -rf /var/lib/apt/lists/*" in scripts


def test_the_version_is_that_of_the_installed_distribution() -> None:
    assert planner.__version__ == metadata.version("gpu-fleet-planner")


def test_the_package_has_no_attribute_but_its_version() -> None:
    name = "plans"
    with pytest.raises(AttributeError, match="'planner' has no attribute 'plans'"):
        getattr(planner, name)


@pytest.mark.parametrize("path", [".github/workflows/plan.yml", "action.yml", "docs/gitlab-ci.yml"])
def test_the_pipelines_that_init_writes_are_those_of_this_repository(path: str, wheel: Path) -> None:
    assert read(wheel, f"planner/shipped/{path}") == (ROOT / path).read_text("utf-8")
