"""`planner schema`: JSON Schemas of the spec language, for editors."""

from __future__ import annotations

from pathlib import Path

import click

from planner.commands import console, options
from planner.exits import Exit


@options.verb(
    "schema",
    "Print JSON Schemas for editors.",
    "planner schema > planner.schema.json",
    "planner schema --out specs/schemas",
    options=(
        click.option(
            "--out",
            type=click.Path(path_type=Path, file_okay=False),
            metavar="DIR",
            help="Write one schema for each kind there.",
        ),
    ),
)
def command(out: Path | None, colour: str) -> Exit:
    """Print the JSON Schema of any spec document, or write the schemas of all kinds to a folder."""
    from planner import lockfile
    from planner.spec.schema import json_schemas

    schemas = json_schemas()
    if out is None:
        console.out(schemas["planner.schema.json"])
        return Exit.OK
    for name, text in sorted(schemas.items()):
        lockfile.write(out / name, text)
    console.err(f"wrote {len(schemas)} schemas to {out}\n")
    return Exit.OK
