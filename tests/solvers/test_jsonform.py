"""The JSON form: exact, canonical, and clear about what is wrong with a text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from solvers.jsonform import JsonFormError, problem_from_json, solution_from_json, to_json
from solvers.problem import Problem
from solvers.solution import PoolPrice, Proof, Solution
from tests.solvers.brute_force import optimum
from tests.solvers.builders import a_mode, a_node, a_pool, a_previous, a_problem, a_row, a_task
from tests.solvers.strategies import problems

FULL = a_problem(
    a_task(a_mode(8, charges=((0, 8),), home=0, nodes=(0,)), move_micros=3, previous=a_previous(1, (0, 8)), due=4),
    pools=(a_pool(a_node(8, closed=(2, 3)), ceiling=5),),
    rows=(a_row(limit=(8,) * 8, guarantee=(4,) * 8, bonus=1),),
    units=8,
)
SMALL = Problem(slots=2, pools=(), tasks=())


@given(problems())
def test_a_problem_and_its_solution_come_back_equal(problem: Problem) -> None:
    solution = optimum(problem)
    assert problem_from_json(to_json(problem)) == problem
    assert solution_from_json(to_json(solution)) == solution


def test_a_problem_with_every_field_comes_back_equal_and_as_the_same_bytes() -> None:
    text = to_json(FULL)
    assert problem_from_json(text) == FULL
    assert to_json(problem_from_json(text)) == text


def test_prices_and_a_missing_bound_come_back_equal() -> None:
    price = PoolPrice(pool=0, micros=(0, 7))
    solution = Solution(assignments=(), value_micros=0, bound_micros=None, proof=Proof.HEURISTIC, prices=(price,))
    assert solution_from_json(to_json(solution)) == solution


def test_the_form_is_one_sorted_line_without_what_is_default() -> None:
    assert to_json(SMALL) == '{"format":"planner/problem/v1","pools":[],"slots":2,"tasks":[]}\n'


def test_names_keep_every_character() -> None:
    name = '"\\\n\u0000\u2028\ud800é🙂'
    problem = Problem(slots=1, pools=(a_pool(name=name),), tasks=())
    assert to_json(problem).isascii()
    assert problem_from_json(to_json(problem)) == problem


def test_numbers_of_any_size_come_back_exact() -> None:
    problem = a_problem(a_task(worth_micros=2**60 + 1))
    assert problem_from_json(to_json(problem)).tasks[0].worth_micros == 2**60 + 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "planner/problem/v2"}, "format is 'planner/problem/v2', expected 'planner/problem/v1'"),
        ({"format": "planner/solution/v1"}, "format is 'planner/solution/v1', expected 'planner/problem/v1'"),
        ({"slots": "2"}, "problem.slots is '2', expected an integer"),
        ({"slots": True}, "problem.slots is True, expected an integer"),
        ({"slots": None}, "problem.slots is None, expected an integer"),
        ({"slots": 0}, "problem: not a problem: the horizon has 0 slots, expected at least 1"),
        ({"pools": {}}, "problem.pools is {}, expected a list"),
        ({"pools": [3]}, "problem.pools[0] is 3, expected an object"),
        ({"pools": [{"name": "a", "nodes": []}]}, "problem.pools[0] lacks 'resources'"),
        ({"tasks": [{"name": "a", "modes": [], "worth_micro": 1}]}, "problem.tasks[0] has no field 'worth_micro'"),
        ({"rows": [{"rule": "quotas", "subject": "a"}]}, "problem.rows[0].rule is 'quotas', expected one of capacity"),
        ({"rows": [{"rule": ["quota"], "subject": "a"}]}, "problem.rows[0].rule is ['quota'], expected one of"),
    ],
)
def test_what_is_no_problem_is_refused_with_its_place(change: dict[str, object], message: str) -> None:
    tree = json.loads(to_json(SMALL)) | change
    with pytest.raises(JsonFormError) as caught:
        problem_from_json(json.dumps(tree))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON: Expecting value"),
        ("{", "not JSON: Expecting property name"),
        ("[]", "format is None, expected 'planner/problem/v1'"),
        ("3", "format is None"),
        ('{"slots":1,"slots":2}', "key 'slots' appears twice in one object"),
        ('{"slots":1.5}', "1.5 is no integer"),
        ('{"slots":1e3}', "1e3 is no integer"),
        ('{"slots":NaN}', "NaN is no integer"),
        ("[" * 100_000, "nested too deeply"),
        ('{"slots":' + "9" * 5_000 + "}", "not JSON: "),
    ],
)
def test_what_is_no_json_of_ours_is_refused(text: str, message: str) -> None:
    with pytest.raises(JsonFormError) as caught:
        problem_from_json(text)
    assert str(caught.value).startswith(message)


def test_a_list_of_fixed_length_has_that_length() -> None:
    text = to_json(FULL).replace('"nodes":[[0,8]]', '"nodes":[[0,8,9]]')
    with pytest.raises(JsonFormError, match=r"previous\.nodes\[0\] has 3 entries, expected 2"):
        problem_from_json(text)


def test_a_solution_is_read_as_a_solution_only() -> None:
    with pytest.raises(JsonFormError, match="expected 'planner/solution/v1'"):
        solution_from_json(to_json(SMALL))
