"""The lock of a state folder: one holder at a time, taken from another only once it has expired."""

from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from pathlib import Path

import pytest

from planner.apply import lease
from planner.diagnostics import Busy

TTL = 300


@dataclass
class Clock:
    """A clock that is set by hand."""

    now: int = 1_796_083_200

    def __call__(self) -> int:
        """The time."""
        return self.now


def test_a_second_run_hears_who_holds_the_lock_since_when(tmp_path: Path) -> None:
    clock = Clock()
    lease.take(tmp_path / "apply.lock", "ann@ci (process 7)", "apply of sha256:1", clock, TTL)
    with pytest.raises(Busy) as refusal:
        lease.take(tmp_path / "apply.lock", "bo@laptop", "apply of sha256:2", clock, TTL)
    assert "ann@ci (process 7) has held it since 2026-12-01T00:00:00Z for apply of sha256:1" in str(refusal.value)
    assert "expires at 2026-12-01T00:05:00Z" in str(refusal.value)
    assert refusal.value.exit_code == 8


@pytest.mark.parametrize(("passed", "is_free"), [(0, False), (TTL - 1, False), (TTL, True), (TTL + 1, True)])
def test_a_lock_is_stolen_only_once_it_has_expired(passed: int, is_free: bool, tmp_path: Path) -> None:
    clock = Clock()
    first = lease.take(tmp_path / "apply.lock", "ann", "one", clock, TTL)
    clock.now += passed
    if not is_free:
        with pytest.raises(Busy):
            lease.take(tmp_path / "apply.lock", "bo", "two", clock, TTL)
        first.check()
        return
    second = lease.take(tmp_path / "apply.lock", "bo", "two", clock, TTL)
    with pytest.raises(Busy, match="was lost after it had expired: bo has held it"):
        first.check()
    first.release()
    second.check()


def test_a_holder_that_lives_keeps_its_lock(tmp_path: Path) -> None:
    clock = Clock()
    mine = lease.take(tmp_path / "apply.lock", "ann", "one", clock, TTL)
    for _ in range(5):
        clock.now += TTL - 1
        mine.renew()
    with pytest.raises(Busy):
        lease.take(tmp_path / "apply.lock", "bo", "two", clock, TTL)
    mine.release()
    lease.take(tmp_path / "apply.lock", "bo", "two", clock, TTL)


def test_the_lock_is_given_back_however_the_block_ends(tmp_path: Path) -> None:
    with pytest.raises(SystemExit), lease.held(tmp_path / "apply.lock", "ann", "one", Clock()):
        raise SystemExit(137)
    assert not (tmp_path / "apply.lock").exists()


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"format": "planner/lease/v1", "until": "soon"}', "\x00"])
def test_a_lock_that_cannot_be_read_counts_as_held(text: str, tmp_path: Path) -> None:
    (tmp_path / "apply.lock").write_text(text)
    with pytest.raises(Busy, match="make sure that no run is under way"):
        lease.take(tmp_path / "apply.lock", "ann", "one", Clock(), TTL)
    assert (tmp_path / "apply.lock").read_text() == text


def test_a_symbolic_link_in_the_place_of_the_guard_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".apply.lock.guard").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        lease.take(tmp_path / "apply.lock", "ann", "one", Clock(), TTL)
    assert not (tmp_path / "elsewhere").exists()


def _take(path: Path, name: str, winners: Path) -> None:
    try:
        lease.take(path, name, "a race", Clock(), TTL)
    except Busy:
        return
    (winners / name).touch()


def test_of_many_that_ask_at_once_one_gets_the_lock(tmp_path: Path) -> None:
    winners = tmp_path / "winners"
    winners.mkdir()
    context = multiprocessing.get_context("fork")
    runs = [context.Process(target=_take, args=(tmp_path / "apply.lock", f"run-{n}", winners)) for n in range(8)]
    for one in runs:
        one.start()
    for one in runs:
        one.join()
    assert len(list(winners.iterdir())) == 1
