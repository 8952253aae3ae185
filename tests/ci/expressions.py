"""The expressions of GitHub Actions, as far as the workflows here use them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_TOKEN: Final = re.compile(r"\s*(==|!=|&&|\|\||[()]|'[^']*'|[\w.-]+)")
_PASTED: Final = re.compile(r"\$\{\{(.*?)\}\}")
_WORDS: Final = {"true": True, "false": False, "null": None}


def pasted(text: Any, contexts: Mapping[str, Any]) -> str:
    """`text` with the value of every `${{ … }}` in its place."""
    return _PASTED.sub(lambda match: _shown(value(match[1], contexts)), "" if text is None else _shown(text))


def holds(condition: str, contexts: Mapping[str, Any], *, succeeded: bool) -> bool:
    """Whether a step with this `if` runs; without `always()` only where all before it have succeeded."""
    body = condition.replace("${{", "").replace("}}", "").strip() or "true"
    always = "always()" in body
    return (succeeded or always) and bool(value(body.replace("always()", "true"), contexts))


def value(text: str, contexts: Mapping[str, Any]) -> Any:
    """The value of an expression; raises `ValueError` for what is not understood."""
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != re.sub(r"\s+(?=([^']*'[^']*')*[^']*$)", "", text):
        raise ValueError(f"not understood: {text}")
    stream = iter([*tokens, ""])
    reader = _Reader(stream, contexts)
    found = reader.either()
    if reader.token:
        raise ValueError(f"not understood: {text}")
    return found


class _Reader:
    """Reads `||`, then `&&`, then comparisons, then names, texts and parentheses."""

    def __init__(self, stream: Iterator[str], contexts: Mapping[str, Any]) -> None:
        self._stream, self._contexts = stream, contexts
        self.token = next(stream)

    def either(self) -> Any:
        found = self._both()
        while self._took("||"):
            other = self._both()
            found = found or other
        return found

    def _both(self) -> Any:
        found = self._compared()
        while self._took("&&"):
            other = self._compared()
            found = found and other
        return found

    def _compared(self) -> Any:
        found = self._atom()
        if self._took("=="):
            return _same(found, self._atom())
        if self._took("!="):
            return not _same(found, self._atom())
        return found

    def _atom(self) -> Any:
        token = self.token
        if self._took("("):
            found = self.either()
            self._took(")")
            return found
        self.token = next(self._stream, "")
        if token.startswith("'"):
            return token[1:-1]
        return _WORDS[token] if token in _WORDS else _looked_up(token, self._contexts)

    def _took(self, token: str) -> bool:
        if self.token != token:
            return False
        self.token = next(self._stream, "")
        return True


def _looked_up(path: str, contexts: Mapping[str, Any]) -> Any:
    found: Any = contexts
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _same(one: Any, other: Any) -> bool:
    return _shown(one) == _shown(other)


def _shown(found: Any) -> str:
    match found:
        case None:
            return ""
        case bool():
            return str(found).lower()
        case _:
            return str(found)
