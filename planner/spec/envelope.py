"""What every document has: version, kind, name, and free text about it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field

from planner.spec.fields import Labels, Line, Lines, Name, SpecModel, Word

API_VERSION: Final = "planner/v1"
PROTECTED_LABEL: Final = "planner/protected"


class Priority(StrEnum):
    """How important work is, from P0 (core business) to P3 (experiment)."""

    P0 = "P0"
    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


class Envelope(SpecModel):
    """The fields that every document has."""

    api_version: Annotated[
        Literal["planner/v1"], Field(alias="apiVersion", description="The version of the language: planner/v1.")
    ]
    kind: str
    name: Annotated[
        Name, Field(description="The name, unique for its kind; that of a Job or Service is unique within its team.")
    ]
    title: Annotated[Line, Field(description="A short title, on one line.")] = ""
    description: Annotated[Lines, Field(description="Free text for people.")] = ""
    labels: Annotated[
        Labels,
        Field(description='Free labels. planner/protected: "true" keeps apply from stopping or pruning the object.'),
    ] = ()
    formerly: Annotated[
        tuple[Word, ...],
        Field(description="Earlier addresses: the object was renamed, and goes on without stop and start."),
    ] = ()

    @property
    def protected(self) -> bool:
        """Whether apply may neither stop nor prune the object."""
        return (PROTECTED_LABEL, "true") in self.labels

    def label(self, key: str) -> str | None:
        """The value of a label, or None."""
        return dict(self.labels).get(key)
