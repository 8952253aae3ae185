"""Objects as YAML: what is read back is what was put in."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from renderers.kubernetes.emit import document

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


def read(text: str) -> Any:
    """The only document, as a cluster would read it."""
    (found,) = yaml.load_all(text, Loader=yaml.CSafeLoader)
    return found


@settings(deadline=None, max_examples=200)
@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
def test_any_tree_is_read_back_unchanged(tree: dict[str, Any]) -> None:
    assert read(document(tree)) == tree


@pytest.mark.parametrize(
    "key", ["on", "yes", "null", "true", "1", "a b", "a: b", "#", "nvidia.com/gpu", "y", "off", "none"]
)
def test_no_key_is_taken_for_anything_but_text(key: str) -> None:
    assert read(document({key: {key: 1}})) == {key: {key: 1}}


def test_keys_stay_in_order_and_fields_of_objects_are_bare() -> None:
    assert document({"kind": "Job", "apiVersion": "batch/v1"}) == 'kind: "Job"\napiVersion: "batch/v1"\n'


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_a_comment_never_leaves_its_line(note: str, change: str) -> None:
    text = document({"kind": "Job"}, (note,), (change,))
    assert read(text) == {"kind": "Job"}
    assert len(text.split("\n")) == 4
