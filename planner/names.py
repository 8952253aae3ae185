"""What things are called: the grammar of names, and the addresses made of them."""

from __future__ import annotations

import re
from typing import Final, NewType

Address = NewType("Address", str)
"""`cluster/dc1`, `pool/dc1/h100`, `team/vision`, `quota/vision-h100`, `job/vision/resnet`, `service/nlp/chat`."""
TeamName = NewType("TeamName", str)
ModelSlug = NewType("ModelSlug", str)
NodeName = NewType("NodeName", str)

NAME_PATTERN: Final = r"[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?"
NAME_LENGTH: Final = 53
_NAME: Final = re.compile(NAME_PATTERN)
_ADDRESS: Final = re.compile(
    rf"(cluster|team|quota|policy|accelerator|snapshot)/{NAME_PATTERN}"
    rf"|(pool|job|service)/{NAME_PATTERN}/{NAME_PATTERN}(\[[0-9]{{1,6}}\])?"
)


def is_name(text: str) -> bool:
    """Whether `text` is a legal name of an object."""
    return _NAME.fullmatch(text) is not None


def parse_name(text: str) -> str:
    """Return `text` if it is a legal name; otherwise raise a `ValueError` that says what is wrong with it."""
    if is_name(text):
        return text
    if len(text) > NAME_LENGTH:
        raise ValueError(f"'{text}' has {len(text)} characters; a name has at most {NAME_LENGTH}.")
    better = suggest_name(text)
    advice = f"; for example {better}" if better else ""
    raise ValueError(
        f"'{text}' is not a name: use lower-case letters, digits and '-', with a letter or digit at both ends{advice}."
    )


def suggest_name(text: str) -> str:
    """The nearest legal name, or nothing when no letter or digit is left."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:NAME_LENGTH].strip("-")


def address(kind: str, *parts: str) -> Address:
    """The address of an object: its kind in lower case, then the names that lead to it."""
    return Address("/".join((kind.lower(), *parts)))


def is_address(text: str) -> bool:
    """Whether `text` is spelled like an address."""
    return _ADDRESS.fullmatch(text) is not None


def element(array: Address, index: int) -> Address:
    """The address of one element of an array job: `job/vision/resnet[3]`."""
    return Address(f"{array}[{index}]")


def without_index(text: str) -> str:
    """The address of the array that an element belongs to; any other address unchanged."""
    return text.partition("[")[0]
