"""The order of steps: what is needed comes first, and what is needed longest goes last."""

from __future__ import annotations

import pytest

from planner.apply.item import Item, Rank, Record
from planner.apply.steps import in_order, steps_to
from tests.planner.apply.scenes import an_item


def have(*items: Item) -> dict[str, Record]:
    """An inventory of these objects."""
    return {item.key: item.record for item in items}


def test_needs_are_put_first_then_work_ends_then_begins_then_needs_go() -> None:
    before = have(an_item("old-queue", rank=Rank.QUEUE), an_item("old-flavor", rank=Rank.FLAVOR), an_item("gone"))
    wanted = (
        an_item("run", rank=Rank.PROGRAM),
        an_item("job"),
        an_item("queue", rank=Rank.QUEUE),
        an_item("flavor", rank=Rank.FLAVOR),
        an_item("namespace", rank=Rank.NAMESPACE),
    )
    found = steps_to(wanted, before, ("dc1",))
    assert [(str(step.action), step.record.key) for step in found.steps] == [
        ("put", "dc1/namespace.yaml"),
        ("put", "dc1/flavor.yaml"),
        ("put", "dc1/queue.yaml"),
        ("remove", "dc1/gone.yaml"),
        ("put", "dc1/job.yaml"),
        ("put", "dc1/run.yaml"),
        ("remove", "dc1/old-queue.yaml"),
        ("remove", "dc1/old-flavor.yaml"),
    ]
    assert [step.number for step in found.steps] == list(range(8))


def test_clusters_come_in_the_order_that_is_given_and_those_that_are_gone_last() -> None:
    wanted = (an_item("a", cluster="dc1"), an_item("b", cluster="hpc"))
    found = steps_to(wanted, have(an_item("c", cluster="aws")), ("hpc", "dc1"))
    assert [step.record.cluster for step in found.steps] == ["hpc", "dc1", "aws"]


@pytest.mark.parametrize("text", ["one", "two"])
def test_only_what_differs_is_a_step(text: str) -> None:
    found = steps_to((an_item("a", text),), have(an_item("a")), ("dc1",))
    assert len(found.steps) == (0 if text == "one" else 1)


def test_what_is_uncertain_is_put_again_with_every_name_it_may_have() -> None:
    first, second = an_item("a"), an_item("a", "two", refs=("ref/new",))
    step = steps_to((second,), have(first), ("dc1",)).steps[0]
    assert step.dropped == ("ref/a",)
    assert step.interim.refs == ("ref/a", "ref/new")
    again = steps_to((second,), {step.record.key: step.interim}, ("dc1",)).steps[0]
    assert again.dropped == ("ref/a",)


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        ([], ("a", "b", "c")),
        ([("a", "c")], ("b", "c", "a")),
        ([("a", "b"), ("b", "c")], ("c", "b", "a")),
        ([("a", "b"), ("b", "a")], ("a", "b", "c")),
        ([("a", "a")], ("a", "b", "c")),
    ],
)
def test_clusters_follow_those_that_they_need(needs: list[tuple[str, str]], expected: tuple[str, ...]) -> None:
    assert in_order(["c", "a", "b"], needs) == expected
