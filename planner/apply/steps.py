"""The steps from what the inventory says is there to what a plan wants, in an order in which each can be done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from planner.apply.item import Action, Item, Rank, Record, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What is to be done, in order, and what is not removed although nobody wants it any longer: namespaces.

    A namespace takes everything in it along, also what others put there, so that people remove it themselves.
    """

    steps: tuple[Step, ...] = ()
    left: tuple[Record, ...] = ()


def steps_to(wanted: Sequence[Item], have: Mapping[str, Record], clusters: Sequence[str]) -> Steps:
    """Every step that makes `have` into `wanted`; nothing where they agree.

    Clusters come in the order of `clusters`, those that are gone last. In each, first what work needs is put, then
    work that is no longer wanted ends, then wanted work is put, and at last what nobody needs any longer goes.
    """
    keys = {item.key for item in wanted}
    gone = [record for key, record in have.items() if key not in keys]
    moves = [(Action.PUT, item.record, item) for item in wanted if _differs(item, have)]
    drops = [(Action.REMOVE, record, None) for record in gone if record.rank is not Rank.NAMESPACE]
    places = {name: at for at, name in enumerate(clusters)}
    ordered = sorted([*moves, *drops], key=lambda move: (places.get(move[1].cluster, len(places)), *_turn(move)))
    return Steps(
        steps=tuple(
            Step(number=number, action=action, record=record, item=item, before=have.get(record.key))
            for number, (action, record, item) in enumerate(ordered)
        ),
        left=tuple(sorted(record for record in gone if record.rank is Rank.NAMESPACE)),
    )


def _differs(item: Item, have: Mapping[str, Record]) -> bool:
    known = have.get(item.key)
    return known is None or (known.digest, known.refs) != (item.record.digest, item.record.refs)


def _turn(move: tuple[Action, Record, Item | None]) -> tuple[str, int, int, str]:
    action, record, _ = move
    return record.cluster, _stage(action, record), record.rank if action is Action.PUT else -record.rank, record.key


def _stage(action: Action, record: Record) -> int:
    is_work = record.rank >= Rank.WORKLOAD
    if action is Action.PUT:
        return 2 if is_work else 0
    return 1 if is_work else 3


def in_order(names: Iterable[str], needs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Clusters, each after those that it needs work of; by name where they do not depend on each other.

    `needs` are pairs of a cluster and one that has to come before it. In a circle of needs the names decide.
    """
    known = sorted(set(names))
    pairs = sorted({(after, before) for after, before in needs if after != before})
    try:
        return tuple(_sorted(known, pairs))
    except CycleError:
        return tuple(known)


def _sorted(known: Sequence[str], pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    graph: TopologicalSorter[str] = TopologicalSorter({name: () for name in known})
    for after, before in pairs:
        graph.add(after, before)
    graph.prepare()
    while graph.is_active():
        ready = sorted(graph.get_ready())
        yield from ready
        graph.done(*ready)
