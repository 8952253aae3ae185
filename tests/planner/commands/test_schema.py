"""`planner schema`: one schema on stdout, or all in a folder."""

from __future__ import annotations

import json
from pathlib import Path

from planner.exits import Exit
from planner.spec.schema import json_schemas
from tests.planner.commands.conftest import Run


def test_the_schema_of_any_document_is_printed(run: Run) -> None:
    done = run("schema")
    assert (done.code, done.err) == (Exit.OK, "")
    assert json.loads(done.out)["$schema"].startswith("https://json-schema.org/")


def test_all_schemas_are_written_to_a_folder(run: Run, here: Path) -> None:
    done = run("schema", "--out", "editor/schemas")
    assert (done.code, done.out) == (Exit.OK, "")
    written = {path.name: path.read_text() for path in (here / "editor" / "schemas").iterdir()}
    assert written == json_schemas()
