"""Whether guarantees can all be honoured: the arithmetic, held against enumeration."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from planner.specset.guarantees import Claim, above_parent, own_parts, shortages


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
