"""Limits on the shape of the code: sizes, budgets of escape hatches, banned names, and habits no other tool checks."""

from __future__ import annotations

import ast
import io
import statistics
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PRODUCT = ("planner", "solvers", "renderers")
EVERYTHING = (*PRODUCT, "benchmarks", "tests")

FILE_LINES = 400
FUNCTION_LINES = 60
NINE_IN_TEN_LINES = 35
MEDIAN_LINES = 10

BANNED_NAMES = frozenset({"util", "utils", "common", "helper", "helpers", "base", "manager", "managers", "misc"})

# How often the product may switch a check off; a new one has to displace an old one or argue for a higher number here.
BUDGETS = (("type: ignore", 5), ("noqa", 5), ("no cover", 3))
# The same for tests and benchmarks together.
TEST_BUDGETS = (("type: ignore", 10), ("noqa", 5), ("no cover", 0))

# The ends of the flow, where the clock and the environment may be read.
ENDS = ("planner/cli.py", "planner/commands/", "planner/discovery/", "planner/workspace.py")
CLOCK_AND_ENVIRONMENT = frozenset(
    {
        "date.today",
        "datetime.now",
        "datetime.today",
        "datetime.utcnow",
        "os.environ",
        "os.getenv",
        "time.monotonic",
        "time.monotonic_ns",
        "time.perf_counter",
        "time.perf_counter_ns",
        "time.time",
        "time.time_ns",
    }
)
VENDOR_WORDS = frozenset({"nvidia", "amd", "intel"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One Python file: its path from the root with forward slashes, its text and its syntax tree."""

    path: str
    text: str
    tree: ast.Module


def parsed(path: str, text: str) -> Source:
    """Parse `text` as the file `path`."""
    return Source(path=path, text=text, tree=ast.parse(text, filename=path))


def sources(folders: tuple[str, ...]) -> tuple[Source, ...]:
    """Read every Python file below `folders`, sorted by path."""
    files = sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    return tuple(parsed(file.relative_to(ROOT).as_posix(), file.read_text("utf-8")) for file in files)


def functions(source: Source) -> Iterator[tuple[str, int]]:
    """Yield (place and name, lines without the docstring) of every function, nested ones and methods included."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            first = node.body[0]
            if ast.get_docstring(node, clean=False) is not None:
                lines -= (first.end_lineno or first.lineno) - first.lineno + 1
            yield f"{source.path}:{node.lineno} {node.name}", lines


def dotted(node: ast.AST) -> str:
    """Write the last two names of an attribute chain, `os.environ` for `os.environ` and `x.os.environ` alike."""
    if not isinstance(node, ast.Attribute):
        return ""
    owner = node.value
    name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return f"{name}.{node.attr}"


def names_a_vendor(node: ast.AST) -> bool:
    """Say whether the expression is one vendor: `Vendor.AMD` or its spelling."""
    if isinstance(node, ast.Constant):
        return node.value in VENDOR_WORDS
    return isinstance(node, ast.Attribute) and dotted(node.value if node.attr == "value" else node).startswith(
        "Vendor."
    )


def long_files(source: Source) -> Iterator[str]:
    """A file has at most 400 lines."""
    lines = len(source.text.splitlines())
    if lines > FILE_LINES:
        yield f"{source.path} has {lines} lines, at most {FILE_LINES} allowed: split it"


def long_functions(source: Source) -> Iterator[str]:
    """A function has at most 60 lines besides its docstring."""
    for place, lines in functions(source):
        if lines > FUNCTION_LINES:
            yield f"{place} has {lines} lines, at most {FUNCTION_LINES} allowed: split it"


def banned_names(source: Source) -> Iterator[str]:
    """A module is named after the noun or verb that it holds."""
    parts = source.path.removesuffix(".py").split("/")
    for part in parts:
        if part.removeprefix("test_") in BANNED_NAMES:
            yield f"{source.path}: {part!r} says nothing; name it after what it holds"


def prints(source: Source) -> Iterator[str]:
    """The library never prints."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            yield f"{source.path}:{node.lineno} prints: return the text, or write it in planner/commands"


def clock_and_environment(source: Source) -> Iterator[str]:
    """Only the ends of the flow read the clock or the environment."""
    if source.path.startswith(ENDS):
        return
    for node in ast.walk(source.tree):
        if (name := dotted(node)) in CLOCK_AND_ENVIRONMENT:
            yield f"{source.path}:{getattr(node, 'lineno', 0)} reads {name}: pass it in from planner/commands"


def vendor_branches(source: Source) -> Iterator[str]:
    """What differs between vendors stands in the catalogue's data."""
    if source.path.startswith("planner/catalog/"):
        return
    for node in ast.walk(source.tree):
        compared = (
            [node.left, *node.comparators]
            if isinstance(node, ast.Compare)
            else [node.value]
            if isinstance(node, ast.MatchValue)
            else []
        )
        if any(names_a_vendor(side) for side in compared):
            yield f"{source.path}:{getattr(node, 'lineno', 0)} branches on a vendor: make it a fact of the catalogue"


def walk_but_cutoffs(tree: ast.Module) -> Iterator[ast.AST]:
    """Walk the tree without `cutoff=0.6` and `NEAR_CUTOFF = 0.6`: difflib wants its likeness of names as a float."""
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "cutoff":
            skipped.add(node.value)
        if isinstance(node, ast.Assign) and all(isinstance(t, ast.Name) and "CUTOFF" in t.id for t in node.targets):
            skipped.add(node.value)
    return (node for node in ast.walk(tree) if node not in skipped)


def floats(source: Source) -> Iterator[str]:
    """Nothing outside the solvers is decided or written with floats."""
    if source.path.startswith("solvers/"):
        return
    for node in walk_but_cutoffs(source.tree):
        literal = isinstance(node, ast.Constant) and isinstance(node.value, float)
        call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "float"
        if literal or call:
            yield f"{source.path}:{getattr(node, 'lineno', 0)} makes a float: use integers with a unit, or Fraction"


def mutable_dataclasses(source: Source) -> Iterator[str]:
    """Dataclasses are values: frozen and with slots."""
    for node in ast.walk(source.tree):
        for decorator in node.decorator_list if isinstance(node, ast.ClassDef) else ():
            call = decorator if isinstance(decorator, ast.Call) else None
            name = call.func if call else decorator
            if not (isinstance(name, ast.Name) and name.id == "dataclass"):
                continue
            on = {k.arg for k in (call.keywords if call else ()) if getattr(k.value, "value", None) is True}
            if not {"frozen", "slots"} <= on:
                yield f"{source.path}:{decorator.lineno} a dataclass without frozen=True, slots=True"


def missing_docstrings(source: Source) -> Iterator[str]:
    """Modules and their public functions and classes say in a sentence what they are."""
    if ast.get_docstring(source.tree) is None:
        yield f"{source.path}:1 the module has no docstring"
    for node in source.tree.body:
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and not node.name.startswith("_")
            and ast.get_docstring(node) is None
        ):
            yield f"{source.path}:{node.lineno} {node.name} has no docstring"


Rule = Callable[[Source], Iterator[str]]
# (rule, folders it holds for, a file that breaks it)
RULES: tuple[tuple[Rule, tuple[str, ...], str, str], ...] = (
    (long_files, EVERYTHING, "planner/plan.py", "x = 1\n" * 401),
    (long_functions, EVERYTHING, "planner/plan.py", "def f():\n" + "    x = 1\n" * 60),
    (banned_names, EVERYTHING, "planner/helpers.py", ""),
    (prints, PRODUCT, "planner/plan.py", "print(1)"),
    (clock_and_environment, PRODUCT, "solvers/prices.py", "import time\nx = time.time()"),
    (vendor_branches, PRODUCT, "renderers/compose/services.py", "if device.vendor == Vendor.AMD:\n    x = 1"),
    (vendor_branches, PRODUCT, "renderers/compose/services.py", "match vendor:\n    case Vendor.AMD:\n        x = 1"),
    (floats, PRODUCT, "planner/plan.py", "x = 0.5"),
    (mutable_dataclasses, PRODUCT, "planner/plan.py", "@dataclass(frozen=True)\nclass Plan:\n    x: int"),
    (missing_docstrings, PRODUCT, "planner/plan.py", '"""Plans."""\ndef diff(): ...'),
)


def rule_id(row: tuple[Rule, tuple[str, ...], str, str]) -> str:
    """Name a row after its rule."""
    return row[0].__name__


@pytest.mark.parametrize("row", {row[0]: row for row in RULES}.values(), ids=rule_id)
def test_the_code_keeps_the_rule(row: tuple[Rule, tuple[str, ...], str, str]) -> None:
    rule, folders, _, _ = row
    faults = [fault for source in sources(folders) for fault in rule(source)]
    assert not faults, f"{rule.__doc__}\n" + "\n".join(faults)


@pytest.mark.parametrize("row", RULES, ids=rule_id)
def test_the_rule_notices_a_fault(row: tuple[Rule, tuple[str, ...], str, str]) -> None:
    rule, _, path, text = row
    assert len(list(rule(parsed(path, text)))) == 1


def test_functions_are_short_as_a_whole() -> None:
    lengths = sorted(lines for source in sources((*PRODUCT, "benchmarks")) for _, lines in functions(source))
    assert statistics.median_low(lengths) <= MEDIAN_LINES
    assert lengths[(len(lengths) - 1) * 9 // 10] <= NINE_IN_TEN_LINES


def test_a_docstring_does_not_count_as_lines_of_its_function() -> None:
    text = 'def f():\n    """One.\n\n    Two.\n    """\n    x = 1\n    return x\n'
    assert list(functions(parsed("a.py", text))) == [("a.py:1 f", 3)]


def comments(source: Source) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of every comment; text inside strings is none."""
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


@pytest.mark.parametrize(
    ("folders", "hatch", "budget"),
    [(PRODUCT, *row) for row in BUDGETS] + [(("tests", "benchmarks"), *row) for row in TEST_BUDGETS],
)
def test_escape_hatches_stay_inside_their_budget(folders: tuple[str, ...], hatch: str, budget: int) -> None:
    uses = [f"{s.path}:{line} {text}" for s in sources(folders) for line, text in comments(s) if hatch in text]
    assert len(uses) <= budget, f"{len(uses)} of {budget} allowed:\n" + "\n".join(uses)


@pytest.mark.parametrize("folder", ["tests", "specs"])
def test_a_folder_that_is_no_package_has_no_init_file(folder: str) -> None:
    """An editable install puts the root on the path, where the folder would become a package with a generic name."""
    assert not list((ROOT / folder).rglob("__init__.py"))
