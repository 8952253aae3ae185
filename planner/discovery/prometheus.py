"""Prometheus, asked through its HTTP API how busy devices were, and from when to when somebody had them."""

from __future__ import annotations

import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from enum import StrEnum
from http.client import HTTPException
from typing import Any, Final

from planner.catalog import VendorFacts, vendors
from planner.diagnostics import PlannerError, UsageError, printable
from planner.discovery.found import FILE_BYTES, Text

TIMEOUT_SECONDS: Final = 60
_STEPS: Final = 2_000
"""Into how many steps a window is cut when the first and the last sample of a series are looked for."""
_PATH: Final = "/api/v1/query"


class Asked(StrEnum):
    """What a query is about: mean use in percent, or the moment of the first or the last sample."""

    USE = "use"
    BEGAN = "began"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What Prometheus answered to one query, as it came."""

    about: Asked
    text: Text


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the server that was named is the one that is asked."""

    def redirect_request(self, *_: Any) -> None:
        """Leave the redirect as the error that it then is."""


def answers(url: str, window_seconds: int, at: int) -> tuple[Answer, ...]:
    """Ask about the devices of every vendor in the `window_seconds` before `at` (seconds since 1970 UTC).

    `UsageError` for an address that is none, `PlannerError` where the server does not answer.
    """
    endpoint = _endpoint(url)
    return tuple(
        Answer(about=about, text=Text(name=f"the answer of {endpoint}", data=_asked(endpoint, query, at)))
        for facts in vendors().values()
        if facts.use_metrics
        for about, query in queries(facts, window_seconds)
    )


def queries(facts: VendorFacts, window_seconds: int) -> tuple[tuple[Asked, str], ...]:
    """The queries about a vendor's devices. Of several metrics for one device the first that there is counts."""
    step = max(1, window_seconds // _STEPS)
    forms = {
        Asked.USE: "{factor} * avg_over_time({name}[{window}s])",
        Asked.BEGAN: "min_over_time(timestamp({name})[{window}s:{step}s])",
        Asked.ENDED: "max_over_time(timestamp({name})[{window}s:{step}s])",
    }
    return tuple(
        (
            about,
            " or ".join(
                form.format(name=name, factor=factor, window=window_seconds, step=step)
                for name, factor in facts.use_metrics
            ),
        )
        for about, form in forms.items()
    )


def _endpoint(url: str) -> str:
    """The address that queries go to; one with a password in it is refused, since others see command lines."""
    parts = _split(url)
    if parts is None:
        raise UsageError(f"--prometheus: '{printable(url)}' is no address; write for example http://prometheus:9090")
    if parts.username is not None or parts.password is not None:
        raise UsageError("--prometheus: a password does not belong into a command line; ask it yourself, see --usage")
    return urllib.parse.urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + _PATH, "", ""))


def _split(url: str) -> urllib.parse.SplitResult | None:
    try:
        parts = urllib.parse.urlsplit(url)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if good else None


def _asked(endpoint: str, query: str, at: int) -> bytes:
    form = urllib.parse.urlencode({"query": query, "time": at, "timeout": f"{TIMEOUT_SECONDS}s"}).encode()
    request = urllib.request.Request(endpoint, data=form)
    try:
        with urllib.request.build_opener(_Stay).open(request, timeout=TIMEOUT_SECONDS) as response:
            data: bytes = response.read(FILE_BYTES + 1)
    except urllib.error.HTTPError as error:
        with error:
            said = error.read(300).decode("utf-8", "replace")
        raise PlannerError(f"{endpoint} answered {error.code}: {printable(said or str(error.reason))}") from None
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise PlannerError(f"{endpoint} does not answer: {printable(str(reason))}") from None
    if len(data) > FILE_BYTES:
        raise PlannerError(f"{endpoint} answered more than {FILE_BYTES >> 20} MiB; ask for less with --window")
    return data
