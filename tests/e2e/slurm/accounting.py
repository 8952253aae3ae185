"""What Slurm's accounting says of jobs, as a plan says it."""

from __future__ import annotations

from dataclasses import dataclass

from planner.hosts import expand
from tests.e2e.labs.slurm.site import Site
from tests.e2e.labs.timescale import seconds_of

FIELDS = ("JobName", "Comment", "State", "Start", "End", "NodeList", "AllocTRES", "Submit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One run of a job; times in seconds since 1970, 0 while they are not known."""

    address: str
    state: str
    start: int
    end: int
    nodes: tuple[str, ...]
    gpus: int


def runs(site: Site) -> tuple[Account, ...]:
    """Every run of every job, the oldest first; a job that was interrupted has several."""
    found = (_account(row) for row in site.accounts(*FIELDS))
    return tuple(sorted(found, key=lambda item: (item.start or item.end, item.address)))


def last_runs(site: Site) -> dict[str, Account]:
    """The last run of each job by address."""
    return {item.address: item for item in runs(site)}


def _account(row: dict[str, str]) -> Account:
    tres = dict(part.split("=") for part in row["AllocTRES"].split(",") if part)
    nodes = row["NodeList"]
    return Account(
        address=row["Comment"].removeprefix("planner:").rpartition("@")[0],
        state=row["State"].partition(" ")[0],
        start=_epoch(row["Start"]),
        end=_epoch(row["End"]),
        nodes=() if nodes == "None assigned" else tuple(sorted(expand(nodes))),
        gpus=int(tres.get("gres/gpu", 0)),
    )


def _epoch(text: str) -> int:
    return 0 if text in ("Unknown", "None") else seconds_of(f"{text}Z")
