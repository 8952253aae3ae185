"""Which model a back end means by its own word for a card: a gres type, a product label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from planner.catalog import Accelerator, Catalog, Vendor
from planner.diagnostics import UsageError

UNTYPED: Final = "gpu"
"""The word for cards that the back end gives no type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The catalogue, and what people said of words that it cannot decide (`--model h100=h100-sxm5-80gb`)."""

    catalog: Catalog
    said: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, word: str, vendor: Vendor | None = None) -> Accelerator | None:
        """The one model that a word means, None where the catalogue knows none or several."""
        known = self.catalog.get(self.said.get(word, ""))
        if known is not None:
            return known
        found = [each for each in self.catalog.resolve(word) if vendor in {None, each.vendor}]
        return found[0] if len(found) == 1 else None

    def require(self, words: Iterable[str]) -> None:
        """Raise `UsageError` that asks for every word that does not mean one model."""
        unclear = sorted({word for word in words if self.of(word) is None})
        if unclear:
            raise UsageError("; ".join(map(self._question, unclear)))

    def _question(self, word: str) -> str:
        found = [each.slug for each in self.catalog.resolve(word)] or list(self.catalog.near(word))
        example = found[0] if found else "SLUG"
        may = f"it may be {', '.join(found)}" if found else "the catalogue knows no such card"
        what = "cards without a type" if word == UNTYPED else f"cards of type '{word}'"
        return f"the cluster has {what}: {may}; say which with --model {word}={example}"


def said(options: Iterable[str], catalog: Catalog) -> Models:
    """Read `WORD=MODEL` options; `UsageError` for one that is not written so, or names no single model."""
    told: dict[str, str] = {}
    for option in options:
        word, equals, model = option.partition("=")
        found = catalog.resolve(model) if equals else ()
        if not word or len(found) != 1:
            raise UsageError(f"--model {option}: write WORD=MODEL with the name of one model of the catalogue")
        told[word] = found[0].slug
    return Models(catalog=catalog, said=told)
