"""Measured use of devices, from answers of Prometheus's HTTP API about the metrics of device exporters.

The query decides the metric and the window, for example `avg_over_time(DCGM_FI_DEV_GPU_UTIL[1d])`: what is read are the
labels that exporters give to a series, and values in percent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from planner.diagnostics import UsageError
from planner.discovery.found import Text, Use

IDLE_PERMILLE: Final = 100
_NAMESPACE: Final = ("exported_namespace", "namespace")
_POD: Final = ("exported_pod", "pod")
_JOB: Final = ("hpc_job", "slurm_job_id", "job_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """How much one device was used on average by a part of some work: `namespace/pod`, or `job 9` of Slurm."""

    part: str
    permille: int


def measured(files: Iterable[Text]) -> tuple[Measured, ...]:
    """Every series that names who used the device, sorted; `UsageError` for what is no answer to a query."""
    found = [one for text in files for series in _series(text) for one in _measured(series)]
    return tuple(sorted(found, key=lambda one: (one.part, one.permille)))


def _series(text: Text) -> list[Mapping[str, Any]]:
    try:
        tree = json.loads(text.data)
        if tree["status"] != "success":
            raise UsageError(f"'{text.name}': Prometheus answered with an error: {tree.get('error', 'unknown')}")
        result = tree["data"]["result"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"'{text.name}' is not an answer of Prometheus to /api/v1/query") from None
    return [each for each in result if isinstance(each, dict)] if isinstance(result, list) else []


def _measured(series: Mapping[str, Any]) -> Iterator[Measured]:
    labels = series.get("metric")
    samples = series.get("values") if "values" in series else [series.get("value")]
    if not isinstance(labels, dict) or not isinstance(samples, list):
        return
    values = [value for sample in samples for value in _permille(sample)]
    namespace, pod, job = (_first(labels, keys) for keys in (_NAMESPACE, _POD, _JOB))
    part = f"{namespace}/{pod}" if namespace and pod else f"job {job}" if job else ""
    if part and values:
        yield Measured(part=part, permille=sum(values) // len(values))


def _first(labels: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((value for key in keys if isinstance(value := labels.get(key), str) and value), "")


def _permille(sample: Any) -> Iterator[int]:
    """The value of a `[time, "12.5"]` in thousandths of a device; what is no number from 0 to 100 is left out."""
    try:
        value = Decimal(sample[1])
    except (InvalidOperation, TypeError, IndexError, KeyError, ValueError):
        return
    if value.is_finite() and 0 <= value <= 100:
        yield int(value * 10)


def told(uses: Iterable[Use], seen: Sequence[Measured]) -> tuple[str, ...]:
    """For each use that was measured a sentence, the least used first; what is not measured is not spoken of."""
    by_part: dict[str, list[int]] = {}
    for one in seen:
        by_part.setdefault(one.part, []).append(one.permille)
    lines: list[tuple[int, str]] = []
    for use in uses:
        values = [value for part in use.parts for value in by_part.get(part, ())]
        if values:
            mean = sum(values) // len(values)
            idle = ": idle" if mean < IDLE_PERMILLE else ""
            lines.append(
                (mean, f"{use.owner or use.name}: {_devices(use)} used {mean // 10}.{mean % 10} % on average{idle}")
            )
    return tuple(line for _, line in sorted(lines))


def _devices(use: Use) -> str:
    count = sum(len(seat.devices) + seat.count for seat in use.seats)
    return f"{count} device" if count == 1 else f"{count} devices"
