"""Finding accelerators by the names that people and machines use for them."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planner.catalog.model import Accelerator, RelativeSpeed, Source

# Words in front of a product name that people leave out or add at will.
BRAND_WORDS = ("nvidia", "amd", "intel", "intel(r)", "tesla", "geforce", "instinct", "quadro")
NEAR_CUTOFF = 0.6
NEAR_COUNT = 5


def normalised(text: str) -> str:
    """Bring a name to the form in which names are compared: lower case, one dash for any run of spaces, `_` and `-`."""
    return re.sub(r"[\s_-]+", "-", text.strip().lower()).strip("-")


def without_brand(name: str) -> str:
    """Cut brand words off the front of a normalised name, leaving at least its last word."""
    words = name.split("-")
    while len(words) > 1 and words[0] in BRAND_WORDS:
        words = words[1:]
    return "-".join(words)


def names_of(accelerator: Accelerator) -> tuple[str, ...]:
    """Give every name that means this accelerator and no other, normalised and sorted."""
    label = (accelerator.product_label,) if accelerator.product_label else ()
    detected = accelerator.gres_types[1:] if len(accelerator.gres_types) > 1 else accelerator.gres_types
    spelled = (
        accelerator.slug,
        *accelerator.aliases,
        *accelerator.device_names,
        *accelerator.pci_ids,
        *label,
        *detected,
    )
    return tuple(sorted({normalised(name) for name in spelled}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """All known accelerators, sorted by slug, with look-up by slug, alias and family."""

    accelerators: tuple[Accelerator, ...]
    sources: tuple[Source, ...] = ()
    relative_speeds: tuple[RelativeSpeed, ...] = ()
    reference: str = ""
    _by_slug: Mapping[str, Accelerator] = field(init=False, repr=False, compare=False)
    _by_name: Mapping[str, tuple[Accelerator, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Sort, index, and refuse two accelerators that claim one name."""
        ordered = tuple(sorted(self.accelerators, key=lambda item: item.slug))
        object.__setattr__(self, "accelerators", ordered)
        object.__setattr__(self, "_by_slug", MappingProxyType({item.slug: item for item in ordered}))
        object.__setattr__(self, "_by_name", MappingProxyType(_index(ordered)))

    def get(self, slug: str) -> Accelerator | None:
        """Give the accelerator with exactly this slug."""
        return self._by_slug.get(slug)

    def resolve(self, text: str) -> tuple[Accelerator, ...]:
        """Give the accelerators that `text` names: one by slug or alias, all members by family; empty when unknown.

        Case, spaces, underscores, dashes and leading brand words do not matter.
        """
        name = normalised(text)
        return self._by_name.get(name) or self._by_name.get(without_brand(name)) or ()

    def near(self, text: str) -> tuple[str, ...]:
        """Give at most five slugs whose names look like `text`, the most alike first; empty when nothing does."""
        wanted = without_brand(normalised(text))
        names = difflib.get_close_matches(wanted, self._by_name, n=len(self._by_name), cutoff=NEAR_CUTOFF)
        slugs = dict.fromkeys(item.slug for name in names for item in self._by_name[name])
        return tuple(slugs)[:NEAR_COUNT]

    def extended(self, accelerators: tuple[Accelerator, ...]) -> Catalog:
        """Give a catalogue with `accelerators` added; one with a slug that is known replaces that entry as a whole.

        ValueError with a full sentence where one claims any other name that is taken.
        """
        added = {item.slug for item in accelerators}
        kept = (item for item in self.accelerators if item.slug not in added)
        return Catalog(
            accelerators=(*kept, *accelerators),
            sources=self.sources,
            relative_speeds=self.relative_speeds,
            reference=self.reference,
        )


def _index(accelerators: tuple[Accelerator, ...]) -> dict[str, tuple[Accelerator, ...]]:
    """Map every name to what it means.

    A full name means its one owner; else a family means its members; else a name without its brand word means whoever
    has it (so `NVIDIA H200` is the device that reports this, and `h200` is the family).
    """
    owned: dict[str, tuple[Accelerator, ...]] = {}
    grouped: dict[str, tuple[Accelerator, ...]] = {}
    bare: dict[str, tuple[Accelerator, ...]] = {}
    for item in accelerators:
        for name in names_of(item):
            if name in owned:
                raise ValueError(f"Two accelerators claim the name {name!r}: {owned[name][0].slug} and {item.slug}.")
            owned[name] = (item,)
        for group in {normalised(text) for text in (item.family, *item.groups) if text}:
            grouped[group] = (*grouped.get(group, ()), item)
        for name in {without_brand(name) for name in names_of(item)}:
            bare[name] = (*bare.get(name, ()), item)
    return bare | grouped | owned
