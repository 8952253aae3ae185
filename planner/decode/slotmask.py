"""Sets of slots as the bits of one integer: a question about thousands of nodes costs a few machine words each."""

from __future__ import annotations

from collections.abc import Iterable


def span(start: int, end: int) -> int:
    """The slots `[start, end)`; what lies before slot 0 is left out."""
    start = max(0, start)
    return ((1 << (end - start)) - 1) << start if end > start else 0


def starts(free: int, width: int, length: int) -> int:
    """The slots in `[0, width)` from which `length` slots in a row are free; every slot from `width` on is."""
    free |= span(width, width + length)
    have = 1
    while have < length:
        step = min(have, length - have)
        free &= free >> step
        have += step
    return free & span(0, width)


def first(slots: int) -> int | None:
    """The first slot of a set, None when it is empty."""
    return (slots & -slots).bit_length() - 1 if slots else None


class Tally:
    """How many of some sets hold each slot, as binary digits: digit k of all slots' counts is one integer."""

    __slots__ = ("_digits",)

    def __init__(self, sets: Iterable[int]) -> None:
        self._digits: list[int] = []
        for carry in sets:
            self._add(carry)

    def _add(self, carry: int) -> None:
        for place, digit in enumerate(self._digits):
            self._digits[place], carry = digit ^ carry, digit & carry
            if not carry:
                return
        if carry:
            self._digits.append(carry)

    def at_least(self, count: int, within: int) -> int:
        """The slots of `within` that `count` sets or more hold."""
        above, equal = 0, within
        for place in reversed(range(max(len(self._digits), count.bit_length()))):
            digit = self._digits[place] if place < len(self._digits) else 0
            if count >> place & 1:
                equal &= digit
            else:
                above |= equal & digit
                equal &= ~digit
        return above | equal

    def most(self, within: int) -> tuple[int, int]:
        """The largest count in a slot of `within`, and the slots that have it; `(0, within)` when nothing does."""
        count = 0
        for place in reversed(range(len(self._digits))):
            if higher := within & self._digits[place]:
                within, count = higher, count | 1 << place
        return count, within
