"""Slurm by the programs that the renderer writes: scripts are put into a work folder, then the programs run there.

They ask Slurm for what there is and do only what is missing: accounts and QOS first, then the queue.
Jobs that are no longer wanted are cancelled by their name, which holds the hash of what they run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from planner.apply.backend import BackendError, Call, Runner, run
from planner.apply.item import Action, Departure, Item, Presence, Rank, Record, Standing, Step
from planner.apply.workfiles import WorkFiles
from planner.diagnostics import quoted

PROGRAMS: Final = ("accounts.sh", "submit.sh")
"""What is run, in this order; each looks at what Slurm has and may run any number of times."""
MARK: Final = "planner:"
_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_NUMBER: Final = re.compile(r"[0-9]+(_[0-9]+)?")
_HELD: Final = "0"
"""The priority of a job that is held."""
_NAMED: Final = re.compile(r"^#SBATCH --job-name=(\S+)$", re.MULTILINE)


def names_of(path: str, text: str) -> tuple[tuple[str, ...], Rank]:
    """The job name of a script; programs have none and come last."""
    if path.partition("/")[2] in PROGRAMS:
        return (), Rank.PROGRAM
    return tuple(dict.fromkeys(_NAMED.findall(text))), Rank.WORKLOAD


@dataclass(frozen=True, slots=True, kw_only=True)
class Slurm:
    """One cluster, reached by the client programs of this machine."""

    files: WorkFiles
    runner: Runner

    def describe(self, step: Step) -> tuple[str, ...]:
        """Cancellations, the file that is written or removed, and the run of a program."""
        verb = "remove" if step.action is Action.REMOVE else "write"
        made = [self._cancel(name).sentence for name in step.dropped]
        made.append(f"{verb} {self.files.path(step.record.key)}")
        if self._runs(step):
            made.append(self._submit(step).sentence)
        return tuple(made)

    def presence(self, items: Iterable[Item]) -> Mapping[str, Presence]:
        """Whose the queued jobs of these names are, by their comment."""
        wanted = tuple(items)
        if not any(item.record.refs for item in wanted):
            return {item.key: Presence.ABSENT for item in wanted}
        queued = self._queued()
        return {item.key: _whose([queued[ref] for ref in item.record.refs if ref in queued]) for item in wanted}

    def departures(self, cluster: str, items: Iterable[Item]) -> Iterator[Departure]:
        """Files that differ, jobs that Slurm has not any longer, and jobs with our mark that nobody wants.

        Accounts and QOS are not compared: the program that makes them puts right what differs whenever it runs.
        """
        wanted = tuple(items)
        yield from self.files.departures(cluster, {item.key: item.text for item in wanted})
        queued = self._queued()
        for item in wanted:
            for name in item.record.refs:
                if name not in queued:
                    yield Departure(key=item.key, standing=Standing.MISSING, field=name)
        known = {name for item in wanted for name in item.record.refs}
        for name, comment in sorted(queued.items()):
            if name not in known and comment.startswith(MARK):
                yield Departure(key=name, standing=Standing.EXTRA)

    def perform(self, step: Step) -> None:
        """Cancel, write or remove, and submit."""
        for name in step.dropped:
            run(self.runner, self._cancel(name))
        if step.item is None:
            self.files.remove(step.record.key)
            return
        self.files.write(step.record.key, step.item.text, executable=step.item.executable)
        if self._runs(step):
            run(self.runner, self._submit(step))

    def release(self, record: Record, address: str) -> bool:
        """Let a job go on that was interrupted; any other begins by itself, at the time it was submitted with."""
        held = self._of(record, "PENDING", priority=_HELD)
        for job in held:
            run(self.runner, Call(argv=("scontrol", "release", job)))
        return bool(held)

    def interrupt(self, record: Record, address: str) -> bool:
        """Put a job that runs back into the queue and hold it there."""
        running = self._of(record, "RUNNING")
        for job in running:
            run(self.runner, Call(argv=("scontrol", "requeuehold", job)))
        return bool(running)

    def _of(self, record: Record, state: str, priority: str = "") -> tuple[str, ...]:
        """The numbers of our jobs of a script that are in a state, of a priority if one is given."""
        answer = run(self.runner, Call(argv=("squeue", "--me", "--noheader", "--format=%j|%T|%i|%Q|%k")))
        rows = (line.strip().split("|", 4) for line in answer.out.splitlines() if line.count("|") >= 4)
        return tuple(
            job
            for name, now, job, has, comment in rows
            if name in record.refs and now == state and comment.startswith(MARK) and priority in {"", has}
            and _NUMBER.fullmatch(job)
        )  # fmt: skip

    def _queued(self) -> dict[str, str]:
        """The comments of our jobs that wait or run, by name."""
        answer = run(self.runner, Call(argv=("squeue", "--me", "--noheader", "--format=%j|%k")))
        return dict(line.strip().split("|", 1) for line in answer.out.splitlines() if "|" in line)

    def _runs(self, step: Step) -> bool:
        return step.action is Action.PUT and step.record.rank is Rank.PROGRAM

    def _submit(self, step: Step) -> Call:
        program = step.record.key.partition("/")[2]
        return Call(argv=("sh", f"./{program}"), folder=self.files.path(step.record.cluster))

    def _cancel(self, name: str) -> Call:
        if _NAME.fullmatch(name) is None:
            raise BackendError(f"refusing {quoted(name)}: it is not the name of a Slurm job")
        return Call(argv=("scancel", "--me", f"--name={name}"))


def _whose(comments: list[str]) -> Presence:
    if not comments:
        return Presence.ABSENT
    return Presence.OURS if all(comment.startswith(MARK) for comment in comments) else Presence.FOREIGN
