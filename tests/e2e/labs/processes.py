"""Programs of a lab: started together, waited for, and stopped together, also after a failure."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

GRACE_SECONDS = 10
MOST_TOLD = 4_000
"""How much of a program's words a failure repeats."""


class Failed(AssertionError):
    """A program that should have succeeded did not; the message holds the last of what it said."""


class Running:
    """Programs in the background; each has a log of its own name under `logs`.

    They are told to stop when whoever started them dies, however that happens, and `close` stops them.
    """

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        logs.mkdir(parents=True, exist_ok=True)
        self._started: list[tuple[str, subprocess.Popen[bytes]]] = []

    def start(self, name: str, *command: object, env: Mapping[str, str] | None = None) -> None:
        """Start a program in a session of its own."""
        words = ["setpriv", "--pdeathsig", "TERM", "--", *map(str, command)]
        with (self.logs / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=env, start_new_session=True
            )
        self._started.append((name, process))

    def close(self) -> None:
        """Stop everything: what a lab holds is thrown away, so that nothing needs to be last."""
        processes = [process for _, process in reversed(self._started)]
        self._started.clear()
        for process in processes:
            _signal(process, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < deadline and any(process.poll() is None for process in processes):
            time.sleep(0.1)
        for process in processes:
            _signal(process, signal.SIGKILL)
            process.wait()

    def wait_for(self, condition: Callable[[], bool], what: str, seconds: int = 90) -> None:
        """Wait until `condition` holds; fails at once when a program of the lab has ended."""

        def holds() -> bool:
            for name, process in self._started:
                if process.poll() is not None:
                    log = (self.logs / f"{name}.log").read_text(errors="replace")
                    raise Failed(f"{name} ended with {process.returncode}:\n{log[-MOST_TOLD:]}")
            return condition()

        wait_for(holds, what, seconds)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signal a program and what it has started, though it may have ended itself."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def run(
    *command: object,
    stdin: str | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: int = 300,
) -> str:
    """What a program says; raises `Failed` with the last of it when it does not succeed."""
    done = attempt(*command, stdin=stdin, cwd=cwd, env=env, seconds=seconds)
    if done.returncode:
        told = f"{done.stdout}{done.stderr}"[-MOST_TOLD:]
        raise Failed(f"{' '.join(map(str, command))[:MOST_TOLD]}: exit code {done.returncode}\n{told}")
    return done.stdout


def attempt(
    *command: object,
    stdin: str | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: int = 300,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, whatever that is."""
    return subprocess.run(
        [str(word) for word in command],
        input=stdin or "",
        cwd=cwd,
        env=env,
        check=False,
        text=True,
        encoding="utf-8",
        capture_output=True,
        timeout=seconds,
    )


def wait_for(condition: Callable[[], bool], what: str, seconds: int = 90, *, every: float = 0.25) -> None:
    """Wait until `condition` holds; one that raises `Failed` does not hold yet, unless it is the last time."""
    deadline = time.monotonic() + seconds
    last: Failed | None = None
    while time.monotonic() < deadline:
        try:
            if condition():
                return
        except Failed as error:
            if " ended with " in str(error).partition("\n")[0]:
                raise
            last = error
        time.sleep(every)
    raise Failed(f"{what}: not within {seconds} s" + (f"; last:\n{last}" if last else ""))


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def listens(port: int) -> bool:
    """Whether somebody listens on a port of the loopback interface."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def running(logs: Path) -> Iterator[Running]:
    """Programs that are stopped when the block is left."""
    programs = Running(logs)
    try:
        yield programs
    finally:
        programs.close()
