"""What an import makes of one object: a spec of a Job or Service with its template, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planner.discovery.past import Lengths, Run, busy, lengths
from planner.names import NAME_LENGTH, suggest_name
from planner.spec.envelope import API_VERSION
from planner.spec.work import LIMIT
from planner.units import Duration


class NotImported(Exception):
    """Why an object cannot become a spec."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportWish:
    """What people say of all jobs: the team, how long those take that do not say it, and whether only devices count.

    `teams` has the teams of namespaces and accounts, as the specs have them; `past` are runs as they really were.
    """

    team: str = ""
    duration: str = ""
    devices_only: bool = False
    teams: tuple[tuple[str, str], ...] = ()
    past: tuple[Run, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A spec as plain fields, and the template under `name` with that ending; `untold` is what fields cannot say."""

    subject: str
    name: str
    team: str
    fields: Mapping[str, Any]
    template: bytes
    suffix: str
    kind: str = "Job"
    untold: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        """The address of the spec."""
        return f"{self.kind.lower()}/{self.team}/{self.name}"

    @property
    def document(self) -> dict[str, Any]:
        """The spec."""
        head = {"apiVersion": API_VERSION, "kind": self.kind, "name": self.name, "team": self.team}
        return head | dict(self.fields) | {"template": f"{self.name}{self.suffix}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An object that is not imported, and why."""

    subject: str
    reason: str


Result = Imported | Refused


def named_apart(results: Iterable[Result]) -> tuple[Result, ...]:
    """The results with a name of its own for each job of a team; later ones of the same name are numbered."""
    taken: set[tuple[str, str]] = set()  # of jobs and services alike: their files stand in one folder
    apart: list[Result] = []
    for result in results:
        match result:
            case Imported():
                number, name = 1, result.name
                while (result.team, name) in taken:
                    number += 1
                    name = f"{result.name[: NAME_LENGTH - 4]}-{number}"
                taken.add((result.team, name))
                apart.append(replace(result, name=name))
            case Refused():
                apart.append(result)
    return tuple(apart)


def job_name(*texts: str) -> str:
    """The first of some texts that can be made a name."""
    return next((name for name in map(suggest_name, texts) if name), "job")


def team_name(wish: ImportWish, own: str) -> str:
    """The team that was said, else that of a namespace or account, else its name where it is one; else nothing."""
    return wish.team or dict(wish.teams).get(own) or suggest_name(own)


def lasting(
    wish: ImportWish, limit_seconds: int | None, runs: Sequence[Run] = ()
) -> tuple[dict[str, Any] | str | None, tuple[str, ...]]:
    """The duration field, and what is to be told of it; None where nobody says how long it takes.

    What `runs` really took is stronger than what is said of all jobs, and a job's own limit is stronger than either.
    """
    if (seen := lengths(runs)) is not None:
        return _as_seen(seen, limit_seconds), (str(seen),)
    if not limit_seconds:
        return wish.duration or None, ()
    limit = str(Duration.of_seconds(limit_seconds))
    if wish.duration and Duration.parse(wish.duration) <= Duration.of_seconds(limit_seconds):
        return {"expected": wish.duration, "limit": limit}, ()
    return {"expected": limit, "limit": limit}, ("how long it takes is not known; its limit is written for that",)


def _as_seen(seen: Lengths, limit_seconds: int | None) -> dict[str, Any] | str:
    """The middle length is expected. A limit is written where the job has one, or where the usual one is too short."""
    expected = Duration.of_seconds(seen.middle if limit_seconds is None else min(seen.middle, limit_seconds))
    limit = limit_seconds or (seen.most if seen.most > seen.middle * LIMIT else None)
    return {"expected": str(expected), "limit": str(Duration.of_seconds(limit))} if limit else str(expected)


def kept_up(count: int) -> tuple[dict[str, Any], str]:
    """The fields of a service that keep as many replicas as there are, by a load of one for each; and what to tell."""
    if not count:
        raise NotImported("it has no replicas now")
    fields = {"load": {"concurrent": count}, "headroom": "0%", "replicas": {"min": count, "max": count}}
    replicas = "1 replica is" if count == 1 else f"{count} replicas are"
    return fields, f"its load is not known: {replicas} kept; write load and service_time, and they follow from those"


def used(wish: ImportWish) -> tuple[str, ...]:
    """How busy the devices of the runs at hand were, where that was measured."""
    told = busy([run.permille for run in wish.past if run.permille is not None])
    return (f"its devices were {told}",) if told else ()


def stated(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that say something."""
    return {key: value for key, value in fields.items() if value not in (None, "", [], {}, ())}
