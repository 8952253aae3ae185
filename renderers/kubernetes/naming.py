"""Names, labels and texts that Kubernetes takes, made from names of any length and spelling."""

from __future__ import annotations

import hashlib
import re
from typing import Final

HOSTNAME: Final = "kubernetes.io/hostname"
DNS_LABEL: Final = 63
LABEL_VALUE: Final = 63
POD_SUFFIX: Final = len("-99999-xxxxx")
"""What the controllers append to a Job's name: the completion index of a pod, then five random characters."""
OBJECT_NAME: Final = DNS_LABEL - POD_SUFFIX
CONTENT_HASH: Final = 8
_STABLE_HASH: Final = 8
_LABEL_VALUE: Final = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
_LABEL_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_LABEL_PREFIX: Final = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


def short_hash(text: str, length: int = _STABLE_HASH) -> str:
    """The first hexadecimal digits of the SHA-256 of `text`: the same on every machine and every day."""
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def dns_label(text: str, budget: int = DNS_LABEL) -> str:
    """`text` as a lower-case DNS label of at most `budget` characters that begins with a letter.

    A text that already is one stays as it is. Any other is cleaned, cut and given a hash of all of it, so that two
    texts never become one name.
    """
    clean = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if not clean or clean[0].isdigit():
        clean = f"x-{clean}".rstrip("-")
    if clean == text and len(clean) <= budget:
        return clean
    return f"{clean[: budget - _STABLE_HASH - 1].rstrip('-')}-{short_hash(text)}"


def object_name(text: str, content: str, budget: int = OBJECT_NAME) -> str:
    """The name of a workload object of at most `budget` characters: `text` as a label, then a hash of `content`.

    `content` is all that Kubernetes does not let change in place, so that other content is another object. The budget
    leaves room for what controllers append, such as `POD_SUFFIX`.
    """
    return f"{dns_label(text, budget - CONTENT_HASH - 1)}-{short_hash(content, CONTENT_HASH)}"


def label_value(text: str) -> str:
    """`text` if it is a legal label value, else a shortened form of it that ends in its hash."""
    if _LABEL_VALUE.fullmatch(text):
        return text
    clean = re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-_.")
    return f"{clean[: LABEL_VALUE - _STABLE_HASH - 1]}-{short_hash(text)}".lstrip("-")


def is_label(key: str, value: str) -> bool:
    """Whether Kubernetes takes `key: value` as a label."""
    return is_label_key(key) and _LABEL_VALUE.fullmatch(value) is not None


def is_label_key(key: str) -> bool:
    """Whether `key` is a legal key of a label or an annotation: a name, after an optional DNS prefix and `/`."""
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > 253 or _LABEL_PREFIX.fullmatch(prefix) is None):
        return False
    return _LABEL_NAME.fullmatch(name) is not None


def k8s_literal(text: str) -> str:
    """`text` as it must stand in env, command and args so that the process sees it unchanged.

    The kubelet expands `$(NAME)` there and reads `$$` as one `$`, so that every `$` is doubled.
    """
    return text.replace("$", "$$")
