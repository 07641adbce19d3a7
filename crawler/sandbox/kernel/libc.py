"""The C library, for the system calls that Python has no name for."""

from __future__ import annotations

import ctypes
from functools import cache


@cache
def load_libc() -> ctypes.CDLL:
    """The one of this process; its `errno` is `ctypes.get_errno()`. Made once, since each costs a class of its own."""
    return ctypes.CDLL(None, use_errno=True)
