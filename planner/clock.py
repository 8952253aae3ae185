"""Moments as seconds since 1970 UTC, and what clocks in a time zone show."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_TIME: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)


def zone_of(name: str) -> ZoneInfo:
    """The time zone of an IANA name such as `Asia/Shanghai`."""
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}", name):
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, OSError):
            pass
    raise ValueError(
        f"'{name}' is not a time zone; write an IANA name, for example UTC, Europe/Berlin or Asia/Shanghai."
    )


def parse_time(text: str, zone: str) -> int:
    """Read a date or a date with a time as seconds since 1970 UTC.

    Without an offset it is local time in `zone`; a date alone is the first moment of that day there. A local time that
    the clock skips or shows twice is refused, since only an offset tells which moment is meant.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(
            f"'{text}' is not a time; write for example 2026-12-01T09:00:00+08:00, 2026-12-01T09:00:00 or 2026-12-01."
        )
    date, clock, offset = match.groups()
    try:
        local = datetime.fromisoformat(f"{date}T{clock or '00:00'}{offset or ''}")
    except ValueError:
        raise ValueError(f"'{text}' is not a time that the calendar has; correct the date or the clock time.") from None
    if offset:
        return int((local - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1))
    return _local_epoch(local, zone, text, exact=clock is not None)


def _local_epoch(local: datetime, zone: str, text: str, *, exact: bool) -> int:
    first = first_reading(local, zone)
    if exact:
        info = zone_of(zone)
        if datetime.fromtimestamp(first, info).replace(tzinfo=None) != local:
            raise ValueError(
                f"'{text}' does not exist in {zone}: the clock is set forward over it; add the offset you mean."
            )
        if _seconds(local.replace(tzinfo=info, fold=1)) != first:
            raise ValueError(
                f"'{text}' happens twice in {zone}: the clock is set back over it; add the offset you mean."
            )
    return first


def first_reading(local: datetime, zone: str) -> int:
    """Seconds since 1970 UTC at which clocks in `zone` first read `local` (without offset) or later.

    A reading that is skipped is reached when the clock jumps; one that is shown twice is reached the first time.
    """
    info = zone_of(zone)
    late, early = (_seconds(local.replace(tzinfo=info, fold=fold)) for fold in (0, 1))
    if early >= late:
        return late
    while late - early > 1:
        middle = (early + late) // 2
        if datetime.fromtimestamp(middle, info).replace(tzinfo=None) >= local:
            late = middle
        else:
            early = middle
    return late


def _seconds(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)


def format_time(epoch_seconds: int) -> str:
    """Seconds since 1970 UTC as RFC 3339: `2026-12-01T09:00:00Z`."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=epoch_seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
