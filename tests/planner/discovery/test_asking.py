"""One call that fails costs one fact and leaves one warning."""

from __future__ import annotations

import pytest

from planner.discovery.asking import Asking, number_of, text_of, told


class Unsupported(Exception):
    """What a library raises for a question that a card does not have."""


class Library:
    """A library with one call that answers, one that fails, and one that cards do not support."""

    def answers(self, handle: str) -> int:
        return len(handle)

    def fails(self) -> None:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    def refuses(self) -> None:
        raise Unsupported


def asking() -> Asking:
    return Asking(Library(), lambda error: isinstance(error, Unsupported))


def test_an_answer_is_passed_on_and_says_nothing() -> None:
    one = asking()
    assert one.ask("GPU 0", "answers", "abc") == 3
    assert one.warnings == []


def test_a_failure_is_unknown_and_names_the_call() -> None:
    one = asking()
    assert one.ask("GPU 0", "fails", optional=True) is None
    assert one.warnings[0].startswith("GPU 0: fails: 'utf-8' codec can't decode byte 0xff")


@pytest.mark.parametrize("call", ["refuses", "is_not_in_this_package"])
def test_what_a_card_or_a_package_does_not_have_is_no_news_where_it_is_optional(call: str) -> None:
    one = asking()
    assert one.ask("GPU 0", call, optional=True) is None
    assert one.warnings == [] and one.last is not None
    one.ask("GPU 0", call)
    assert len(one.warnings) == 1 and f"GPU 0: {call}: " in one.warnings[0]


def test_a_warning_is_given_once_and_cannot_disturb_a_terminal() -> None:
    one = asking()
    for _ in range(2):
        one.warn("GPU 0: \x1b[31mred")
    assert one.warnings == ["GPU 0: \\x1b[31mred"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("A", "A"),
        (b"NVIDIA H100", "NVIDIA H100"),
        (b"\xff", None),
        ("N/A", None),
        ("n/a", None),
        (" ", None),
        (7, None),
    ],
)
def test_text_is_text_or_unknown(value: object, text: str | None) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("value", "number"),
    [(0, 0), (2**53 - 1, 2**53 - 1), (2**53, None), (-1, None), (True, None), ("N/A", None), (None, None)],
)
def test_a_number_is_whole_and_not_negative_or_unknown(value: object, number: int | None) -> None:
    assert number_of(value) == number


def test_an_error_is_told_on_one_line() -> None:
    assert told(ValueError("a\n\tb")) == "a b"
    assert told(KeyError()) == "KeyError"
