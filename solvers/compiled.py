"""The one way in which functions of this package are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

_OPTIONS: dict[str, Any] = {"cache": True, "_nrt": False}
_Function = TypeVar("_Function", bound=Callable[..., object])


def compiled(function: _Function) -> _Function:
    """Compile to machine code kept on disk; under NUMBA_DISABLE_JIT=1 the function stays plain Python with the same
    results.

    Reference counting is off, since counting the arrays inside the tables costs a hundred times what the arithmetic
    does. So compiled functions may not create arrays: they write into those they are given.
    """
    wrapped: _Function = njit(**_OPTIONS)(function)
    return wrapped
