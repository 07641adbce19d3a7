"""Rare garbage collection for processes that probe, score, export or import much, and the return of free memory."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_YOUNG: Final = 50_000
"""New objects that start a garbage collection. Probing or scoring a server makes thousands, hardly any in cycles; the
modules that a command imports when it runs make several times as many."""
_M_TRIM_THRESHOLD: Final = -1


def collect_garbage_rarely() -> None:
    gc.set_threshold(_YOUNG)


@contextmanager
def keep_imported() -> Iterator[None]:
    """Collect no garbage while the block imports modules, and never look through their objects later: they live as
    long as the process.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def return_freed_memory() -> None:
    """Have glibc return memory to the system, now and whenever more than 128 KiB are free; otherwise it holds 20 MiB
    after a listing of ten thousand tools. Does nothing with another C library.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "malloc_trim"):
        library.mallopt(_M_TRIM_THRESHOLD, 128 * 1024)
        library.malloc_trim(0)
