"""Who may import whom: the contracts of pyproject.toml, what they cannot express, and what must not be loaded."""

from __future__ import annotations

import shutil
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("planner", "solvers", "renderers")

# Modules that need nothing but the standard library and each other, so that they can be read and reused alone.
STANDARD_LIBRARY_ONLY = (
    (
        "solvers.problem",
        "solvers.solution",
        "solvers.rules",
        "solvers.domains",
        "solvers.placed",
        "solvers.worth",
        "solvers.check",
        "solvers.jsonform",
    ),
    ("planner.units", "planner.clock", "planner.names", "planner.diagnostics", "planner.codes"),
)

# What one part may import of another package; everything else of that package is closed to it.
OPEN_TO = (
    (
        "renderers",
        "planner",
        ("plan", "specset", "spec", "catalog", "units", "names", "hosts", "diagnostics"),
    ),
    ("planner.compile", "solvers", ("problem", "solution", "rules")),
    ("planner.decode", "solvers", ("problem", "solution", "rules", "domains", "worth")),
)

# One offence for each contract: (contract, file, line). Module names that nobody uses, so that nothing is overwritten.
OFFENCES = (
    ("layers", "planner/catalog/offence.py", "import planner.pipeline"),
    ("solvers-stand-alone", "solvers/offence.py", "import planner"),
    ("renderers-never-solve", "renderers/offence.py", "import solvers"),
    ("no-cycles", "solvers/offence_a.py", "import solvers.offence_b"),
    ("no-cycles", "solvers/offence_b.py", "import solvers.offence_a"),
    ("fence-solving", "planner/offence_a.py", "import ortools.sat.python.cp_model"),
    ("fence-jinja2", "renderers/offence.py", "from jinja2 import Environment"),
    ("fence-git", "planner/offence_b.py", "import git"),
    ("fence-yaml", "planner/offence_c.py", "import yaml"),
    ("fence-ruamel", "planner/offence_f.py", "from ruamel.yaml import YAML"),
    ("fence-hosts", "planner/offence_d.py", "from ClusterShell.NodeSet import NodeSet"),
    ("fence-terminal", "planner/report/offence.py", "def late() -> None:\n    import click"),
    ("fence-probes", "planner/offence_e.py", "import pynvml"),
)

# A whole fleet in a few lines, and the moment it is planned for.
TREE = """
apiVersion: planner/v1
kind: Cluster
name: lab
backend: slurm
pools:
  - name: a100
    nodes: 2
    gpus: {model: a100-sxm4-80gb, count: 8}
    cpus: 64
    memory: 4Ti
---
apiVersion: planner/v1
kind: Team
name: ml
---
apiVersion: planner/v1
kind: Job
name: train
team: ml
image: registry.example/train:1.0
command: [python, train.py]
gpus: {count: 8, model: a100-sxm4-80gb}
duration: 2h
"""
AT = "2026-12-01T00:00:00+00:00"

# Verbs that answer without solving: (verb, arguments); SPECS, LOCK and OUT stand for places.
LIGHT_VERBS = (
    ("validate", ("SPECS",)),
    ("schema", ()),
    ("show", ("catalog",)),
    ("show", ("LOCK",)),
    ("render", ("LOCK", "--out", "OUT")),
    ("diff", ("LOCK", "LOCK")),
)
PRESENT = tuple(row for row in LIGHT_VERBS if (ROOT / "planner" / "commands" / f"{row[0]}.py").exists())

# Runs the command line with the given arguments; the last line on stderr names the packages it loaded.
RUN_VERB = """
import sys
from planner.cli import main
code = 0
try:
    main()
except SystemExit as stop:
    code = stop.code or 0
tops = {name.partition(".")[0] for name in sys.modules}
print("loaded", *sorted(tops), file=sys.stderr)
sys.exit(code)
"""
HEAVY = frozenset({"ortools", "numba", "pandas"})
# `planner --help` answers at once, so it loads no parser, template engine or git either.
HEAVY_FOR_HELP = HEAVY | {"numpy", "pydantic", "yaml", "jinja2", "git", "jsonschema"}

# Loads everything a light command may load, then names what should not have come along.
IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(*sorted({"ortools", "numba", "pandas"} & set(sys.modules)))
"""


def lint_imports(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run import-linter over the packages in `folder`."""
    program = Path(sys.executable).parent / "lint-imports"
    return subprocess.run(
        [program, "--no-logo", "--no-cache", *options],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Every import of the three packages, also those inside functions or for type checkers only."""
    return grimp.build_graph(*PACKAGES, include_external_packages=True, cache_dir=None)


def within(module: str, package: str) -> bool:
    """Say whether `module` is `package` or lies inside it."""
    return module == package or module.startswith(f"{package}.")


def imports(graph: grimp.ImportGraph, importer: str) -> list[tuple[str, str]]:
    """List (module, imported module) for all of `importer`, a module or a package."""
    modules = sorted(module for module in graph.modules if within(module, importer))
    return [
        (module, target) for module in modules for target in sorted(graph.find_modules_directly_imported_by(module))
    ]


def test_every_import_contract_is_kept() -> None:
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def offended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages in which every contract is broken once."""
    folder = tmp_path_factory.mktemp("offended")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "*.nb?"))
    for _, name, line in OFFENCES:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        (file.parent / "__init__.py").touch()
        with file.open("a") as out:
            out.write(line + "\n")
    (folder / "planner" / "pipeline.py").touch()
    return folder


@pytest.mark.parametrize("contract", sorted({contract for contract, _, _ in OFFENCES}))
def test_an_offence_breaks_its_contract(contract: str, offended: Path) -> None:
    result = lint_imports(offended, "--contract", contract)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "1 broken" in result.stdout, result.stdout + result.stderr


@pytest.mark.parametrize("family", STANDARD_LIBRARY_ONLY, ids=lambda family: str(family[0]))
def test_the_innermost_modules_import_the_standard_library_only(
    family: tuple[str, ...], graph: grimp.ImportGraph
) -> None:
    allowed = sys.stdlib_module_names
    faults = [
        f"{module} imports {target}"
        for name in family
        for module, target in imports(graph, name)
        if target.partition(".")[0] not in allowed and not any(within(target, other) for other in family)
    ]
    assert not faults, faults


@pytest.mark.parametrize(("importer", "package", "allowed"), OPEN_TO, ids=[row[0] for row in OPEN_TO])
def test_a_package_is_entered_by_its_open_modules_only(
    importer: str, package: str, allowed: tuple[str, ...], graph: grimp.ImportGraph
) -> None:
    faults = [
        f"{module} imports {target}"
        for module, target in imports(graph, importer)
        if within(target, package) and not any(within(target, f"{package}.{name}") for name in allowed)
    ]
    assert not faults, faults


def test_no_module_imports_itself_in_a_circle(graph: grimp.ImportGraph) -> None:
    ours = {module for module in graph.modules if module.partition(".")[0] in PACKAGES}
    edges = {module: graph.find_modules_directly_imported_by(module) & ours for module in sorted(ours)}
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_nothing_outside_the_solvers_loads_them_when_it_is_imported(graph: grimp.ImportGraph) -> None:
    """Verbs that do not solve stay light because each module asks for the solver inside the function that needs it."""
    light = sorted(module for module in graph.modules if module.partition(".")[0] in ("planner", "renderers"))
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT_ALL, *light], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == []


def run_verb(*arguments: str) -> frozenset[str]:
    """Run `planner` in a process of its own; it has to succeed. Returns the top-level packages it loaded."""
    result = subprocess.run(
        [sys.executable, "-c", RUN_VERB, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return frozenset(result.stderr.splitlines()[-1].split())


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A small tree of specs, the lock planned from it, and a folder for manifests."""
    folder = tmp_path_factory.mktemp("light")
    specs, lock = folder / "specs", folder / "plan.lock.json"
    specs.mkdir()
    (specs / "fleet.yaml").write_text(TREE, encoding="utf-8")
    run_verb("plan", str(specs), "--at", AT, "--out", str(lock))
    return {"SPECS": str(specs), "LOCK": str(lock), "OUT": str(folder / "manifests")}


@pytest.mark.parametrize(("verb", "arguments"), PRESENT, ids=[" ".join((verb, *rest)) for verb, rest in PRESENT])
def test_a_verb_that_does_not_solve_loads_no_solver(
    verb: str, arguments: tuple[str, ...], places: dict[str, str]
) -> None:
    loaded = run_verb(verb, *(places.get(argument, argument) for argument in arguments))
    assert sorted(loaded & HEAVY) == []


@pytest.mark.parametrize("option", ["--help", "--version"] if (ROOT / "planner" / "cli.py").exists() else [])
def test_help_loads_next_to_nothing(option: str) -> None:
    assert sorted(run_verb(option) & HEAVY_FOR_HELP) == []
