"""Every fault of `tests/bad_specs` is told exactly as the text beside it says.

A fault is one file, or a folder where several files are needed; `_context.yaml` is read with each.
`pytest --update-goldens` writes the texts anew; read what changed before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.diagnostics import as_text
from planner.source import SourceFile
from planner.specset import load

FOLDER = Path(__file__).parents[1] / "bad_specs"
CONTEXT = FOLDER / "_context.yaml"
FAULTS = sorted(
    path for path in FOLDER.iterdir() if path.is_dir() or (path.suffix == ".yaml" and not path.name.startswith("_"))
)


def files_of(fault: Path) -> list[SourceFile]:
    """The files of a fault and the context, with paths relative to the folder of faults."""
    paths = [CONTEXT, *(sorted(fault.rglob("*.yaml")) if fault.is_dir() else [fault])]
    return [SourceFile(path.relative_to(FOLDER).as_posix(), path.read_bytes()) for path in paths]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda path: path.stem)
def test_a_fault_is_told_exactly_so(fault: Path, update_goldens: bool) -> None:
    result = load(files_of(fault))
    told = as_text(result.diagnostics)
    golden = fault.with_suffix(".txt")
    if update_goldens:
        golden.write_text(told, encoding="utf-8")
    assert told == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda path: path.stem)
def test_a_fault_stops_unless_it_is_a_lint(fault: Path) -> None:
    result = load(files_of(fault))
    assert (result.specset is None) is not fault.stem.startswith("lint-")
    assert result.diagnostics


def test_the_context_alone_has_nothing_to_tell() -> None:
    result = load([SourceFile(CONTEXT.name, CONTEXT.read_bytes())])
    assert result.specset is not None
    assert result.diagnostics == ()


def test_there_are_at_least_eighty_faults() -> None:
    assert len(FAULTS) >= 80


def test_no_text_is_without_its_fault() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == {path.stem for path in FAULTS}
