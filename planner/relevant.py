"""The facts of a Snapshot that a plan rests on, each with a digest of what it says.

Only what makes the plan another one counts: where work runs, not how far it is; how it ended; and which markets gave
nothing. Nodes that are down or in use by others are held against the plan itself, which needs no record of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping

from planner.spec.snapshot import Finished, MarketState, Running, Snapshot
from planner.specset import SpecSet

_DIGITS = 12


def relevant(snapshot: Snapshot | None, specset: SpecSet) -> tuple[str, ...]:
    """The facts about work and pools of the specs, as `FIELD=DIGEST`, sorted; none without a snapshot."""
    if snapshot is None:
        return ()
    pools = {f"{where.cluster.name}/{where.pool.name}" for where in specset.pools()}
    jobs = {f"{job.team}/{job.name}" for job in specset.jobs}
    own = {*jobs, *pools}
    return tuple(f"{field}={digest}" for field, digest in facts(snapshot).items() if _subject(field) in own)


def _subject(field: str) -> str:
    """The job (without index) or the pool that a field is about."""
    return field.partition("[")[2].rstrip("]").partition(" ")[0].partition("[")[0]


def read(told: Iterable[str]) -> Mapping[str, str]:
    """Digests by field, from the form in which a plan has them."""
    return {field: digest for field, _, digest in (item.rpartition("=") for item in told)}


def facts(snapshot: Snapshot) -> Mapping[str, str]:
    """The digest of every fact, by its field in the snapshot, sorted; of several about one thing the last holds."""
    return dict(sorted((field, _digest(parts)) for field, parts in _told(snapshot)))


def _told(snapshot: Snapshot) -> Iterator[tuple[str, tuple[object, ...]]]:
    yield from ((f"running[{item.job}]", _place(item)) for item in snapshot.running)
    for item in sorted(snapshot.finished, key=lambda run: run.at):
        yield f"finished[{item.job}]", _end(item)
    yield from ((f"markets[{item.pool} {item.market}]", _closed(item)) for item in snapshot.markets)


def _place(item: Running) -> tuple[object, ...]:
    nodes = sorted(
        (node.name, sorted((device.index, str(device.share)) for device in node.devices)) for node in item.nodes
    )
    return item.pool, nodes, item.variant or "", item.market.value, item.spec or ""


def _end(item: Finished) -> tuple[object, ...]:
    return item.spec, item.state.value, item.at


def _closed(item: MarketState) -> tuple[object, ...]:
    return (item.until,)


def _digest(parts: tuple[object, ...]) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:_DIGITS]
