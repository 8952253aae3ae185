"""A Slurm cluster whose devices two teams share, and plans in which one of them borrows."""

from __future__ import annotations

from planner.plan import NodeUse, Plan, QuotaSchedule, QuotaUse, QuotaWindow, sealed
from planner.specset import SpecSet
from planner.units import format_time, parse_time
from tests.renderers.fleet import HOUR, START, a_job, a_node, a_placement, a_segment, plan_of, specset_of
from tests.renderers.slurm.site import a_cluster

TEAMS = """
apiVersion: planner/v1
kind: Team
name: research
---
apiVersion: planner/v1
kind: Team
name: vision
parent: research
members: [ann, bo, "@acme/leads"]
---
apiVersion: planner/v1
kind: Team
name: nlp
account: nlp_01
members: [cy]
"""
QUOTAS = """
apiVersion: planner/v1
kind: Quota
name: vision-h100
team: vision
gpus: {model: h100-sxm5-80gb}
guaranteed: 32
limit: 64
weight: 3
---
apiVersion: planner/v1
kind: Quota
name: nlp-h100
team: nlp
gpus: {model: h100-sxm5-80gb}
guaranteed: 16
"""


def shared(*texts: str, backend: str = "slurm", quotas: str = QUOTAS, teams: str = TEAMS) -> SpecSet:
    """The specs, with further documents."""
    return specset_of(a_cluster(backend), teams, *([quotas] if quotas else []), *texts)


def a_plan(specs: SpecSet, *, borrowed: int = 0, schedules: tuple[QuotaSchedule, ...] = ()) -> Plan:
    """Job `train` of team vision on a whole node, some of its devices borrowed, and what quotas say over time."""
    node: NodeUse = a_node("gpu-001", *range(8))
    use = QuotaUse(quota="vision-h100", guaranteed=8 - borrowed, borrowed=borrowed)
    segment = a_segment("hpc/h100", node, specs=specs).model_copy(update={"quota": (use,)})
    plan = plan_of(a_placement("job/vision/train", segment, specs=specs), specs=specs)
    return sealed(plan.model_copy(update={"quota": schedules}))


def train(*fields: str) -> str:
    """The document of that job."""
    return a_job("train", "command: ['true']", "gpus: 8", *fields)


def a_schedule(quota: str, *guarantees: int | str, hours: int = 12, lent: int = 0) -> QuotaSchedule:
    """A guarantee that changes every so many hours."""
    begin = parse_time(START, "UTC")
    windows = tuple(
        QuotaWindow(
            start=format_time(begin + index * hours * HOUR),
            end=format_time(begin + (index + 1) * hours * HOUR),
            guaranteed=amount,
            used=0,
            borrowed=0,
            lent=lent,
            reclaimable=lent,
        )
        for index, amount in enumerate(guarantees)
    )
    return QuotaSchedule(team=quota.partition("-")[0], quota=quota, reason="as its windows say", windows=windows)
