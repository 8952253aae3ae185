"""The comment by which jobs of Slurm are known to be the planner's own."""

from __future__ import annotations

import re
from typing import Final

from planner.names import is_address

_OURS: Final = re.compile(r"planner:(job/[^@\s]{1,200})@([0-9a-f]{12,64})(?:\+[0-9a-z.]{1,40})?")


def marked(comment: str) -> tuple[str, str]:
    """The address and the beginning of the hash of the spec in a comment; both empty where it is no comment of ours."""
    match = _OURS.fullmatch(comment)
    if match is None or not is_address(match[1]):
        return "", ""
    return match[1], f"sha256:{match[2]}"
