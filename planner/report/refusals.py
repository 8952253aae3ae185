"""What does not run and why: one reason a pool, the most telling first, and the smallest change that would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from planner.report.figures import plural
from planner.report.naming import array_names
from planner.report.page import Block, Column, Heading, Line, Medium, Prose, Table, bad, good, line, quiet, strong

if TYPE_CHECKING:
    from planner.plan import Plan, Reason, Unplaced

LISTED: Final = 12
REASONS: Final = 6
NEAREST: Final = 4
NAMES: Final = 5


def refused(plan: Plan, medium: Medium) -> tuple[Block, ...]:
    """The section "Does not run"; of many, the first are told in full and the rest counted by their first reason."""
    if not plan.unplaced:
        return ()
    groups = alike(plan.unplaced)
    shown = groups if medium.full else groups[:LISTED]
    prose = Prose(lines=tuple(_lines(shown, medium)), indent=2)
    note = f"{plural(len(plan.unplaced), 'job')}; reasons by pool, what can never fit first"
    return (Heading(title="Does not run", note=note), prose, *_rest(groups[len(shown) :]))


def alike(unplaced: Sequence[Unplaced]) -> tuple[tuple[Unplaced, ...], ...]:
    """Unplaced work of one team that has the same reasons drawn together, in order of the first of each group."""
    groups: dict[tuple[str, tuple[Reason, ...]], list[Unplaced]] = {}
    for item in unplaced:
        groups.setdefault((item.address.rpartition("/")[0], item.reasons), []).append(item)
    return tuple(tuple(group) for group in groups.values())


def _lines(groups: Sequence[tuple[Unplaced, ...]], medium: Medium) -> Iterator[Line]:
    for group in groups:
        reasons = group[0].reasons
        yield line(bad("x "), *_names(group, medium))
        # The last reasons are the nearest to a yes: of many, the first are only named.
        folded = 0 if medium.full or len(reasons) <= REASONS else len(reasons) - NEAREST
        if folded:
            named = ", ".join(f"{reason.subject} [{reason.code}]" for reason in reasons[:folded])
            yield line(quiet(f"    {plural(folded, 'further place')} cannot take it: {named}; --full says why"))
        for reason in reasons[folded:]:
            yield line(f"    {_subject(reason)}{reason.message}", quiet(f" [{reason.code}]"))
            if reason.fix:
                yield line("      ", good("try: "), reason.fix)


def _names(group: tuple[Unplaced, ...], medium: Medium) -> Line:
    names = array_names(item.address for item in group)
    shown = names if medium.full or len(names) <= NAMES else names[: NAMES - 1]
    rest = len(names) - len(shown)
    return line(strong(", ".join(shown)), *([quiet(f" and {rest:,} more for the same reasons")] if rest else []))


def _subject(reason: Reason) -> str:
    return f"{reason.subject}: " if reason.subject else ""


def _rest(groups: Sequence[tuple[Unplaced, ...]]) -> Iterator[Block]:
    if not groups:
        return
    counts: Counter[tuple[str, str]] = Counter()
    for group in groups:
        first = group[0].reasons[0] if group[0].reasons else None
        counts[(first.code, first.subject) if first else ("", "")] += len(group)
    total = sum(counts.values())
    yield Prose(
        lines=(line(quiet(f"and {plural(total, 'more job')} by first reason; --full lists them all")),), indent=2
    )
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    columns = (Column(title="Jobs", right=True), Column(title="Reason"), Column(title="Where"))
    yield Table(
        columns=columns,
        rows=tuple((line(f"{count:,}"), line(code), line(subject)) for (code, subject), count in ordered[:LISTED]),
    )
