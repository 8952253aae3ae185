"""Why a pool cannot take a piece of work: codes, categories and sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from planner.plan import Reason


class Category(StrEnum):
    """How final a refusal is, in the order in which reasons are told."""

    NEVER = "never"
    FIXABLE = "fixable"
    WAIT = "wait"


class Code(StrEnum):
    """What refused. The codes stand in the plan and keep their meaning; they are in the order in which pools are tried.

    The later the code, the nearer the pool was to taking the work.
    """

    PLACE = "place"
    PIN = "pin"
    MARKET = "market"
    VENDOR = "vendor"
    MODEL = "model"
    DEVICE_MEMORY = "device_memory"
    SHARING = "sharing"
    PARTITION = "partition"
    SOFTWARE = "software"
    SIZE = "size"
    NODE_SIZE = "node_size"
    RESOURCES = "resources"
    LINK = "link"
    TOPOLOGY = "topology"
    FEATURES = "features"
    RDMA = "rdma"
    QUOTA_LIMIT = "quota_limit"
    NOT_GUARANTEED = "not_guaranteed"
    TAINT = "taint"
    DENIED = "denied"
    SPEED_UNKNOWN = "speed_unknown"
    LATENCY = "latency"
    DURATION_LIMIT = "duration_limit"
    MAX_COST = "max_cost"
    FAILED = "failed"
    DEADLINE = "deadline"
    WINDOW = "window"
    COOLING = "cooling"
    MAINTENANCE = "maintenance"
    FOREIGN = "foreign"
    DEPENDENCY = "dependency"
    CAPACITY = "capacity"
    QUOTA = "quota"
    REPLICAS = "replicas"
    BUDGET = "budget"
    NOT_WORTH = "not_worth"
    NOT_FOUND = "not_found"


_CATEGORY: Final = MappingProxyType({
    Code.PLACE: Category.FIXABLE,
    Code.PIN: Category.FIXABLE,
    Code.MARKET: Category.FIXABLE,
    Code.VENDOR: Category.NEVER,
    Code.MODEL: Category.NEVER,
    Code.DEVICE_MEMORY: Category.NEVER,
    Code.SHARING: Category.FIXABLE,
    Code.PARTITION: Category.FIXABLE,
    Code.SOFTWARE: Category.NEVER,
    Code.SIZE: Category.NEVER,
    Code.NODE_SIZE: Category.NEVER,
    Code.RESOURCES: Category.NEVER,
    Code.LINK: Category.NEVER,
    Code.TOPOLOGY: Category.NEVER,
    Code.FEATURES: Category.NEVER,
    Code.RDMA: Category.NEVER,
    Code.QUOTA_LIMIT: Category.NEVER,
    Code.NOT_GUARANTEED: Category.FIXABLE,
    Code.TAINT: Category.FIXABLE,
    Code.DENIED: Category.FIXABLE,
    Code.SPEED_UNKNOWN: Category.FIXABLE,
    Code.LATENCY: Category.FIXABLE,
    Code.DURATION_LIMIT: Category.FIXABLE,
    Code.MAX_COST: Category.FIXABLE,
    Code.FAILED: Category.FIXABLE,
    Code.DEADLINE: Category.FIXABLE,
    Code.WINDOW: Category.WAIT,
    Code.COOLING: Category.WAIT,
    Code.MAINTENANCE: Category.WAIT,
    Code.FOREIGN: Category.WAIT,
    Code.DEPENDENCY: Category.WAIT,
    Code.CAPACITY: Category.WAIT,
    Code.QUOTA: Category.WAIT,
    Code.REPLICAS: Category.FIXABLE,
    Code.BUDGET: Category.WAIT,
    Code.NOT_WORTH: Category.FIXABLE,
    Code.NOT_FOUND: Category.WAIT,
})  # fmt: skip
_RANK: Final = MappingProxyType({code: rank for rank, code in enumerate(Code)})
_ORDER: Final = MappingProxyType({category: rank for rank, category in enumerate(Category)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why `subject` (the address of a pool) does not take the work, and what would help."""

    code: Code
    subject: str
    message: str
    fix: str | None = None

    @property
    def category(self) -> Category:
        """Whether it can never be, can be mended, or is a matter of time."""
        return _CATEGORY[self.code]

    @property
    def sort_key(self) -> tuple[int, str, int, str]:
        """Never before fixable before wait, then by subject."""
        return _ORDER[self.category], self.subject, _RANK[self.code], self.message


def one_a_subject(refusals: Iterable[Refusal]) -> tuple[Refusal, ...]:
    """Of several refusals of one pool (variants, markets), the one that was nearest to taking the work, in order."""
    nearest: dict[str, Refusal] = {}
    for refusal in refusals:
        known = nearest.get(refusal.subject)
        if known is None or (_RANK[refusal.code], refusal.message) > (_RANK[known.code], known.message):
            nearest[refusal.subject] = refusal
    return tuple(sorted(nearest.values(), key=lambda refusal: refusal.sort_key))


def as_reasons(refusals: Iterable[Refusal]) -> tuple[Reason, ...]:
    """The refusals as a plan holds them."""
    return tuple(
        Reason(code=refusal.code.value, subject=refusal.subject, message=refusal.message, fix=refusal.fix)
        for refusal in refusals
    )
