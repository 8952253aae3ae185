"""Slot sets against plain lists of booleans."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from planner.decode.slotmask import Tally, first, span, starts

WIDTH = 12
SETS = st.lists(st.integers(0, 2**WIDTH - 1), max_size=12)


def bits(mask: int) -> list[bool]:
    """A set as a list."""
    return [bool(mask >> slot & 1) for slot in range(WIDTH)]


def test_a_span_is_half_open_and_begins_at_slot_0() -> None:
    assert bits(span(2, 4)) == [False, False, True, True] + [False] * 8
    assert span(-3, 2) == span(0, 2)
    assert span(4, 4) == span(5, 4) == 0


@given(st.integers(0, 2**WIDTH - 1), st.integers(1, 2 * WIDTH))
def test_starts_are_slots_with_so_many_free_ones_in_a_row(free: int, length: int) -> None:
    known = bits(free) + [True] * 2 * WIDTH
    assert bits(starts(free, WIDTH, length)) == [all(known[slot : slot + length]) for slot in range(WIDTH)]


@given(SETS, st.integers(0, 13), st.integers(0, 2**WIDTH - 1))
def test_a_tally_knows_where_so_many_sets_hold_a_slot(sets: list[int], count: int, within: int) -> None:
    counts = [sum(mask >> slot & 1 for mask in sets) for slot in range(WIDTH)]
    wanted = [number >= count and inside for number, inside in zip(counts, bits(within), strict=True)]
    assert bits(Tally(sets).at_least(count, within)) == wanted


@given(SETS, st.integers(1, 2**WIDTH - 1))
def test_a_tally_knows_the_most(sets: list[int], within: int) -> None:
    counts = {slot: sum(mask >> slot & 1 for mask in sets) for slot in range(WIDTH) if within >> slot & 1}
    most, where = Tally(sets).most(within)
    assert most == max(counts.values())
    assert {slot for slot in range(WIDTH) if where >> slot & 1} == {slot for slot in counts if counts[slot] == most}


def test_the_first_slot_of_a_set() -> None:
    assert first(span(3, 9)) == 3
    assert first(0) is None
