"""`planner migrate`: bring specs to the newest version of the language."""

from __future__ import annotations

from pathlib import Path

from planner.commands import console, inputs, options
from planner.exits import Exit


@options.verb(
    "migrate",
    "Bring specs to the newest version of the language.",
    "planner migrate",
    "planner migrate specs/teams",
    options=(options.specs_path,),
)
def command(path: Path, colour: str) -> Exit:
    """Rewrite the specs at PATH (default: specs) that are written in an older version of the language.

    planner/v1 is the first version, so that specs which are valid are of the newest one and stay as they are; other
    specs end with 3, as with validate.
    """
    from planner.report.figures import plural
    from planner.spec.envelope import API_VERSION

    inputs.valid(path)
    count = plural(len(inputs.files(path)), "file")
    console.out(f"{count}: all are {API_VERSION}, which is the newest version; nothing had to change\n")
    return Exit.OK
