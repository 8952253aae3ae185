"""Job: work that runs to completion."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from planner import units
from planner.spec.envelope import Priority
from planner.spec.fields import Count, Duration, Flag, Name, Positive, Short, SpecModel, Time, Word, refused
from planner.spec.work import Checkpoint, Gpus, MaxCost, TimeByModel, Times, Variant, Work

_ARRAY: Final = re.compile(r"([0-9]{1,6})-([0-9]{1,6})(?:%([1-9][0-9]{0,5}))?|([1-9][0-9]{0,5})%([1-9][0-9]{0,5})")
MOST_ELEMENTS: Final = 100_000


class DeadlineIs(StrEnum):
    """What a deadline means: hard ones hold, soft ones cost."""

    HARD = "hard"
    SOFT = "soft"


class JobWindow(SpecModel):
    """When a job may start and should be done."""

    not_before: Annotated[Time | None, Field(description="The earliest start.")] = None
    deadline: Annotated[Time | None, Field(description="When it should have finished.")] = None
    deadline_is: Annotated[DeadlineIs, Field(description="hard: a rule; soft: being late costs.")] = DeadlineIs.SOFT


def _array(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= MOST_ELEMENTS:
            raise refused(
                "range", f"An array has from 1 to {MOST_ELEMENTS} jobs, not {value}; write how many there are."
            )
        return {"first": 0, "last": value - 1}
    if not isinstance(value, str):
        return value
    match = _ARRAY.fullmatch(value)
    if match is None:
        raise refused(
            "written", f"'{value}' is not an array; write for example 10, 0-9, or 0-9%4 for at most 4 at once."
        )
    first, last, limit, count, count_limit = match.groups()
    if count is not None:
        return {"first": 0, "last": int(count) - 1, "at_most": int(count_limit)}
    return {"first": int(first), "last": int(last), **({"at_most": int(limit)} if limit else {})}


class JobArray(SpecModel):
    """Independent jobs of one spec, by their first and last index (inclusive)."""

    first: Annotated[Count, Field(description="The first index.")]
    last: Annotated[Count, Field(description="The last index.")]
    at_most: Annotated[Positive | None, Field(description="How many may run at once.")] = None

    @property
    def indices(self) -> range:
        """All indices."""
        return range(self.first, self.last + 1)


class Role(SpecModel):
    """One part of a gang of unlike parts."""

    name: Annotated[Name, Field(description="The name, unique in the job.")]
    gpus: Annotated[Gpus, Field(description="Devices of one replica.")]
    replicas: Annotated[Positive, Field(description="How many parts of this kind.")] = 1


class Elastic(SpecModel):
    """How far a job may shrink and grow."""

    min: Annotated[Positive, Field(description="The fewest replicas.")]
    max: Annotated[Positive, Field(description="The most replicas; duration holds for these.")]


class Job(Work):
    """Work that runs to completion: training, batch, or a session with a limit. All parts start together."""

    kind: Annotated[Literal["Job"], Field(description="Job")] = "Job"
    duration: Annotated[Times, Field(description="18h, or by model, or {expected: 18h, limit: 24h}.")] = TimeByModel()
    submitted: Annotated[
        Time | None, Field(description="Since when it waits; by default the first commit of its file.")
    ] = None
    tasks_per_node: Annotated[Positive | None, Field(description="slurm: tasks per node.")] = None
    array: Annotated[
        JobArray | None,
        Short(_array, ({"type": "integer", "minimum": 1}, {"type": "string", "examples": ["0-9%4"]})),
        Field(description="10, 0-9 or 0-9%4: that many independent jobs."),
    ] = None
    roles: Annotated[tuple[Role, ...], Field(description="Unlike parts of one gang.")] = ()
    window: Annotated[JobWindow, Field(description="When it may start and should be done.")] = JobWindow()
    after: Annotated[
        tuple[Word, ...], Field(description="Jobs that must have finished; team/name for another team's.")
    ] = ()
    checkpoint: Annotated[
        Checkpoint | None, Field(description="How it saves its work; without it interrupted work starts anew.")
    ] = None
    preemptible: Annotated[Flag, Field(description="false: never interrupted, and run only inside the guarantee.")] = (
        True
    )
    movable: Annotated[Flag, Field(description="false: stays on its nodes once begun.")] = True
    min_run: Annotated[Duration, Field(description="How long it runs before it may be interrupted.")] = units.Duration(
        0
    )
    retries: Annotated[Count, Field(description="How often it is planned again after a failure.")] = 0
    max_cost: Annotated[MaxCost | None, Field(description="Hard limit on cloud cash.")] = None
    required: Annotated[
        Flag | None, Field(description="Must be placed: exit code 4 if it cannot; by default true for P0.")
    ] = None
    replicas: Annotated[Elastic | None, Field(description="Elastic: from min to max replicas of gpus each.")] = None

    @property
    def must_be_placed(self) -> bool:
        """Whether a plan without it is unsatisfied."""
        return self.priority is Priority.P0 if self.required is None else self.required

    def _duration_of(self, variant: Variant) -> TimeByModel:
        own = variant.duration
        if not own.is_given:
            return self.duration.model_copy(update={"limit": own.limit or self.duration.limit})
        return own.model_copy(update={"limit": own.limit or self.duration.limit})
