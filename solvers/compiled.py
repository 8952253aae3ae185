"""The one way in which functions of this package are compiled."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar

from numba import config, njit

_OPTIONS: Final[dict[str, Any]] = {"cache": True, "_nrt": False}
_Function = TypeVar("_Function", bound=Callable[..., object])


def _digest() -> str:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


_DIGEST: Final = _digest()


def compiled(function: _Function) -> _Function:
    """Compile to machine code kept on disk; under NUMBA_DISABLE_JIT=1 the function stays plain Python, same results.

    Reference counting is off, since counting the arrays inside the tables costs a hundred times what the arithmetic
    does. So compiled functions may not create arrays: they write into those they are given. What is kept on disk counts
    only for the very sources of this package, since numba itself looks at a function's own file and not at its callees.
    """
    result: _Function = _kept(njit(**_OPTIONS)(function))
    return result


def inlined(function: _Function) -> _Function:
    """Copy the function into every compiled caller, which takes less time to compile than to optimise it twice."""
    result: _Function = _kept(njit(inline="always", **_OPTIONS)(function))
    return result


def _kept(wrapped: Any) -> Any:
    kept = getattr(getattr(wrapped, "_cache", None), "_cache_file", None)
    if kept is not None:
        kept._source_stamp = _DIGEST  # noqa: SLF001 (no public way to say what else a function is made from)
    return wrapped


def is_cold() -> bool:
    """Whether no machine code of this package is kept here yet, so that the first use compiles, for about a minute."""
    settings: Any = config
    elsewhere = settings.DISABLE_JIT or settings.CACHE_DIR
    return not elsewhere and not any(Path(__file__).parent.glob("__pycache__/*.nbi"))
