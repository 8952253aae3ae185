"""Names, labels and texts as Kubernetes takes them."""

from __future__ import annotations

import pytest

from renderers.kubernetes.naming import (
    DNS_LABEL,
    OBJECT_NAME,
    POD_SUFFIX,
    dns_label,
    is_label,
    is_label_key,
    k8s_literal,
    label_value,
    object_name,
)
from tests.renderers.kubernetes.reading import expanded


@pytest.mark.parametrize("text", ["a", "resnet", "a-b-c", "x1", "a" * 63])
def test_a_dns_label_stays_as_it_is(text: str) -> None:
    assert dns_label(text) == text


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("Vision_Team/LLM v2.1", "vision-team-llm-v2-1-"),
        ("resnet[3]", "resnet-3-"),
        ("1a", "x-1a-"),
        ("x_1a", "x-1a-"),
        ("", "x-"),
        ("---", "x-"),
        ("é", "x-"),
        ("a" * 64, "aaaa"),
    ],
)
def test_any_other_text_becomes_a_label_with_a_hash(text: str, start: str) -> None:
    label = dns_label(text)
    assert label.startswith(start)
    assert len(label) <= DNS_LABEL
    assert dns_label(label) == label
    assert label == dns_label(text)


def test_what_looks_alike_after_cleaning_stays_apart() -> None:
    texts = ["a-b", "a_b", "A-b", "a b", "a--b", "a.b", "1", "x-1", "x_1", "[1]", "a" * 64, "a" * 65]
    assert len({dns_label(text) for text in texts}) == len(texts)


def test_names_with_the_same_first_characters_stay_apart() -> None:
    first, second = ("n" * 55 + end for end in ("-one", "-two"))
    one, two = object_name(first, "same"), object_name(second, "same")
    assert one != two
    assert len(one) == len(two) <= OBJECT_NAME


def test_a_name_leaves_room_for_what_the_controllers_append() -> None:
    name = object_name("n" * 60, "content")
    assert len(f"{name}-127-abcde") <= DNS_LABEL
    assert len(name) + POD_SUFFIX <= DNS_LABEL


def test_other_content_is_another_name_and_the_same_content_the_same() -> None:
    assert object_name("resnet", "image:1") == object_name("resnet", "image:1")
    assert object_name("resnet", "image:1") != object_name("resnet", "image:2")
    assert object_name("resnet", "image:1").startswith("resnet-")


@pytest.mark.parametrize("text", ["a", "A.b_c-d", "x" * 63, ""])
def test_a_legal_label_value_stays_as_it_is(text: str) -> None:
    assert label_value(text) == text


@pytest.mark.parametrize("text", ["x" * 64, "-a", "a-", "a b", "é", "a/b", "\n"])
def test_any_other_label_value_is_cut_and_hashed(text: str) -> None:
    value = label_value(text)
    assert value != text
    assert is_label("key", value)
    assert value == label_value(text) != label_value(text + "2")


@pytest.mark.parametrize("key", ["a", "a/b", "example.com/role", "A_b.c-d", "x" * 63])
def test_a_legal_key_is_seen(key: str) -> None:
    assert is_label_key(key)
    assert is_label(key, "v")


@pytest.mark.parametrize(
    "key",
    ["", "/", "a/", "/a", "a//b", "-a", "a b", "é", "A.com/x", "x" * 64, "a/b/c", "a\n", "-a.com/x", f"{'a' * 254}/x"],
)
def test_an_illegal_key_is_seen(key: str) -> None:
    assert not is_label_key(key)


@pytest.mark.parametrize(
    "text", ["$(HOME)", "$$(HOME)", "$HOME", "$", "$$", "a$", "${HOME}", "$($(HOME))", "100%", "$$$(A)"]
)
def test_the_kubelet_gives_a_literal_back(text: str) -> None:
    assert expanded(k8s_literal(text), {"HOME": "/root", "A": "b"}) == text
