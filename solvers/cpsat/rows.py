"""Constraints as values, and the one place that hands them to CP-SAT: named, and with numbers that cannot overflow.

CP-SAT 9.15 drops the enforcement of a row when the coefficients of its Boolean terms add up past 2^31, and then proves
wrong optima. So no row leaves here whose |coefficient| x bound sums to `ROW_LIMIT`, and no objective whose sum reaches
`OBJECTIVE_LIMIT`. Larger rows are divided by their greatest common divisor, which changes nothing, or else by a number
that loses some of their meaning, in the direction that `Rounding` says; `Rows.exact` tells whether that ever happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import gcd
from typing import assert_never

from ortools.sat.python import cp_model

ROW_LIMIT = 2**31
OBJECTIVE_LIMIT = 2**53


class Rounding(Enum):
    """What a row that has to be scaled becomes: weaker (every plan stays, for bounds) or stronger (only plans stay)."""

    RELAX = "relax"
    RESTRICT = "restrict"

    def coefficient(self, number: int, scale: int) -> int:
        """Divide a coefficient of an upper-bounded row over variables of at least 0."""
        return number // scale if self is Rounding.RELAX else -(-number // scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A coefficient times a variable that lies in `[0, most]`."""

    coefficient: int
    variable: cp_model.IntVar
    most: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AtMost:
    """The sum of the terms is at most `upper`."""

    terms: tuple[Term, ...]
    upper: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Equal:
    """The sum of the terms equals `total`; counts and slots only, since an equality cannot be scaled."""

    terms: tuple[Term, ...]
    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """At every moment the demands of the intervals present and what is `taken` (start, end, amount) fit `capacity`."""

    intervals: tuple[cp_model.IntervalVar, ...]
    demands: tuple[int, ...]
    capacity: int
    taken: tuple[tuple[int, int, int], ...] = ()


Constraint = AtMost | Equal | Packed


class Rows:
    """Posts constraints on a model. `exact` stays true as long as each means exactly what it said."""

    def __init__(self, *, model: cp_model.CpModel, rounding: Rounding = Rounding.RELAX) -> None:
        self.model = model
        self.rounding = rounding
        self.exact = True

    def post(self, name: str, constraint: Constraint, *, when: tuple[cp_model.IntVar, ...] = ()) -> None:
        """Add `constraint` under `name`, enforced only when all literals of `when` hold."""
        posted = self._posted(name, constraint)
        if posted is not None:
            posted.with_name(name)
            if when:
                posted.only_enforce_if(*when)

    def maximize(self, terms: tuple[Term, ...]) -> int:
        """Set the objective, return its scale: what it says times the scale is never less than what the terms say."""
        shrink = max(1, gcd(*(term.coefficient for term in terms)))
        terms = _over(terms, shrink)
        scale = _scale(terms, OBJECTIVE_LIMIT)
        if scale > 1:
            self.exact = False
        up = tuple(
            Term(coefficient=-(-term.coefficient // scale), variable=term.variable, most=term.most) for term in terms
        )
        self.model.maximize(_sum(up))
        return shrink * scale

    def _posted(self, name: str, constraint: Constraint) -> cp_model.Constraint | None:
        match constraint:
            case AtMost():
                return self._at_most(constraint)
            case Equal():
                return self._equal(name, constraint)
            case Packed():
                return self._packed(constraint)
            case _:
                assert_never(constraint)

    def _at_most(self, row: AtMost) -> cp_model.Constraint | None:
        terms = tuple(term for term in row.terms if term.coefficient and term.most)
        if sum(max(0, term.coefficient) * term.most for term in terms) <= row.upper:
            return None
        shrink = gcd(*(term.coefficient for term in terms))
        terms, upper = _over(terms, shrink), row.upper // shrink
        if all(term.coefficient > 0 for term in terms):
            # One more than the bound says "never" as well as any larger coefficient does.
            cut = max(0, upper) + 1
            terms = tuple(
                Term(coefficient=min(cut, each.coefficient), variable=each.variable, most=each.most) for each in terms
            )
        scale = _scale(terms, ROW_LIMIT)
        if scale > 1:
            self.exact = False
            terms = tuple(
                Term(
                    coefficient=self.rounding.coefficient(each.coefficient, scale),
                    variable=each.variable,
                    most=each.most,
                )
                for each in terms
            )
            upper //= scale
        return self.model.add(_sum(terms) <= upper)

    def _equal(self, name: str, row: Equal) -> cp_model.Constraint:
        if _weight(row.terms) >= ROW_LIMIT:
            raise OverflowError(f"{name} adds up to {_weight(row.terms)}, expected less than {ROW_LIMIT}")
        return self.model.add(_sum(row.terms) == row.total)

    def _packed(self, row: Packed) -> cp_model.Constraint | None:
        used = [(interval, demand) for interval, demand in zip(row.intervals, row.demands, strict=True) if demand]
        taken = [each for each in row.taken if each[2]]
        total = sum(demand for _, demand in used) + sum(amount for _, _, amount in taken)
        if not used or total <= row.capacity:
            return None
        shrink = gcd(*(demand for _, demand in used), *(amount for _, _, amount in taken))
        # The capacity is a coefficient too where the solver turns this into linear rows.
        scale = shrink if (total + row.capacity) // shrink < ROW_LIMIT else (total + row.capacity) // ROW_LIMIT * 2 + 1
        self.exact = self.exact and scale == shrink
        capacity = row.capacity // scale
        intervals = [interval for interval, _ in used]
        demands = [min(capacity + 1, self.rounding.coefficient(demand, scale)) for _, demand in used]
        for start, end, amount in taken:
            intervals.append(self.model.new_fixed_size_interval_var(start, end - start, f"taken {start}-{end}"))
            demands.append(min(capacity, self.rounding.coefficient(amount, scale)))
        return self.model.add_cumulative(intervals, demands, capacity)


def _over(terms: tuple[Term, ...], divisor: int) -> tuple[Term, ...]:
    return tuple(
        Term(coefficient=term.coefficient // divisor, variable=term.variable, most=term.most) for term in terms
    )


def _weight(terms: tuple[Term, ...]) -> int:
    return sum(abs(term.coefficient) * term.most for term in terms)


def _scale(terms: tuple[Term, ...], limit: int) -> int:
    """The least power of two by which the coefficients must be divided, with room for rounding each of them up."""
    if _weight(terms) < limit:
        return 1
    scale = 2
    spread = sum(term.most for term in terms)
    while _weight(terms) // scale + spread >= limit:
        scale *= 2
        if scale >= 2**63:
            raise OverflowError(f"{spread} units of variables in one row, expected less than {limit}")
    return scale


def _sum(terms: tuple[Term, ...]) -> cp_model.LinearExprT:
    return cp_model.LinearExpr.weighted_sum([term.variable for term in terms], [term.coefficient for term in terms])
