"""Team and Quota: who, and how many devices they are guaranteed, may borrow and will lend."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from planner.catalog import Vendor
from planner.spec.envelope import Envelope, Priority
from planner.spec.fields import Count, Duration, Flag, Line, Models, Money, Name, Positive, SpecModel, When, Word
from planner.spec.work import Checkpoint, Environment, Markets, MaxCost, Mount, Needs, WorkPlace


class BudgetPeriod(StrEnum):
    """Over which time a budget counts."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


class Budget(SpecModel):
    """A hard limit on cloud cash."""

    amount: Annotated[Money, Field(description="How much, for example USD 40000.")]
    per: Annotated[
        BudgetPeriod, Field(description="day, week, month, quarter or year, in the calendar of the Policy's zone.")
    ]


class DurationDefaults(SpecModel):
    """What holds for jobs that do not say it themselves."""

    expected: Annotated[Duration | None, Field(description="Expected length of a run.")] = None
    limit: Annotated[Duration | None, Field(description="Longest length of a run.")] = None


class TeamDefaults(SpecModel):
    """What holds for work of the team that does not say it itself."""

    priority: Annotated[Priority | None, Field(description="Priority of jobs and services.")] = None
    duration: Annotated[DurationDefaults, Field(description="Length of jobs.")] = DurationDefaults()
    checkpoint: Annotated[Checkpoint | None, Field(description="How jobs checkpoint.")] = None
    preemptible: Annotated[Flag | None, Field(description="Whether jobs may be interrupted.")] = None
    movable: Annotated[Flag | None, Field(description="Whether begun jobs may move to other nodes.")] = None
    min_run: Annotated[Duration | None, Field(description="How long a job runs before it may be interrupted.")] = None
    retries: Annotated[Count | None, Field(description="How often a failed job is planned again.")] = None
    market: Annotated[Markets | None, Field(description="Use of the spot market: never, allowed, prefer or only.")] = (
        None
    )
    max_cost: Annotated[MaxCost | None, Field(description="Hard limit on cloud cash of a job.")] = None
    place: Annotated[WorkPlace | None, Field(description="Where work may run.")] = None
    needs: Annotated[Needs | None, Field(description="What nodes must have.")] = None
    env: Annotated[Environment, Field(description="Environment of all work; a job's own variables win.")] = ()
    mounts: Annotated[tuple[Mount, ...], Field(description="Mounts of work that has none of its own.")] = ()
    user: Annotated[Line | None, Field(description="User that runs the work.")] = None
    pull_secrets: Annotated[tuple[Word, ...], Field(description="Names of secrets to pull images with.")] = ()
    service_account: Annotated[Line | None, Field(description="kubernetes: the service account.")] = None


class Team(Envelope):
    """Who work belongs to."""

    kind: Annotated[Literal["Team"], Field(description="Team")] = "Team"
    parent: Annotated[
        Name | None, Field(description="The team that this one is part of: its limits and guarantees hold for both.")
    ] = None
    owners: Annotated[tuple[Word, ...], Field(description="People or groups that answer for the team.")] = ()
    cost_center: Annotated[Line | None, Field(description="Where costs are booked.")] = None
    members: Annotated[tuple[Word, ...], Field(description="Users of the back ends.")] = ()
    namespace: Annotated[Name | None, Field(description="kubernetes: the namespace; by default the name.")] = None
    account: Annotated[Word | None, Field(description="slurm: the account; by default the name.")] = None
    defaults: Annotated[TeamDefaults, Field(description="What holds for work that does not say it itself.")] = (
        TeamDefaults()
    )
    budget: Annotated[Budget | None, Field(description="Hard limit on cloud cash.")] = None


class QuotaGpus(SpecModel):
    """Which devices a quota covers: those that meet every field. Nothing stated: all devices."""

    models: Annotated[Models, Field(alias="model", description="Devices of this model or family.")] = ()
    vendor: Annotated[Vendor | None, Field(description="Devices of this vendor.")] = None
    pool: Annotated[Word | None, Field(description="Devices of this pool, written cluster/pool.")] = None
    cluster: Annotated[Name | None, Field(description="Devices of this cluster.")] = None


class QuotaWindow(SpecModel):
    """What holds at recurring times instead of the fields of the quota."""

    when: Annotated[When, Field(description="When it holds; the first window that matches wins.")]
    guaranteed: Annotated[Count | None, Field(description="Devices guaranteed.")] = None
    limit: Annotated[Count | None, Field(description="Guaranteed and borrowed devices together.")] = None
    lend: Annotated[Count | None, Field(description="How much of the unused guarantee others may borrow.")] = None
    weight: Annotated[Positive | None, Field(description="Share of what is spare.")] = None
    unplanned: Annotated[Count | None, Field(description="Part of the guarantee left free for work outside git.")] = (
        None
    )


class Quota(Envelope):
    """How many devices a team is guaranteed, may borrow and will lend."""

    kind: Annotated[Literal["Quota"], Field(description="Quota")] = "Quota"
    team: Annotated[Name, Field(description="The team.")]
    gpus: Annotated[QuotaGpus, Field(description="The devices that the quota counts.")] = QuotaGpus()
    guaranteed: Annotated[
        Count,
        Field(description="Devices guaranteed, those of child teams included; cut in proportion while nodes are away."),
    ] = 0
    limit: Annotated[
        Count | None, Field(description="Guaranteed and borrowed devices together; no limit when absent.")
    ] = None
    lend: Annotated[
        Count | None, Field(description="How much of the unused guarantee others may borrow; all when absent.")
    ] = None
    weight: Annotated[
        Positive,
        Field(description="Share of what is spare, after priority; where all weights are equal, worth alone decides."),
    ] = 1
    unplanned: Annotated[
        Count, Field(description="Part of the guarantee left free for work outside git; it counts in the limit.")
    ] = 0
    windows: Annotated[tuple[QuotaWindow, ...], Field(description="What holds at recurring times instead.")] = ()
