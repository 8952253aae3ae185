"""What the flat tables say of a problem."""

from __future__ import annotations

import numpy as np

from solvers.arrays import Arrays, tables_of
from solvers.columns import (
    CLEAR_AT,
    CLOSES,
    COUNT,
    DEVICES,
    FAR,
    FREE_AT,
    KIND,
    LAST,
    LATE,
    LATE_SPAN,
    LIMIT_AT,
    NODE_AT,
    NODE_END,
    PART_AT,
    PART_END,
    PART_WIDTH,
    POSITION,
    RATE,
    REST,
    SCALE,
    USE_AT,
    WAS_AT,
    WAS_END,
    WAS_MODE,
)
from tests.solvers.builders import (
    a_mode,
    a_node,
    a_part,
    a_pool,
    a_previous,
    a_problem,
    a_row,
    a_taken,
    a_task,
)


def _clear(a: Arrays, node: int) -> list[int]:
    at = int(a.node[node, CLEAR_AT])
    return [int(slots) for slots in a.flat[at : at + a.slots]]


def test_a_closed_slot_has_nothing_and_the_slots_before_it_count_down_to_it() -> None:
    tables = tables_of(a_problem(pools=(a_pool(a_node(8, closed=(3, 5))),), slots=6))
    assert tables.free.tolist() == [8, 8, 8, 0, 0, 8]
    assert _clear(tables.arrays, 0) == [3, 2, 1, 0, 0, FAR]
    assert tables.arrays.node[0, CLOSES] == 1


def test_a_closure_past_the_horizon_still_counts_for_limits() -> None:
    tables = tables_of(a_problem(pools=(a_pool(a_node(8, closed=(6, 9))),), slots=4))
    assert tables.free.tolist() == [8] * 4
    assert _clear(tables.arrays, 0) == [6, 5, 4, 3]


def test_a_closure_that_began_before_the_horizon_closes_its_start() -> None:
    tables = tables_of(a_problem(pools=(a_pool(a_node(8, closed=(-3, 2))),), slots=4))
    assert tables.free.tolist() == [0, 0, 8, 8]
    assert _clear(tables.arrays, 0) == [0, 0, FAR, FAR]


def test_what_is_taken_is_not_free_and_never_below_nothing() -> None:
    node = a_node(8, 4, taken=(a_taken(-1, 2, 6, 1), a_taken(1, 9, 6, 1)))
    tables = tables_of(a_problem(a_task(a_mode(1, 1)), pools=(a_pool(node),), slots=3))
    at = int(tables.arrays.node[0, FREE_AT])
    assert tables.free[at : at + 6].tolist() == [2, 0, 2, 3, 2, 3]
    assert tables.capacity[0].tolist() == [[2, 0, 2], [3, 2, 3]]


def test_parts_come_most_demanding_first_and_keep_their_position() -> None:
    mode = a_mode(parts=(a_part(1, count=2), a_part(8), a_part(4)))
    a = tables_of(a_problem(a_task(mode))).arrays
    parts = a.flat[a.mode[0, PART_AT] : a.mode[0, PART_END]].reshape(-1, PART_WIDTH)
    assert [(int(a.flat[part[USE_AT]]), int(part[COUNT]), int(part[POSITION])) for part in parts] == [
        (8, 1, 1),
        (4, 1, 2),
        (1, 2, 0),
    ]
    assert a.mode[0, DEVICES] == 14


def test_modes_with_proportional_use_and_charges_share_a_price_kind() -> None:
    tasks = (a_task(a_mode(2, charges=((0, 2),))), a_task(a_mode(6, charges=((0, 6),))), a_task(a_mode(6)))
    a = tables_of(a_problem(*tasks, rows=(a_row((9,) * 8),))).arrays
    assert a.mode[:, KIND].tolist() == [0, 0, 1]
    assert a.mode[:, SCALE].tolist() == [2, 6, 6]


def test_worth_is_taken_apart_without_loss() -> None:
    a = tables_of(a_problem(a_task(a_mode(duration=3), worth_micros=1_000, premium_micros=1))).arrays
    assert (int(a.mode[0, RATE]), int(a.mode[0, REST])) == (333, 2)


def test_lateness_never_counts_more_slots_than_the_worth_pays_for() -> None:
    a = tables_of(a_problem(a_task(due=1, late_micros=300, worth_micros=1_000))).arrays
    assert (int(a.task[0, LATE]), int(a.task[0, LATE_SPAN])) == (300, 4)
    a = tables_of(a_problem(a_task(due=1, late_micros=2**61, worth_micros=1_000))).arrays
    assert (int(a.task[0, LATE]), int(a.task[0, LATE_SPAN])) == (1_000, 1)


def test_the_last_start_is_inside_the_horizon() -> None:
    a = tables_of(a_problem(a_task(), a_task(latest=3), a_task(latest=30), slots=8)).arrays
    assert a.mode[:, LAST].tolist() == [7, 3, 7]


def test_previous_nodes_are_listed_once_by_position_in_the_fleet() -> None:
    pools = (a_pool(a_node(), name="a"), a_pool(a_node(), a_node(), name="b"))
    task = a_task(a_mode(), a_mode(pool=1, count=2), previous=a_previous(0, (1, 8), (0, 8), mode=1))
    a = tables_of(a_problem(task, pools=pools)).arrays
    assert a.task[0, WAS_MODE] == 1
    assert a.flat[a.task[0, WAS_AT] : a.task[0, WAS_END]].tolist() == [1, 8, 2, 8]


def test_a_row_without_a_limit_never_binds() -> None:
    a = tables_of(a_problem(rows=(a_row(), a_row((3,) * 8, subject="other")))).arrays
    firsts = a.row[:, LIMIT_AT]
    assert [int(a.flat[first]) for first in firsts] == [FAR, 3]


def test_a_pool_with_more_nodes_than_its_market_grants_has_no_place() -> None:
    for ceiling, places in ((1, 0), (2, 2)):
        a = tables_of(a_problem(pools=(a_pool(a_node(), a_node(), ceiling=ceiling),))).arrays
        assert int(a.mode[0, NODE_END] - a.mode[0, NODE_AT]) == places


def test_tables_hold_nothing_but_int64() -> None:
    tables = tables_of(a_problem())
    every = (*tables.arrays[2:], *tables.kinds, *tables[2:])
    assert {values.dtype for values in every} == {np.dtype(np.int64)}
