"""What a back end has no words for."""

from __future__ import annotations


class Unsupported(Exception):
    """What the plan says and a back end cannot be told; the text says why, and what would help."""
