"""Names and addresses."""

from __future__ import annotations

import pytest

from planner.names import Address, address, element, is_address, is_name, parse_name, suggest_name, without_index


@pytest.mark.parametrize("text", ["a", "a1", "resnet-50", "0", "a" * 53])
def test_a_legal_name_is_one(text: str) -> None:
    assert is_name(text)
    assert parse_name(text) == text


@pytest.mark.parametrize("text", ["", "A", "-a", "a-", "a_b", "a.b", "a" * 54, "a/b", "ä", "a\n", "a b"])
def test_an_illegal_name_is_refused(text: str) -> None:
    assert not is_name(text)
    with pytest.raises(ValueError, match=r"is not a name|at most 53"):
        parse_name(text)


def test_a_refused_name_comes_with_a_legal_one_like_it() -> None:
    assert suggest_name("Vision_Team/LLM v2.1") == "vision-team-llm-v2-1"
    assert suggest_name("___") == ""
    assert is_name(suggest_name("X" * 80))


def test_an_address_is_the_kind_and_the_names_that_lead_to_it() -> None:
    assert address("Job", "vision", "resnet") == "job/vision/resnet"
    assert element(Address("job/vision/resnet"), 3) == "job/vision/resnet[3]"
    assert without_index("job/vision/resnet[3]") == "job/vision/resnet"
    assert without_index("job/vision/resnet") == "job/vision/resnet"


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("cluster/dc1", True),
        ("pool/dc1/h100", True),
        ("job/vision/resnet", True),
        ("job/vision/resnet[3]", True),
        ("job/resnet", False),
        ("team/vision/x", False),
        ("node/a", False),
        ("job/vision/", False),
        ("Job/vision/resnet", False),
    ],
)
def test_an_address_is_told_from_other_text(text: str, right: bool) -> None:
    assert is_address(text) is right
