"""The plan: what `plan.lock.json` holds, and how it is read, written and sealed.

Times are RFC 3339 UTC text, money is micros of `costs.currency`, device counts are integers or exact fractions such
as `"25/2"`. A pool is named `cluster/pool` everywhere. Keys that do not apply are absent.
"""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from planner.diagnostics import PlannerError

FORMAT = "planner/plan/v1"
UNSEALED = ("commit", "dirty")
"""Keys of `inputs` that the digest leaves out: where the specs came from does not change what was decided."""

Count = int | Annotated[str, Field(pattern=r"^[0-9]+/[1-9][0-9]*$")]
"""A number of devices: a whole one, or a fraction in lowest terms."""


def count_of(devices: Fraction) -> Count:
    """A number of devices as the plan writes it."""
    return int(devices) if devices.denominator == 1 else str(devices)


class PlanError(PlannerError):
    """A file that should be a plan is not one that this version reads."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Parameters(_Value):
    """What the solver was told beside the specs; `budget` is in its deterministic units (absent: the effort's own)."""

    effort: str
    budget: int | None = None


class Inputs(_Value):
    """Where the plan came from: enough to compute it again and to see whether it is stale.

    People are shown times in `timezone`. `relevant` are the facts of the snapshot that it rests on, `FIELD=DIGEST`.
    """

    specs_digest: str
    commit: str | None = None
    dirty: bool = False
    snapshot_digest: str | None = None
    previous_digest: str | None = None
    start: str
    slot_seconds: int
    slots: int
    slot_reason: str | None = None
    timezone: str = "UTC"
    parameters: Parameters
    planner_version: str
    solver_version: str
    relevant: tuple[str, ...] = ()


class Status(_Value):
    """How good the plan is; `complete` says that every required workload is placed and every load is served."""

    complete: bool
    proof: Literal["optimal", "bounded", "heuristic", "infeasible", "none"]
    value_micros: int
    bound_micros: int | None = None
    gap_micros: int | None = None
    gap_ppm: int | None = None


class Reason(_Value):
    """Why something is as it is: a stable code, whom it concerns, a sentence, the smallest change that would help."""

    code: str
    subject: str
    message: str
    fix: str | None = None


class Device(_Value):
    """One device of a node by its index; `profile`, `at` (memory slice) and `share` only where they apply."""

    index: int
    profile: str | None = None
    at: int | None = None
    share: str | None = None


class NodeUse(_Value):
    """The devices that a workload has on one node, and the role it plays there."""

    name: str
    role: str | None = None
    devices: tuple[Device, ...] = ()


class QuotaUse(_Value):
    """How a segment's devices count in the quota that decides for them; `guaranteed` is what is so throughout."""

    quota: str
    guaranteed: Count
    borrowed: Count


class Segment(_Value):
    """One uninterrupted run `[start, end)` in one place; vendor and model are absent for CPU-only work."""

    start: str
    end: str
    cluster: str
    pool: str
    variant: str
    vendor: str | None = None
    model: str | None = None
    market: Literal["own", "on_demand", "spot"] = "own"
    quota: tuple[QuotaUse, ...] = ()
    nodes: tuple[NodeUse, ...]


class Placement(_Value):
    """What was decided for one job; `spec` is its hash, `estimated` marks a duration scaled by catalogue speed."""

    address: str
    spec: str
    team: str
    priority: Literal["P0", "P1", "P2", "P3"]
    submitted: str
    gpus: Count
    finish: str
    limit_seconds: int
    late_seconds: int = 0
    lost_work_seconds: int = 0
    cash_micros: int = 0
    power_micros: int = 0
    value_micros: int = 0
    estimated: bool = False
    reasons: tuple[Reason, ...] = ()
    segments: tuple[Segment, ...]

    @property
    def start(self) -> str:
        """When the first segment begins."""
        return self.segments[0].start


class ServiceStep(_Value):
    """What a service has in `[start, end)`: replicas held and needed, load and capacity in milli-requests a second."""

    start: str
    end: str
    replicas: int
    replicas_needed: int
    load_milliqps: int
    capacity_milliqps: int
    segments: tuple[Segment, ...] = ()


class ServicePlan(_Value):
    """The steps of one service over the horizon."""

    address: str
    spec: str
    team: str
    priority: Literal["P0", "P1", "P2", "P3"]
    reasons: tuple[Reason, ...] = ()
    steps: tuple[ServiceStep, ...]


class Unplaced(_Value):
    """A workload that does not run, with its reasons: never fits, then fixable, then must wait."""

    address: str
    submitted: str | None = None
    reasons: tuple[Reason, ...]


class QuotaWindow(_Value):
    """What one team has of one quota in `[start, end)`, in devices."""

    start: str
    end: str
    guaranteed: Count
    used: Count
    borrowed: Count
    lent: Count
    reclaimable: Count


class QuotaSchedule(_Value):
    """One quota over the horizon, and in one line why it is so."""

    team: str
    quota: str
    reason: str
    windows: tuple[QuotaWindow, ...]


class Preemption(_Value):
    """Work that is interrupted so that other work can start."""

    victim: str
    by: str
    at: str
    gpus: Count
    lost_work_seconds: int


class Move(_Value):
    """Work that changes nodes at a checkpoint; `from` and `to` are lists of nodes, `for` is whom it makes room for."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)

    address: str
    at: str
    source: tuple[str, ...] = Field(alias="from")
    target: tuple[str, ...] = Field(alias="to")
    beneficiary: str = Field(alias="for")
    lost_work_seconds: int


class PriceWindow(_Value):
    """The shadow price of one more device in `[start, end)`."""

    start: str
    end: str
    micros_per_gpu_hour: int


class PriceSchedule(_Value):
    """Shadow prices of one pool over the horizon."""

    pool: str
    windows: tuple[PriceWindow, ...]


class PlacedProfile(_Value):
    """One partition instance of a device and the memory slice where it begins."""

    profile: str
    at: int


class LayoutWindow(_Value):
    """The partitions of one device in `[start, end)`."""

    start: str
    end: str
    partitions: tuple[PlacedProfile, ...]


class LayoutSchedule(_Value):
    """How one device is partitioned over the horizon."""

    pool: str
    node: str
    device: int
    windows: tuple[LayoutWindow, ...]


class Utilisation(_Value):
    """Device-seconds that exist and are used over the horizon, for one pool, vendor or model (zeros included)."""

    by: Literal["pool", "vendor", "model"]
    name: str
    devices: int
    capacity_device_seconds: int
    used_device_seconds: int


class Cost(_Value):
    """Money of one team, pool or vendor: what a cloud bills, own power, and what is charged internally."""

    name: str
    cash_micros: int
    power_micros: int
    chargeback_micros: int


class Costs(_Value):
    """Totals over the plan."""

    currency: str
    total: Cost
    teams: tuple[Cost, ...] = ()
    pools: tuple[Cost, ...] = ()
    vendors: tuple[Cost, ...] = ()


class Degraded(_Value):
    """Something that the plan says and a back end cannot enforce."""

    address: str
    backend: str
    message: str


class Note(_Value):
    """A warning that belongs to the plan."""

    code: str
    subject: str
    message: str
    fix: str | None = None


class Plan(_Value):
    """The whole decision, sorted by address, sealed by its digest."""

    format: Literal["planner/plan/v1"] = "planner/plan/v1"
    inputs: Inputs
    status: Status
    placements: tuple[Placement, ...] = ()
    services: tuple[ServicePlan, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    quota: tuple[QuotaSchedule, ...] = ()
    preemptions: tuple[Preemption, ...] = ()
    moves: tuple[Move, ...] = ()
    prices: tuple[PriceSchedule, ...] = ()
    layouts: tuple[LayoutSchedule, ...] = ()
    utilisation: tuple[Utilisation, ...] = ()
    costs: Costs
    degraded: tuple[Degraded, ...] = ()
    diagnostics: tuple[Note, ...] = ()
    digest: str = ""

    def placement(self, address: str) -> Placement | None:
        """The placement of `address`, or None when it does not run."""
        return next((placement for placement in self.placements if placement.address == address), None)


def sealed(plan: Plan) -> Plan:
    """`plan` with its digest: SHA-256 over all of it but the digest itself and `inputs.commit`, `inputs.dirty`."""
    return plan.model_copy(update={"digest": _digest(plan)})


def to_json(plan: Plan) -> str:
    """The lock file's text: sorted keys, two spaces, LF, integers and strings only."""
    return _text(_tree(plan)) + "\n"


def from_json(text: str | bytes) -> Plan:
    """Read a lock file; raises `PlanError` when it is no plan of this format or its digest does not fit its content."""
    try:
        plan = Plan.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the document"
        raise PlanError(f"not a {FORMAT} file: {where}: {first['msg']}") from None
    if plan.digest != _digest(plan):
        seen = f"its digest says {plan.digest}, its content {_digest(plan)}"
        raise PlanError(f"the plan was changed after it was made: {seen}")
    return plan


def _digest(plan: Plan) -> str:
    tree = _tree(plan)
    del tree["digest"]
    tree["inputs"] = {key: value for key, value in tree["inputs"].items() if key not in UNSEALED}
    return "sha256:" + hashlib.sha256(_text(tree).encode()).hexdigest()


def _tree(plan: Plan) -> dict[str, Any]:
    tree: dict[str, Any] = plan.model_dump(mode="json", by_alias=True, exclude_none=True)
    return tree


def _text(tree: object) -> str:
    return json.dumps(tree, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
