"""Whether guarantees can all be honoured: the arithmetic, held against enumeration."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from planner.specset.guarantees import Claim, above, above_parent, affordable, own_parts, shortages


def a_claim(name: str, *covers: int, line: tuple[str, ...] = ()) -> Claim:
    return Claim(name, line or (name,), frozenset(covers))


def test_guarantees_within_capacity_are_no_shortage() -> None:
    claims = (a_claim("a", 0), a_claim("b", 0))
    assert shortages(claims, {"a": 10, "b": 6}, [16]) == ()


def test_guarantees_above_capacity_name_the_claims_and_the_sum() -> None:
    claims = (a_claim("a", 0), a_claim("b", 0), a_claim("c", 1))
    (short,) = shortages(claims, {"a": 12, "b": 8, "c": 4}, [16, 8])
    assert (short.claims, short.amounts, short.wanted, short.available, short.covered) == (
        ("a", "b"),
        (12, 8),
        20,
        16,
        (0,),
    )


def test_shortages_of_different_devices_are_told_apart() -> None:
    claims = (a_claim("a", 0), a_claim("b", 1), a_claim("c", 0))
    found = shortages(claims, {"a": 8, "b": 3, "c": 1}, [8, 2])
    assert {(short.claims, short.wanted, short.available) for short in found} == {(("a", "c"), 9, 8), (("b",), 3, 2)}


def test_a_broad_claim_makes_way_for_a_narrow_one() -> None:
    claims = (a_claim("broad", 0, 1), a_claim("narrow", 0))
    assert not shortages(claims, {"broad": 8, "narrow": 16}, [16, 8])
    assert shortages(claims, {"broad": 9, "narrow": 16}, [16, 8])


def test_nested_guarantees_of_one_team_count_once() -> None:
    claims = (a_claim("pool", 0, line=("t",)), a_claim("model", 0, 1, line=("t",)))
    assert own_parts(claims, {"pool": 8, "model": 12}) == {"pool": 8, "model": 4}
    assert own_parts(claims, {"pool": 8, "model": 4}) == {"pool": 8, "model": 0}


def test_a_parent_contains_its_children() -> None:
    claims = (
        a_claim("parent", 0, line=("p",)),
        a_claim("one", 0, line=("c1", "p")),
        a_claim("two", 0, line=("c2", "p")),
    )
    assert not shortages(claims, {"parent": 16, "one": 10, "two": 6}, [16])
    assert list(above_parent(claims, {"parent": 16, "one": 10, "two": 6})) == []
    assert list(above_parent(claims, {"parent": 15, "one": 10, "two": 6})) == [("parent", ("one", "two"), 16)]


def test_a_grandchild_counts_once_in_the_grandparent() -> None:
    claims = (
        a_claim("top", 0, line=("t",)),
        a_claim("middle", 0, line=("m", "t")),
        a_claim("low", 0, line=("l", "m", "t")),
    )
    assert own_parts(claims, {"top": 10, "middle": 8, "low": 5}) == {"top": 2, "middle": 3, "low": 5}
    assert list(above_parent(claims, {"top": 10, "middle": 8, "low": 5})) == []


def test_what_is_left_is_divided_in_proportion() -> None:
    claims = (a_claim("a", 0), a_claim("b", 0), a_claim("c", 1))
    assert affordable(claims, {"a": 10, "b": 6, "c": 4}, [8, 4]) == {"a": 5, "b": 3, "c": 4}
    assert affordable(claims, {"a": 10, "b": 6, "c": 4}, [16, 4]) == {"a": 10, "b": 6, "c": 4}


def test_the_parts_of_a_tree_are_cut_alike() -> None:
    claims = (a_claim("top", 0, line=("t",)), a_claim("low", 0, line=("l", "t")), a_claim("other", 0))
    assert affordable(claims, {"top": 12, "low": 8, "other": 4}, [8]) == {"top": 2, "low": 4, "other": 2}


def test_the_claim_above_is_the_narrowest_of_the_nearest_team_that_covers_all() -> None:
    claims = (
        a_claim("wide", 0, 1, 2, line=("p",)),
        a_claim("narrow", 0, 1, line=("p",)),
        a_claim("low", 0, 1, line=("c", "p")),
        a_claim("broad", 0, 2, line=("c", "p")),
        a_claim("stray", 3, line=("c", "p")),
    )
    assert above(claims) == {"wide": None, "narrow": None, "low": "narrow", "broad": "wide", "stray": None}


WISHES = st.lists(st.tuples(st.sets(st.integers(0, 3), min_size=1), st.integers(0, 8)), min_size=1, max_size=5)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=4), WISHES)
def test_what_is_cut_fits_and_nothing_is_cut_that_fits(capacity: list[int], wishes: list[tuple[set[int], int]]) -> None:
    claims = tuple(
        a_claim(f"c{number}", *(index % len(capacity) for index in covers)) for number, (covers, _) in enumerate(wishes)
    )
    amounts = {f"c{number}": amount for number, (_, amount) in enumerate(wishes)}
    cut = affordable(claims, amounts, capacity)
    assert shortages(claims, cut, capacity) == ()
    assert all(0 <= cut[name] <= amount for name, amount in amounts.items())
    short = {name for each in shortages(claims, amounts, capacity) for name in each.claims}
    assert short or cut == amounts


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=4),
    st.lists(st.tuples(st.sets(st.integers(0, 3), min_size=1), st.integers(0, 8)), min_size=1, max_size=5),
)
def test_there_is_a_shortage_exactly_when_some_claims_exceed_all_they_cover(
    capacity: list[int], wishes: list[tuple[set[int], int]]
) -> None:
    claims = tuple(
        a_claim(f"c{number}", *(index % len(capacity) for index in covers)) for number, (covers, _) in enumerate(wishes)
    )
    amounts = {f"c{number}": amount for number, (_, amount) in enumerate(wishes)}
    groups = [group for size in range(1, len(claims) + 1) for group in combinations(claims, size)]
    exceeds = any(
        sum(amounts[claim.name] for claim in group)
        > sum(capacity[index] for index in set().union(*(claim.covers for claim in group)))
        for group in groups
    )
    found = shortages(claims, amounts, capacity)
    assert bool(found) == exceeds
    assert all(short.wanted > short.available for short in found)
