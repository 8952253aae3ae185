"""Files with the output of other programs, read for the verbs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from planner.diagnostics import UsageError

if TYPE_CHECKING:
    from planner.discovery.found import Text


def text_of_file(path: Path) -> Text:
    """The bytes of a file, however they are spelled; `UsageError` where it cannot be read."""
    from planner.discovery.found import FILE_BYTES, Text

    try:
        with path.open("rb") as stream:
            data = stream.read(FILE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read '{path}': {error.strerror or error}") from None
    if len(data) > FILE_BYTES:
        raise UsageError(f"'{path}' is larger than {FILE_BYTES >> 20} MiB")
    return Text(name=str(path), data=data)
