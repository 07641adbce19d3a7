"""The C library, for system calls that Python does not provide."""

from __future__ import annotations

import ctypes
from functools import cache


@cache
def load_libc() -> ctypes.CDLL:
    """The C library of this process; `ctypes.get_errno()` returns its `errno`. Cached: each CDLL costs a class."""
    return ctypes.CDLL(None, use_errno=True)
