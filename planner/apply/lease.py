"""The lock of a state folder: one run at a time, with a holder, a time to live and a heartbeat.

Every look at the lock and every change of it happens under a lock of the operating system on a file beside it, so that
no two runs can take it at once. A lock is taken from another only once it has expired: a holder that lives renews it.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planner import lockfile
from planner.clock import format_time
from planner.diagnostics import Busy, PlannerError, printable

FORMAT: Final = "planner/lease/v1"
TTL_SECONDS: Final = 300
_BEATS: Final = 3

Clock = Callable[[], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Who holds the lock, what for, since when and until when; `token` tells one taking from another."""

    holder: str
    what: str
    token: str
    since: int
    until: int

    @property
    def sentence(self) -> str:
        """Who holds the lock since when, for whoever waits."""
        since, until = format_time(self.since), format_time(self.until)
        return f"{self.holder} has held it since {since} for {self.what}; it expires at {until} unless renewed"


class Held:
    """A lock that this run holds; `check` before every step makes sure that it still does."""

    def __init__(self, path: Path, lease: Lease, clock: Clock, ttl_seconds: int) -> None:
        """Hold `lease`, which `path` has."""
        self._path, self._lease, self._clock, self._ttl = path, lease, clock, ttl_seconds
        self._ended = threading.Event()

    def renew(self) -> None:
        """Put the end off by the time to live; raises `Busy` when the lock was taken by another meanwhile."""
        with _guarded(self._path):
            found = _read(self._path)
            if found is None or found.token != self._lease.token:
                who = found.sentence if found else "somebody removed it"
                raise Busy(f"the lock {self._path} was lost after it had expired: {printable(who)}")
            _write(self._path, self._until(self._clock() + self._ttl))

    def check(self) -> None:
        """Make sure that the lock is still held, and renew it."""
        self.renew()

    def release(self) -> None:
        """Give the lock back, if it is still ours."""
        self._ended.set()
        with _guarded(self._path):
            found = _read(self._path)
            if found is not None and found.token == self._lease.token:
                self._path.unlink(missing_ok=True)

    def beat(self) -> None:
        """Renew until the lock is released or lost; meant for a thread of its own."""
        while not self._ended.wait(self._ttl / _BEATS):
            try:
                self.renew()
            except (PlannerError, OSError):
                return

    def _until(self, moment: int) -> Lease:
        held = self._lease
        return Lease(holder=held.holder, what=held.what, token=held.token, since=held.since, until=moment)


def take(path: Path, holder: str, what: str, clock: Clock, ttl_seconds: int = TTL_SECONDS) -> Held:
    """Take the lock at `path`; raises `Busy`, which says who holds it, while it has not expired."""
    path.parent.mkdir(parents=True, exist_ok=True)
    now = clock()
    lease = Lease(holder=holder, what=what, token=secrets.token_hex(16), since=now, until=now + ttl_seconds)
    with _guarded(path):
        found = _read(path)
        if found is not None and now < found.until:
            raise Busy(f"another run holds the lock {path}: {printable(found.sentence)}")
        _write(path, lease)
    return Held(path, lease, clock, ttl_seconds)


@contextmanager
def held(path: Path, holder: str, what: str, clock: Clock, ttl_seconds: int = TTL_SECONDS) -> Iterator[Held]:
    """Hold the lock at `path` with a heartbeat, and give it back however the block ends."""
    mine = take(path, holder, what, clock, ttl_seconds)
    beat = threading.Thread(target=mine.beat, name="lease", daemon=True)
    beat.start()
    try:
        yield mine
    finally:
        mine.release()
        beat.join(timeout=5)


@contextmanager
def _guarded(path: Path) -> Iterator[None]:
    guard = path.with_name(f".{path.name}.guard")
    descriptor = os.open(guard, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _read(path: Path) -> Lease | None:
    """The lock in a file; one that cannot be read is held by nobody knows whom, so that nothing is done."""
    try:
        entry = json.loads(path.read_bytes())
        if entry["format"] != FORMAT or not all(type(entry[key]) is int for key in ("since", "until")):
            raise ValueError
        texts = {key: str(entry[key]) for key in ("holder", "what", "token")}
        return Lease(**texts, since=entry["since"], until=entry["until"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise Busy(f"{path} cannot be read as a lock; make sure that no run is under way, then remove it") from None


def _write(path: Path, lease: Lease) -> None:
    entry = {
        "format": FORMAT, "holder": lease.holder, "what": lease.what, "token": lease.token,
        "since": lease.since, "until": lease.until,
    }  # fmt: skip
    lockfile.write(path, json.dumps(entry, sort_keys=True) + "\n")
