"""A cached value that is recomputed when it is too old."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

from publish.web.backend import SiteBackend

_Value = TypeVar("_Value")


class TimedValue(Generic[_Value]):
    """Concurrent callers wait for one computation."""

    def __init__(self, backend: SiteBackend, seconds: float, make: Callable[[], _Value]) -> None:
        self._backend = backend
        self._seconds = seconds
        self._make = make
        self._lock = Lock()
        self._value: tuple[float, _Value] | None = None

    def get(self) -> _Value:
        with self._lock:
            now = self._backend.monotonic()
            if self._value is None or now - self._value[0] >= self._seconds:
                self._value = (now, self._make())
            return self._value[1]
