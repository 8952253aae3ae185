"""The load of each slot: recurring steps and files, always the greater where several values touch a slot."""

from __future__ import annotations

import pytest

from planner.compile.horizon import Horizon
from planner.compile.load import BadLoad, of_file, of_steps
from planner.spec.service import Load
from planner.when import When

START = 1_796_083_200
HOURS = Horizon(start=START, slot_seconds=3_600, slots=6, reason="")


def at(hour: int, minute: int = 0) -> str:
    """A time of the first day."""
    return f"2026-12-01T{hour:02}:{minute:02}:00Z"


def a_step(milliqps: int, start: int, end: int) -> Load:
    """A rate every day between two minutes of the day."""
    return Load.model_construct(when=When(tuple(range(7)), start, end), milliqps=milliqps, concurrent=None)


def test_a_step_holds_in_its_window_and_nothing_elsewhere() -> None:
    assert of_steps((a_step(5_000, 60, 180),), HOURS, "UTC") == ((0, 0), (5_000, 0), (5_000, 0), *[(0, 0)] * 3)


def test_a_slot_that_a_window_only_touches_takes_the_greater_load() -> None:
    low_then_high = (
        a_step(5_000, 90, 150),
        Load.model_construct(when=When.otherwise(), milliqps=1_000, concurrent=None),
    )
    assert [rate for rate, _ in of_steps(low_then_high, HOURS, "UTC")] == [1_000, 5_000, 5_000, 1_000, 1_000, 1_000]


@pytest.mark.parametrize(
    ("lines", "rates"),
    [
        ([(at(0), "2")], [2_000] * 6),
        ([(at(2), "2.5")], [0, 0, 2_500, 2_500, 2_500, 2_500]),
        ([(at(0), "1"), (at(3), "4"), (at(5), "0")], [1_000, 1_000, 1_000, 4_000, 4_000, 0]),
        ([(at(0), "1"), (at(2, 30), "4"), (at(2, 45), "2")], [1_000, 1_000, 4_000, 2_000, 2_000, 2_000]),
        ([("2026-11-30T00:00:00Z", "7"), ("2026-12-02T00:00:00Z", "9")], [7_000] * 6),
        ([("2026-12-01T09:00:00+08:00", "3")], [0, 3_000, 3_000, 3_000, 3_000, 3_000]),
    ],
)
def test_a_line_of_a_file_holds_until_the_next(lines: list[tuple[str, str]], rates: list[int]) -> None:
    text = "time,qps\n" + "".join(f"{moment},{rate}\n" for moment, rate in lines)
    assert [rate for rate, _ in of_file(text.encode(), HOURS, "UTC")] == rates


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "its first line is not 'time,qps'"),
        (b"when,rate\n", "its first line is not 'time,qps'"),
        (b"time,qps\n", "it has no line after the first"),
        (b"\xff\xfe", "it is not UTF-8 text"),
        (b"time,qps\n2026-12-01T00:00:00Z\n", "line 2: a time and a number"),
        (b"time,qps\n2026-12-01T00:00:00Z,-1\n", "line 2: a time and a number"),
        (b"time,qps\n2026-12-01T00:00:00Z,1e9\n", "line 2: a time and a number"),
        (b"time,qps\nnoon,1\n", "line 2: "),
        (b"time,qps\n2026-12-01T01:00:00Z,1\n2026-12-01T01:00:00Z,2\n", "line 3: its time is not after"),
    ],
)
def test_a_file_that_cannot_be_read_says_where(data: bytes, fault: str) -> None:
    with pytest.raises(BadLoad, match=fault):
        of_file(data, HOURS, "UTC")
