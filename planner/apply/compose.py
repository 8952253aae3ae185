"""Compose hosts: each project is checked by Compose itself and kept in a work folder; what leaves a project is stopped.

Projects reach Compose on its standard input, so that a host elsewhere needs no file. Nothing starts here: every service
has a profile of its own and begins when its time has come.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from planner.apply.backend import BackendError, Call, Runner, run
from planner.apply.item import Action, Departure, Item, Presence, Rank, Record, Step
from planner.apply.workfiles import WorkFiles
from planner.diagnostics import Blocked, quoted
from planner.spec.backend import Backend, Engine
from planner.yamlio import rendered

_PROJECT: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,254}")
_SERVICE: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}")
_COMMANDS: Final = {Engine.DOCKER: ("docker", "compose"), Engine.PODMAN: ("podman", "compose")}


def names_of(path: str, text: str) -> tuple[tuple[str, ...], Rank]:
    """`PROJECT/SERVICE` of every service of a project; other files have no names."""
    if not path.endswith("/compose.yaml"):
        return (), Rank.WORKLOAD
    name = _project(text)["name"]
    return tuple(sorted(f"{name}/{service}" for service in _services(text))), Rank.WORKLOAD


@dataclass(frozen=True, slots=True, kw_only=True)
class Compose:
    """One cluster of hosts. `trusts_commands` lets commands that the specs name run on this machine."""

    cluster: str
    options: Backend
    files: WorkFiles
    runner: Runner
    trusts_commands: bool = False

    def describe(self, step: Step) -> tuple[str, ...]:
        """The calls of Compose, and the file that is written or removed."""
        verb = "remove" if step.action is Action.REMOVE else "write"
        return (*(call.sentence for call in self._calls(step)), f"{verb} {self.files.path(step.record.key)}")

    def presence(self, items: Iterable[Item]) -> Mapping[str, Presence]:
        """Whether the work folder has a file of somebody else in the place of a project."""
        return {item.key: self._presence(item) for item in items}

    def departures(self, cluster: str, items: Iterable[Item]) -> Iterator[Departure]:
        """Files that differ from the projects, and files that belong to none."""
        return self.files.departures(cluster, {item.key: item.text for item in items})

    def perform(self, step: Step) -> None:
        """Stop what left the project, let Compose check the new one, and keep its file."""
        for call in self._calls(step):
            run(self.runner, call)
        if step.item is None:
            self.files.remove(step.record.key)
        else:
            self.files.write(step.record.key, step.item.text, executable=step.item.executable)

    def release(self, record: Record, address: str) -> bool:
        """Start the service of an address, unless its host has a container of it already, be it one that has ended."""
        text = self.files.read(record.key)
        names = [name for name, service in _services(text or "").items() if _address(service) == address]
        if text is None or not names:
            raise BackendError(f"{record.key} has no service for {address}")
        compose = (*self.command(record.key.split("/")[1]), "--file", "-")
        seen = run(self.runner, Call(argv=(*compose, "ps", "--all", "--quiet", names[0]), stdin=text, shown=record.key))
        if seen.out.strip():
            return False
        start = (*compose, "up", "--detach", "--no-recreate", names[0])
        run(self.runner, Call(argv=start, stdin=text, shown=record.key))
        return True

    def interrupt(self, record: Record, address: str) -> bool:
        """Stop the container of an address and take it away, so that it is started anew when it may go on."""
        text = self.files.read(record.key)
        names = [name for name, service in _services(text or "").items() if _address(service) == address]
        if text is None or not names:
            raise BackendError(f"{record.key} has no service for {address}")
        compose = (*self.command(record.key.split("/")[1]), "--file", "-")
        seen = run(self.runner, Call(argv=(*compose, "ps", "--quiet", names[0]), stdin=text, shown=record.key))
        if not seen.out.strip():
            return False
        for words in (("stop", names[0]), ("rm", "--force", names[0])):
            run(self.runner, Call(argv=(*compose, *words), stdin=text, shown=record.key))
        return True

    def command(self, host: str) -> tuple[str, ...]:
        """How Compose is run for a host; raises `Blocked` where the specs name a command that nobody trusted."""
        own = next((item.command for item in self.options.hosts if item.node == host and item.command), None)
        if own is not None and not self.trusts_commands:
            raise Blocked(
                f"cluster/{self.cluster} names a command of its own for the host {quoted(host)}, which would run on"
                f" this machine: {quoted(' '.join(own))}. If that is meant: --trust-commands"
            )
        found = own or _COMMANDS.get(self.options.engine)
        if found is None:
            raise BackendError(f"no command runs Compose projects with {self.options.engine} on {quoted(host)}")
        return found

    def _calls(self, step: Step) -> tuple[Call, ...]:
        if not step.record.key.endswith("/compose.yaml"):
            return ()
        host = step.record.key.split("/")[1]
        stops = self._stops(step, self.command(host))
        if step.item is None:
            return stops
        check = (*self.command(host), "--file", "-", "config", "--quiet")
        return (*stops, Call(argv=check, stdin=step.item.text, shown=step.record.key))

    def _stops(self, step: Step, command: tuple[str, ...]) -> tuple[Call, ...]:
        """What is no longer wanted: a whole project by its name, single services by the file that still has them."""
        gone: dict[str, list[str]] = {}
        for ref in step.dropped:
            project, service = _parts(ref)
            gone.setdefault(project, []).append(service)
        if step.action is Action.REMOVE:
            return tuple(Call(argv=(*command, "--project-name", project, "down")) for project in sorted(gone))
        before = self.files.read(step.record.key)
        if before is None:
            return ()
        known = _services(before).keys()
        return tuple(
            Call(argv=(*command, "--file", "-", "rm", "--stop", "--force", *left), stdin=before, shown=step.record.key)
            for names in (gone[project] for project in sorted(gone))
            if (left := [name for name in names if name in known])
        )

    def _presence(self, item: Item) -> Presence:
        found = self.files.read(item.key)
        if found is None:
            return Presence.ABSENT
        return Presence.OURS if "x-planner" in _project(found) else Presence.FOREIGN


def _project(text: str) -> dict[str, Any]:
    documents = rendered(text)
    return documents[0] if documents and isinstance(documents[0], dict) else {}


def _services(text: str) -> dict[str, Any]:
    return dict(_project(text).get("services") or {})


def _address(service: Any) -> str:
    """The address that a service is for, as the renderer noted it."""
    return str((service.get("x-planner") or {}).get("address", "")) if isinstance(service, dict) else ""


def _parts(ref: str) -> tuple[str, str]:
    project, _, service = ref.partition("/")
    if _PROJECT.fullmatch(project) is None or _SERVICE.fullmatch(service) is None:
        raise BackendError(f"refusing {quoted(ref)}: it is not the name of a Compose service")
    return project, service
