"""Device indices: never two runs on one device, islands whole, and stable across plans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.compile.joined import islands_of
from planner.decode.binding import Claim, Devices, OverCommitted, bind

EIGHT = tuple(range(8))
PAIRS = Devices(indices=EIGHT, islands=((0, 2), (1, 3), (4, 5), (6, 7)))
FLAT = Devices(indices=EIGHT, islands=(EIGHT,))


def a_claim(key: str, count: int, start: int = 0, end: int = 4, held: tuple[int, ...] = ()) -> Claim:
    """A run of four slots."""
    return Claim(key=key, start=start, end=end, count=count, held=held)


def test_singles_fill_two_pairs_and_leave_two_intact_whatever_their_order() -> None:
    claims = [a_claim(f"a{at}", 1) for at in range(4)] + [a_claim("y", 2), a_claim("z", 2)]
    for order in (claims, claims[::-1]):
        bound = bind(order, PAIRS)
        assert {bound["y"], bound["z"]} <= set(PAIRS.islands)
        singles = sorted(index for key in ("a0", "a1", "a2", "a3") for index in bound[key])
        assert tuple(singles) in {tuple(sorted(a + b)) for a in PAIRS.islands for b in PAIRS.islands if a < b}


def test_a_single_breaks_the_island_that_is_broken_already() -> None:
    bound = bind([a_claim("a", 1, end=8), a_claim("b", 1, start=1, end=8), a_claim("c", 2, start=2, end=8)], PAIRS)
    assert (bound["a"], bound["b"], bound["c"]) == ((0,), (2,), (1, 3))


def test_a_run_keeps_the_devices_of_the_previous_plan() -> None:
    assert bind([a_claim("a", 2, held=(5, 6))], FLAT)["a"] == (5, 6)


def test_a_newcomer_leaves_devices_to_those_who_had_them() -> None:
    bound = bind([a_claim("new", 2, end=8), a_claim("old", 2, start=2, end=6, held=(0, 1))], FLAT)
    assert bound == {"new": (2, 3), "old": (0, 1)}


def test_a_newcomer_takes_them_when_nothing_else_is_left() -> None:
    bound = bind([a_claim("new", 7, end=4), a_claim("old", 2, start=4, end=6, held=(0, 1))], FLAT)
    assert len(bound["new"]) == 7
    assert bound["old"] == (0, 1)


def test_devices_are_free_again_in_the_slot_in_which_a_run_ends() -> None:
    bound = bind([a_claim("a", 8, end=4), a_claim("b", 8, start=4, end=8)], FLAT)
    assert bound["a"] == bound["b"] == EIGHT
    with pytest.raises(OverCommitted):
        bind([a_claim("a", 8, end=4), a_claim("b", 1, start=3, end=8)], FLAT)


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(1, 5), st.integers(1, 8), st.lists(st.integers(0, 7), max_size=3)),
        max_size=10,
    )
)
def test_whatever_fits_in_numbers_is_bound_without_overlap(runs: list[tuple[int, int, int, list[int]]]) -> None:
    kept: list[Claim] = []
    for at, (start, length, count, held) in enumerate(runs):
        claim = a_claim(f"{at}", count, start, start + length, tuple(sorted(set(held))))
        used = [sum(each.count for each in [*kept, claim] if each.start <= slot < each.end) for slot in range(15)]
        if max(used) <= 8:
            kept.append(claim)
    bound = bind(kept, PAIRS)
    assert all(len(set(bound[claim.key])) == claim.count for claim in kept)
    for slot in range(15):
        busy = [index for claim in kept if claim.start <= slot < claim.end for index in bound[claim.key]]
        assert len(busy) == len(set(busy))


@pytest.mark.parametrize(
    ("links", "size", "islands"),
    [
        ((), None, (EIGHT,)),
        ((), 1, (EIGHT,)),
        ((), 8, (EIGHT,)),
        ((), 4, ((0, 1, 2, 3), (4, 5, 6, 7))),
        (((0, 2), (1, 3)), 8, ((0, 2), (1, 3), (4,), (5,), (6,), (7,))),
    ],
)
def test_islands_come_from_links_where_they_are_stated(
    links: tuple[tuple[int, ...], ...], size: int | None, islands: tuple[tuple[int, ...], ...]
) -> None:
    assert islands_of(EIGHT, links, size) == islands
