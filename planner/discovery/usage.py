"""Measured use of devices, from answers of Prometheus's HTTP API about the metrics of device exporters.

The query decides the metric and the window, for example `avg_over_time(DCGM_FI_DEV_GPU_UTIL[1d])`: what is read are the
labels that exporters give to a series, and values in percent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from planner.diagnostics import UsageError
from planner.discovery.found import Text, Use
from planner.discovery.past import Run, busy
from planner.discovery.prometheus import Answer, Asked

MARGIN_SECONDS: Final = 600
_NAMESPACE: Final = ("exported_namespace", "namespace")
_POD: Final = ("exported_pod", "pod")
_JOB: Final = ("hpc_job", "slurm_job_id", "job_id")
_LATEST: Final = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """How much one device was used on average by a part of some work: `namespace/pod`, or `job 9` of Slurm."""

    part: str
    permille: int


def measured(files: Iterable[Text]) -> tuple[Measured, ...]:
    """Every series that names who used the device, sorted; `UsageError` for what is no answer to a query."""
    found = [
        Measured(part=part, permille=sum(values) // len(values))
        for text in files
        for part, values in _parts(text, _permille)
    ]
    return tuple(sorted(found, key=lambda one: (one.part, one.permille)))


def uses_in(answers: Iterable[Answer]) -> tuple[Text, ...]:
    """The answers about use alone."""
    return tuple(answer.text for answer in answers if answer.about is Asked.USE)


def metered(
    answers: Sequence[Answer], files: Iterable[Text], since: int, until: int, margin_seconds: int = MARGIN_SECONDS
) -> tuple[Run, ...]:
    """Runs by what meters told of them in the window from `since` to `until` (seconds since 1970 UTC).

    A run that comes closer to an edge of the window than `margin_seconds`, which is how seldom exporters may be asked,
    may be longer than what was seen of it, and has no length.
    """
    permilles: dict[str, list[int]] = {}
    for one in measured((*uses_in(answers), *files)):
        permilles.setdefault(one.part, []).append(one.permille)
    began, ended = _moments(answers, Asked.BEGAN, min), _moments(answers, Asked.ENDED, max)
    first, last = since + margin_seconds, until - margin_seconds
    return tuple(
        _run(part, permilles.get(part, []), _between(began.get(part), ended.get(part), first, last))
        for part in sorted({*permilles, *began, *ended})
    )


def _moments(answers: Iterable[Answer], about: Asked, pick: Callable[[Iterable[int]], int]) -> dict[str, int]:
    found: dict[str, list[int]] = {}
    for answer in answers:
        for part, values in _parts(answer.text, _moment) if answer.about is about else ():
            found.setdefault(part, []).extend(values)
    return {part: pick(values) for part, values in found.items()}


def _between(began: int | None, ended: int | None, first: int, last: int) -> int | None:
    seen = began is not None and ended is not None and first <= began < ended <= last
    return ended - began if seen and began is not None and ended is not None else None


def _run(part: str, permilles: Sequence[int], seconds: int | None) -> Run:
    tenant, _, name = part.partition("/")
    mean = sum(permilles) // len(permilles) if permilles else None
    return Run(tenant=tenant if name else "", name=name or part, part=part, seconds=seconds, permille=mean)


def _parts(text: Text, read: Callable[[Any], Iterator[int]]) -> Iterator[tuple[str, list[int]]]:
    """The values of each series, by the part of some work that its labels name; series of nobody are left out."""
    for series in _series(text):
        labels = series.get("metric")
        samples = series.get("values") if "values" in series else [series.get("value")]
        if not isinstance(labels, dict) or not isinstance(samples, list):
            continue
        values = [value for sample in samples for value in read(sample)]
        namespace, pod, job = (_first(labels, keys) for keys in (_NAMESPACE, _POD, _JOB))
        part = f"{namespace}/{pod}" if namespace and pod else f"job {job}" if job else ""
        if part and values:
            yield part, values


def _series(text: Text) -> list[Mapping[str, Any]]:
    try:
        tree = json.loads(text.data)
        if tree["status"] != "success":
            raise UsageError(f"'{text.name}': Prometheus answered with an error: {tree.get('error', 'unknown')}")
        result = tree["data"]["result"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"'{text.name}' is not an answer of Prometheus to /api/v1/query") from None
    return [each for each in result if isinstance(each, dict)] if isinstance(result, list) else []


def _first(labels: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((value for key in keys if isinstance(value := labels.get(key), str) and value), "")


def _permille(sample: Any) -> Iterator[int]:
    """The value of a `[time, "12.5"]` in thousandths of a device; what is no number from 0 to 100 is left out."""
    if (value := _value(sample)) is not None and 0 <= value <= 100:
        yield int(value * 10)


def _moment(sample: Any) -> Iterator[int]:
    """The value of a `[time, "1796073600.25"]` in whole seconds since 1970."""
    if (value := _value(sample)) is not None and 0 < value < _LATEST:
        yield int(value)


def _value(sample: Any) -> Decimal | None:
    try:
        value = Decimal(sample[1])
    except (InvalidOperation, TypeError, IndexError, KeyError, ValueError):
        return None
    return value if value.is_finite() else None


def told(uses: Iterable[Use], seen: Sequence[Measured]) -> tuple[str, ...]:
    """For each use that was measured a sentence, the least used first; what is not measured is not spoken of."""
    by_part: dict[str, list[int]] = {}
    for one in seen:
        by_part.setdefault(one.part, []).append(one.permille)
    lines: list[tuple[int, str]] = []
    for use in uses:
        values = [value for part in use.parts for value in by_part.get(part, ())]
        if values:
            lines.append((sum(values) // len(values), f"{use.owner or use.name}: {_devices(use)} {busy(values)}"))
    return tuple(line for _, line in sorted(lines))


def _devices(use: Use) -> str:
    count = sum(len(seat.devices) + seat.count for seat in use.seats)
    return f"{count} device" if count == 1 else f"{count} devices"
