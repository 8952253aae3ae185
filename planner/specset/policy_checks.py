"""Checks of the policy, and of currencies everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from planner.diagnostics import quoted
from planner.spec.policy import Policy
from planner.specset.faults import Faults, Item
from planner.specset.tree import Tree
from planner.yamlio import Path

_PRIORITIES = ("P0", "P1", "P2", "P3")


def check(tree: Tree, faults: Faults) -> None:
    """Report what is wrong with the policy, and amounts in other currencies than its own."""
    item = tree.policy_item
    if item is not None:
        _guarantee(item, faults)
        _horizon(item, faults)
        _ids(item, faults)
    for other in tree.items():
        if other.spec.kind in ("Job", "Service") and "max_cost" not in other.spec.model_fields_set:
            continue
        for path, currency in _currencies(other.spec, ()):
            if currency != tree.policy.currency:
                summary = f"this amount is in {currency}, but the policy's currency is {tree.policy.currency}"
                faults.add(
                    "SPEC412", other, path, summary,
                    help=f"convert it to {tree.policy.currency}, or set Policy.currency",
                )  # fmt: skip


def _guarantee(item: Item[Policy], faults: Faults) -> None:
    policy = item.spec
    rates = [policy.rates.P0, policy.rates.P1, policy.rates.P2, policy.rates.P3]
    if policy.guarantee.currency == rates[0].currency and policy.guarantee.micros <= rates[0].micros:
        faults.add(
            "SPEC418", item, ("guarantee",), f"guarantee {policy.guarantee} does not exceed rates.P0 {rates[0]}",
            help=f"work inside a guarantee must be worth more than any borrowing: write more than {rates[0]}",
        )  # fmt: skip
    for position, (higher, lower) in enumerate(pairwise(rates)):
        if lower.micros > higher.micros:
            name, above = _PRIORITIES[position + 1], _PRIORITIES[position]
            faults.add(
                "SPEC415", item, ("rates", name), f"the rate of {name}, {lower}, is above that of {above}, {higher}",
                help="rates fall from P0 to P3",
            )  # fmt: skip


def _horizon(item: Item[Policy], faults: Faults) -> None:
    horizon = item.spec.horizon
    if horizon.length.milliseconds == 0:
        faults.add("SPEC408", item, ("horizon", "length"), "the horizon has no length", help="write for example 7d")
    if horizon.slot is None:
        return
    if horizon.slot.milliseconds % 1_000 or horizon.slot.milliseconds == 0:
        faults.add(
            "SPEC208",
            item,
            ("horizon", "slot"),
            f"the slot {horizon.slot} is not a whole number of seconds",
            help="write for example 1h, or auto",
        )
    elif horizon.slot > horizon.length:
        faults.add(
            "SPEC415",
            item,
            ("horizon", "slot"),
            f"the slot {horizon.slot} is longer than the horizon {horizon.length}",
            help="write for example 1h, or auto",
        )


def _ids(item: Item[Policy], faults: Faults) -> None:
    seen: set[str] = set()
    rules = [(("deny", index, "id"), rule.id) for index, rule in enumerate(item.spec.deny)]
    rules += [(("warn", index, "id"), rule.id) for index, rule in enumerate(item.spec.warn)]
    for path, name in rules:
        if name in seen:
            faults.add("SPEC401", item, path, f"two rules have the id {quoted(name)}", help="rename one of them")
        seen.add(name)


def _currencies(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[Path, str]]:
    """Every currency inside a model, with the path to it as it is written."""
    if isinstance(value, BaseModel):
        for name in sorted(value.model_fields_set):
            alias = type(value).model_fields[name].alias or name
            yield from _currencies(getattr(value, name), (*path, alias))
    elif isinstance(value, tuple):
        for index, part in enumerate(value):
            yield from _currencies(part, (*path, index))
    elif is_dataclass(value) and "currency" in {field.name for field in fields(value)}:
        yield path, value.currency  # type: ignore[union-attr]
