"""The files of the state: what was changed behind our back is refused, what a killed run left is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.apply import inventory, journal, sealed
from planner.apply.inventory import Inventory
from planner.apply.item import Record
from planner.apply.journal import Done
from planner.apply.recording import Recording
from planner.apply.sealed import StateError
from planner.apply.state import State
from tests.planner.apply.scenes import (
    Moments,
    Mortal,
    a_request,
    an_item,
    apply_to,
    the_first,
)
from tests.planner.plans import a_placement, a_plan

RECORD = an_item("a").record


def an_inventory(*records: Record) -> Inventory:
    """An inventory of a finished plan."""
    return inventory.with_records(Inventory(plan="sha256:1"), records)


def test_an_inventory_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = an_inventory(RECORD, an_item("b", protected=True).record)
    seal = inventory.write(tmp_path / "inventory.json", made)
    assert inventory.read(tmp_path / "inventory.json") == (made, seal)
    assert inventory.read(tmp_path / "none.json") == (Inventory(), "")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("ref/a", "ref/b"),
        lambda text: text.replace('"protected": false', '"protected": true'),
        lambda text: text.replace("inventory/v1", "inventory/v2"),
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[]",
        lambda text: text.replace("seal", "seel"),
    ],
)
def test_an_inventory_that_was_changed_is_refused(change: Any, tmp_path: Path) -> None:
    path = tmp_path / "inventory.json"
    inventory.write(path, an_inventory(RECORD))
    path.write_text(change(path.read_text()))
    with pytest.raises(StateError, match="inventory"):
        inventory.read(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("key", "../../etc/passwd"),
        ("key", "/etc/passwd"),
        ("key", "dc1/../hpc/a.yaml"),
        ("key", "hpc/a.yaml"),
        ("key", "dc1"),
        ("key", "dc1/a\n.yaml"),
        ("key", 7),
        ("backend", "ftp"),
        ("rank", "king"),
        ("refs", [7]),
        ("refs", None),
        ("protected", "no"),
        ("digest", None),
    ],
)
def test_a_record_that_nobody_writes_is_refused_even_when_sealed(field: str, value: Any, tmp_path: Path) -> None:
    content = inventory.content_of(an_inventory(RECORD))
    content["records"][0][field] = value
    sealed.write(tmp_path / "inventory.json", content)
    with pytest.raises(StateError, match="is not an inventory"):
        inventory.read(tmp_path / "inventory.json")


def a_journal(root: Path) -> Path:
    """A journal of three steps."""
    path = root / "journal.jsonl"
    writer = journal.Writer(path, "sha256:1", "sha256:base")
    for name in ("a", "b"):
        writer.add(Done(key=f"dc1/{name}.yaml", record=an_item(name).record))
    writer.add(Done(key="dc1/c.yaml", record=None))
    return path


def test_a_journal_is_read_as_it_was_written(tmp_path: Path) -> None:
    told = journal.read(a_journal(tmp_path))
    assert told is not None
    assert (told.plan, told.base) == ("sha256:1", "sha256:base")
    assert [(done.key, done.record and done.record.key) for done in told.done] == [
        ("dc1/a.yaml", "dc1/a.yaml"), ("dc1/b.yaml", "dc1/b.yaml"), ("dc1/c.yaml", None)
    ]  # fmt: skip
    assert journal.read(tmp_path / "none.jsonl") is None


def test_a_last_line_that_is_cut_short_anywhere_counts_as_not_done(tmp_path: Path) -> None:
    path = a_journal(tmp_path)
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rindex(b"\n") + 1
    for length in range(last, len(whole)):
        path.write_bytes(whole[:length])
        told = journal.read(path)
        assert told is not None
        assert len(told.done) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [lines[0], *lines[2:]],
        lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
        lambda lines: [*lines[:2], lines[1], *lines[2:]],
        lambda lines: [line.replace(b"ref/a", b"ref/b") for line in lines],
        lambda lines: [line.replace(b"sha256:base", b"sha256:other") for line in lines],
        lambda lines: [lines[0], lines[1][:30], *lines[2:]],
        lambda lines: lines[1:],
        lambda lines: [b"", b""],
    ],
)
def test_a_journal_that_was_changed_is_refused(change: Any, tmp_path: Path) -> None:
    path = a_journal(tmp_path)
    path.write_bytes(b"\n".join(change(path.read_bytes().split(b"\n"))))
    with pytest.raises(StateError, match="journal"):
        journal.read(path)


@pytest.mark.parametrize("name", ["inventory.json", "journal.jsonl"])
def test_a_symbolic_link_in_the_place_of_a_state_file_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("{}")
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError, match="not a plain file"):
        State(root=tmp_path).known()


def test_a_journal_of_another_inventory_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    backend, state = Recording(root=tmp_path / "fleet"), tmp_path / "state"
    with pytest.raises(SystemExit):
        apply_to(state, a_request(the_first(), Mortal(backend, Moments(kill_at=5))))
    inventory.write(state / "inventory.json", an_inventory())
    log = backend.log()
    with pytest.raises(StateError, match="is of another inventory"):
        apply_to(state, a_request(the_first(), backend))
    assert backend.log() == log


def test_the_state_holds_neither_texts_nor_what_back_ends_say(tmp_path: Path) -> None:
    item = an_item("a", "TOKEN: hush-hush")
    apply_to(tmp_path / "state", a_request((item,), Recording(root=tmp_path / "fleet"), a_plan([a_placement()])))
    written = "".join(path.read_text() for path in (tmp_path / "state").rglob("*") if path.is_file())
    assert json.dumps(item.key) in written
    assert "hush" not in written
