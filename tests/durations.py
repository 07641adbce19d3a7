"""Bounds on the time of a computation that hold on a busy machine too: only processor time of this thread counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ATTEMPTS = 5


@contextmanager
def cpu_below(seconds: float) -> Iterator[None]:
    """Fail when the block takes more processor time of this thread; its waiting does not count."""
    began = time.thread_time()
    yield
    spent = time.thread_time() - began
    assert spent < seconds, f"{spent:.2f} s of processor time, less than {seconds} s expected"


def cpu_of(work: Callable[[], object]) -> float:
    """Processor seconds of this thread for one call."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def grows_less_than(factor: float, small: Callable[[], object], large: Callable[[], object], floor: float) -> bool:
    """Whether the large work costs less than `factor` times the small one, in one of a few attempts.

    Neighbours on the processor make single measurements differ by a factor of two; what grows too fast never fits.
    """
    small()
    return any(cpu_of(large) < factor * max(cpu_of(small), floor) for _ in range(_ATTEMPTS))
