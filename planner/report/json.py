"""Reports for programs: documents with sorted keys and a `format_version`, whose minor number grows by additions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from planner.units import format_time

if TYPE_CHECKING:
    from planner.diff import Changes, JobChange, Run
    from planner.plan import Plan

VERSION: Final = "1.0"


def document(**content: Any) -> str:
    """One JSON document of this version."""
    tree = {"format_version": VERSION, **content}
    return json.dumps(tree, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def changes_json(changes: Changes, before: Plan, after: Plan, **edits: Sequence[object]) -> str:
    """The differences of two plans; pairs are `[before, after]`, times RFC 3339, money micros, use device-seconds.

    `edits` are lists of what else differs, such as `specs`, under their names.
    """
    return document(
        **{name: _plain(tuple(items)) for name, items in edits.items()},
        before={"digest": before.digest},
        after={"digest": after.digest},
        changed=changes.any,
        unchanged_jobs=changes.unchanged,
        currency=after.costs.currency,
        jobs=[_job(item) for item in changes.jobs],
        teams=_plain(changes.teams),
        quotas=_plain(changes.quotas),
        utilisation=_plain(changes.uses),
        costs=_plain(changes.cost),
        sections=[item.section for item in changes.sections],
    )


def rows_json(name: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as a list of objects under `name`."""
    return document(**{name: [dict(zip(header, row, strict=True)) for row in rows]})


def _job(item: JobChange) -> dict[str, Any]:
    tree = {
        "address": item.address,
        "team": item.team,
        "effect": item.effect.value,
        "formerly": item.formerly,
        "start_seconds": item.start_seconds,
        "finish_seconds": item.finish_seconds,
        "becomes_late": item.becomes_late,
        "moves": item.moves,
        "before": _run(item.before),
        "after": _run(item.after),
        "reason": item.reason.model_dump(exclude_none=True) if item.reason else None,
    }
    return {key: value for key, value in tree.items() if value is not None}


def _run(run: Run | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "start": format_time(run.start),
        "finish": format_time(run.finish),
        "late_seconds": run.late_seconds,
        "pools": list(run.pools),
        "variants": list(run.variants),
        "models": list(run.models),
        "nodes": sorted({node for _, node, _ in run.seats}),
        "gpus": _plain(run.gpus),
        "priority": run.priority,
        "cash_micros": run.cash_micros,
        "spec": run.spec,
    }


def _plain(value: object) -> Any:
    """A value in the types that JSON has; fractions become integers or `"25/2"`."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    return value.value if isinstance(value, Enum) else value
