"""The schedule of a host: what starts when, after what, and when it is stopped.

Compose has no clock. A small program that a well-kept scheduler runs every minute compares what should run with what
does, and does the difference; nothing waits in memory, so that nothing is lost when it is killed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from planner.names import without_index
from planner.spec.backend import ComposeScheduler, Engine
from planner.units import parse_time
from renderers import environment
from renderers.compose import words
from renderers.manifest import Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from planner.spec.cluster import Cluster
    from renderers.payload import Payload
    from renderers.replicas import Replica

GRACE_SECONDS: Final = 120
COMMANDS: Final = {Engine.DOCKER: ("docker", "docker compose"), Engine.PODMAN: ("podman", "podman compose")}
"""The program of an engine, and that which runs projects on it."""
_SPEC: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One job of a host's schedule: the times in seconds since 1970; `stop` is 0 where only its limit ends it."""

    payload: Payload
    start: int
    end: int
    stop: int

    @property
    def name(self) -> str:
        """The name of its service."""
        return words.service_name(self.payload.address)

    @property
    def run(self) -> str:
        """The job with its spec: another spec is another run."""
        return _run(self.name, self.payload)

    @property
    def devices(self) -> frozenset[int]:
        """The devices that it has for itself."""
        return _own(self.payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """One replica of a host's schedule."""

    replica: Replica

    @property
    def name(self) -> str:
        """The name of its service."""
        return words.replica_name(self.replica.payload.address, self.replica.number, self.replica.turn)

    @property
    def run(self) -> str:
        """The replica with its spec: another spec is another run."""
        return _run(self.name, self.replica.payload)

    @property
    def devices(self) -> frozenset[int]:
        """The devices that it has for itself."""
        return _own(self.replica.payload)


def entries_of(payloads: Iterable[Payload]) -> tuple[Entry, ...]:
    """The jobs of one host in the order of their starts."""
    found = (_entry(payload) for payload in payloads)
    return tuple(sorted(found, key=lambda item: (item.start, item.name)))


def _entry(payload: Payload) -> Entry:
    start, end = (parse_time(text, "UTC") for text in (payload.segment.start, payload.segment.end))
    return Entry(payload=payload, start=start, end=end, stop=end if payload.later else 0)


def _run(name: str, payload: Payload) -> str:
    return f"{name}-{payload.placement.spec.removeprefix('sha256:')[:_SPEC]}"


def _own(payload: Payload) -> frozenset[int]:
    return frozenset(item.index for item in payload.devices if item.share is None)


def files(
    cluster: Cluster, host: str, entries: tuple[Entry, ...], serving: tuple[Serving, ...] = ()
) -> Iterator[Manifest]:
    """The program, what runs it every minute, and what puts that to work."""
    backend = cluster.backend
    engine, compose = COMMANDS.get(backend.engine, ("", ""))
    text = environment.render(
        "compose/schedule.sh.j2",
        native=backend.engine is Engine.APPTAINER,
        engine=engine,
        compose=compose,
        grace=GRACE_SECONDS,
        project=words.project_name(cluster.name, host),
        jobs=tuple(_line(entry, entries, serving) for entry in entries),
        replicas=tuple(_serve(each, entries, serving) for each in serving),
    )
    cron = backend.scheduler is ComposeScheduler.CRON
    addresses = tuple(
        sorted({item.payload.address for item in entries} | {words.service_of_replica(one.replica) for one in serving})
    )
    made = [("schedule.sh", text, True), ("install.sh", environment.render("compose/install.sh.j2", cron=cron), True)]
    if not cron:
        made += (
            (f"gpu-fleet-planner@.{kind}", environment.render(f"compose/{kind}.sh.j2"), False)
            for kind in ("service", "timer")
        )
    for name, content, executable in made:
        yield Manifest(path=f"{cluster.name}/{host}/{name}", text=content, addresses=addresses, executable=executable)


def _serve(each: Serving, entries: tuple[Entry, ...], serving: tuple[Serving, ...]) -> tuple[str, ...]:
    payload, first = each.replica.payload, each.replica.windows[0][0]
    last = each.replica.windows[-1][0]
    before = [other.run for other in entries if other.devices & each.devices and other.end <= last]
    before += [one.run for one in serving if one.devices & each.devices and 0 < one.replica.windows[-1][1] <= first]
    return (
        each.name,
        each.run,
        payload.address,
        payload.placement.spec,
        *(f"on:{begin}:{end}" for begin, end in each.replica.windows),
        *(f"holds:{run}" for run in before),
    )


def _line(entry: Entry, entries: tuple[Entry, ...], serving: tuple[Serving, ...]) -> tuple[str | int, ...]:
    payload = entry.payload
    return (
        entry.name,
        entry.run,
        payload.address,
        payload.placement.spec,
        entry.start,
        entry.stop,
        payload.placement.limit_seconds,
        payload.job.retries,
        *(f"after:{other.run}" for other in entries if waits_for(payload, other.payload.address)),
        *(f"holds:{other.run}" for other in entries if _holds(other, entry)),
        *(f"holds:{each.run}" for each in serving if each.devices & entry.devices),
    )


def waits_for(payload: Payload, address: str) -> bool:
    """Whether a job waits for another: `prep` means the team's own, `data/prep` another's, an array all of it."""
    return without_index(address) in parents_of(payload)


def parents_of(payload: Payload) -> tuple[str, ...]:
    """The addresses that a job waits for, arrays as a whole."""
    keys = (name.removeprefix("job/") for name in payload.job.after)
    return tuple(sorted(f"job/{key if '/' in key else f'{payload.job.team}/{key}'}" for key in keys))


def _holds(other: Entry, entry: Entry) -> bool:
    """Whether an earlier job may still have a device when this one is due: it may run up to its limit."""
    return other.end <= entry.start and bool(other.devices & entry.devices)
