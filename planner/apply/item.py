"""What apply handles: one object as it should be, one as it was left, and the step from one to the other."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum

from planner.spec.backend import BackendType

UNCERTAIN = ""
"""The digest of an object that a step was about to change: it may be as before, as wanted, or absent."""


class Rank(IntEnum):
    """The order in which objects need each other; what a lower rank makes is there before a higher one asks for it."""

    NAMESPACE = 0
    CLASS = 1
    FLAVOR = 2
    COHORT = 3
    QUEUE = 4
    SERVICE = 5
    WORKLOAD = 6
    PROGRAM = 7


class Action(StrEnum):
    """What a step does; `PUT` makes or changes an object so that it is as wanted."""

    PUT = "put"
    REMOVE = "remove"


class Presence(StrEnum):
    """Whose an object is that a back end has, as far as its marks say."""

    ABSENT = "absent"
    OURS = "ours"
    FOREIGN = "foreign"


class Standing(StrEnum):
    """How an object stands on a back end that is not as it was put there."""

    MISSING = "missing"
    CHANGED = "changed"
    EXTRA = "extra"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Departure:
    """One object that is not as it was put: its key, or of an extra one the name that the back end has for it.

    `field` leads to what was changed, `planned` and `seen` are its values; empty where the whole object is meant.
    """

    key: str
    standing: Standing
    field: str = ""
    planned: str = ""
    seen: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Record:
    """One object of the inventory: where it belongs, what the back end calls it, and what was last put there.

    `key` is the path of its file, the cluster's name first. `refs` are names in the back end's own words. `digest` is
    that of the text which was put, `UNCERTAIN` while a step is under way. `protected` says that apply may not remove
    it, even after its spec is gone.
    """

    key: str
    cluster: str
    backend: BackendType
    rank: Rank
    refs: tuple[str, ...]
    addresses: tuple[str, ...] = ()
    protected: bool = False
    digest: str = UNCERTAIN

    @property
    def is_workload(self) -> bool:
        """Whether it is work, rather than what work needs."""
        return self.rank is Rank.WORKLOAD


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Item:
    """One object as it should be: its record with the digest of `text`, and the text."""

    record: Record
    text: str
    executable: bool = False

    @property
    def key(self) -> str:
        """The key of its record."""
        return self.record.key


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One change: to `item`, or the removal of what `record` names. `number` counts from 0 in the order of doing.

    `before` is what the inventory had of the object; its references that `record` lacks are to go.
    """

    number: int
    action: Action
    record: Record
    item: Item | None = None
    before: Record | None = None

    @property
    def dropped(self) -> tuple[str, ...]:
        """References that the object had and is not to have any longer."""
        if self.action is Action.REMOVE:
            return self.record.refs
        return tuple(ref for ref in self.before.refs if ref not in self.record.refs) if self.before else ()

    @property
    def interim(self) -> Record:
        """What the inventory holds while the step is under way: every reference that may exist."""
        refs = {*self.record.refs, *self.dropped}
        return replace(self.record, refs=tuple(sorted(refs)), digest=UNCERTAIN)

    @property
    def result(self) -> Record | None:
        """What the inventory holds of the object after the step; nothing once it is removed."""
        return self.item.record if self.item else None

    @property
    def sentence(self) -> str:
        """What the step does, for people."""
        whom = f" ({', '.join(self.record.addresses)})" if len(self.record.addresses) == 1 else ""
        return f"{self.action} {self.record.key}{whom}"


def digest_of(text: str) -> str:
    """`sha256:…` of the UTF-8 of a text."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
