"""What apply asks of a back end, and how programs are run: argument lists, never a shell, with a limit on time."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from planner.apply.item import Departure, Item, Presence, Record, Step
from planner.diagnostics import PlannerError, printable

CALL_SECONDS: Final = 120
_SHOWN: Final = 600
_SECRET_NAME: Final = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|PRIVATE|API_?KEY|ACCESS_?KEY|_KEY$|JWT|COOKIE", re.I)
_BEARER: Final = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_SHORTEST_SECRET: Final = 4


class BackendError(PlannerError):
    """A back end did not do what it was asked to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One program to run: its arguments, where, and what it reads. `shown` says what is read instead of showing it."""

    argv: tuple[str, ...]
    stdin: str = ""
    shown: str = ""
    folder: Path | None = None

    @property
    def sentence(self) -> str:
        """The call as a line that a shell would run, without what it reads."""
        return shlex.join(self.argv) + (f" < {self.shown}" if self.shown else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a program answered."""

    code: int
    out: str = ""
    err: str = ""


class Runner(Protocol):
    """Runs programs."""

    def __call__(self, call: Call) -> Answer:
        """Run one to its end; raises `BackendError` when it cannot be started or does not end in time."""
        ...


class Backend(Protocol):
    """One cluster as apply sees it. Every method may be called again after a run was killed in the midst of it."""

    def describe(self, step: Step) -> tuple[str, ...]:
        """The calls of a step, one a line; nothing is done and no secret is shown."""
        ...

    def presence(self, items: Iterable[Item]) -> Mapping[str, Presence]:
        """Whose the objects are that the back end has under the names of `items`, by key."""
        ...

    def departures(self, cluster: str, items: Iterable[Item]) -> Iterator[Departure]:
        """What the back end of `cluster` has otherwise than `items`, which are all that it should have of ours."""
        ...

    def perform(self, step: Step) -> None:
        """Do a step; done twice it is as done once. Raises `BackendError`."""
        ...

    def release(self, record: Record, address: str) -> bool:
        """Let the work at `address`, which `record` holds, begin; False where it was let before or begins by itself."""
        ...

    def interrupt(self, record: Record, address: str) -> bool:
        """Stop the work at `address`, so that `release` lets it go on; False where it does not run or stops by itself.

        It is told to end as it is at any interruption, so that it can save itself.
        """
        ...


@dataclass(frozen=True, slots=True)
class Programs:
    """Runs programs of this machine with their output kept; `environment` decides what must never be shown."""

    environment: Mapping[str, str]
    seconds: int = CALL_SECONDS

    def __call__(self, call: Call) -> Answer:
        """Run a program to its end."""
        try:
            done = subprocess.run(
                call.argv,
                input=call.stdin.encode(),
                capture_output=True,
                cwd=call.folder,
                timeout=self.seconds,
                env=dict(self.environment),
                check=False,
            )
        except FileNotFoundError:
            raise BackendError(f"there is no program '{printable(call.argv[0])}' on this machine") from None
        except subprocess.TimeoutExpired:
            raise BackendError(f"'{printable(call.argv[0])}' did not end within {self.seconds} s") from None
        except (OSError, ValueError) as error:
            raise BackendError(f"cannot run '{printable(call.argv[0])}': {printable(str(error))}") from None
        out, err = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
        return Answer(code=done.returncode, out=out, err=without_secrets(err, self.environment))


def run(runner: Runner, call: Call) -> Answer:
    """Run a program that has to succeed; raises `BackendError` with the end of what it complained of."""
    answer = runner(call)
    if answer.code:
        said = " ".join(answer.err.split())[-_SHOWN:] or "without a word"
        raise BackendError(f"'{printable(shlex.join(call.argv[:4]))} …' ended with {answer.code}: {printable(said)}")
    return answer


def without_secrets(text: str, environment: Mapping[str, str]) -> str:
    """`text` without the values of variables that are named like secrets, and without credentials of requests."""
    values = {value for name, value in environment.items() if _SECRET_NAME.search(name)}
    for value in sorted((value for value in values if len(value) >= _SHORTEST_SECRET), key=len, reverse=True):
        text = text.replace(value, "***")
    return _BEARER.sub(lambda match: f"{match[1]} ***", text)
