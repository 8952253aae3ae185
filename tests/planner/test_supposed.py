"""Specs as they would be: fields set, documents left out, and nothing else changed."""

from __future__ import annotations

from typing import Any

import pytest

from planner import yamlio
from planner.diagnostics import UsageError
from planner.source import SourceFile
from planner.supposed import Setting, supposed

JOBS = SourceFile(
    "specs/jobs.yaml",
    b"# kept\nkind: Job\nteam: vision\nname: a\ngpus: 8\nimage: r/x:1.10\ncountry: NO\n"
    b"---\nkind: Job\nteam: vision\nname: b\n",
)
FLEET = SourceFile(
    "specs/fleet.yaml",
    b"kind: Cluster\nname: dc1\npools:\n  - {name: h100, nodes: h-1}\n  - {name: l4, nodes: l-1}\ndown: [x, y]\n",
)
SCRIPT = SourceFile("specs/train.sh", b"#!/bin/sh\n")
FILES = (JOBS, FLEET, SCRIPT)


def documents(*settings: str, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Every document by its name, after a change."""
    files = supposed(FILES, map(Setting.parse, settings), without)
    values = [document.value for file in files[:2] for document in yamlio.read(file)[0]]
    return {value["name"]: value for value in values}


def test_files_in_which_nothing_changes_stay_as_they_are() -> None:
    assert supposed(FILES) == FILES
    changed = supposed(FILES, [Setting.parse("job/vision/a.gpus=16")])
    assert changed[1:] == FILES[1:]
    assert changed[0] != JOBS


@pytest.mark.parametrize(
    ("setting", "name", "field", "value"),
    [
        ("job/vision/a.gpus=16", "a", "gpus", 16),
        ("job/vision/a.gpus={count: 16, model: h100}", "a", "gpus", {"count": 16, "model": "h100"}),
        ("job/vision/b.priority=P0", "b", "priority", "P0"),
        ("job/vision/b.window.deadline=2026-12-03T18:00:00Z", "b", "window", {"deadline": "2026-12-03T18:00:00Z"}),
        ("job/vision/a.image=r/x:2=y", "a", "image", "r/x:2=y"),
        ("job/vision/a.gpus=", "a", "gpus", None),
        ("cluster/dc1.pools.l4.nodes=l-[1-9]", "dc1", "pools", [{"name": "h100", "nodes": "h-1"},
                                                                 {"name": "l4", "nodes": "l-[1-9]"}]),
        ("cluster/dc1.down.1=z", "dc1", "down", ["x", "z"]),
    ],
)  # fmt: skip
def test_a_field_is_set_and_all_else_is_kept(setting: str, name: str, field: str, value: Any) -> None:
    before, after = documents(), documents(setting)
    assert after[name] == {**before[name], field: value}
    assert {key: after[key] for key in after if key != name} == {key: before[key] for key in before if key != name}


def test_texts_that_look_like_something_else_stay_texts() -> None:
    found = documents("job/vision/a.gpus=1")["a"]
    assert (found["image"], found["country"]) == ("r/x:1.10", "NO")


def test_documents_are_left_out() -> None:
    assert documents(without=("job/vision/a",)).keys() == {"b", "dc1"}
    assert documents(without=("job/vision/a", "job/vision/b")).keys() == {"dc1"}


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("job/vision/a", "is not ADDRESS.FIELD=VALUE"),
        ("job/vision/a=1", "is not ADDRESS.FIELD=VALUE"),
        ("job/vision/a..b=1", "is not ADDRESS.FIELD=VALUE"),
        ("job/vision/a.gpus=1\nname: b", "is not ADDRESS.FIELD=VALUE"),
        ("job/vision/a.gpus={", "is not a value"),
        ("job/vision/a.gpus=!!set {}", "is not a value"),
        ("job/vision/z.gpus=1", "there is no 'job/vision/z'; did you mean"),
        ("job/vision/a.gpus.count=1", "nothing is at 'count'"),
        ("cluster/dc1.pools.h200.nodes=x", "nothing is at 'h200'"),
        ("cluster/dc1.down.2=z", "nothing is at '2'"),
    ],
)
def test_what_leads_nowhere_is_refused(setting: str, told: str) -> None:
    with pytest.raises(UsageError, match=told.replace(".", r"\.")):
        documents(setting)


def test_an_address_to_leave_out_has_to_be_there() -> None:
    with pytest.raises(UsageError, match="there is no 'job/vision/z'"):
        documents(without=("job/vision/z",))
