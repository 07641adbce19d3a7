"""A circuit breaker: when GitHub is not reached, thousands of servers must not each wait for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from crawler.collectors.repository.api.responses import GitHubUnreachable

MAX_FAILURES: Final = 3
OPEN_SECONDS: Final = 180.0  # seconds without requests


@dataclass(slots=True)
class CircuitBreaker:
    """Opens after `failures` failures in a row; then one caller in `rest` seconds may try. `tick` is monotonic."""

    tick: Callable[[], float]
    failures: int = MAX_FAILURES
    rest: float = OPEN_SECONDS
    _failed: int = field(default=0, init=False)
    _open_until: float = field(default=0.0, init=False)

    def check(self) -> None:
        """Raise GitHubUnreachable at once while the circuit is open."""
        if self._failed >= self.failures and self.tick() < self._open_until:
            raise GitHubUnreachable

    def enter(self) -> None:
        """Like `check`; after `rest` seconds the caller is the one that may try."""
        self.check()
        if self._failed >= self.failures:
            self._open_until = self.tick() + self.rest

    def record_failure(self) -> None:
        """Count a request that was not answered."""
        self._failed += 1
        if self._failed >= self.failures:
            self._open_until = self.tick() + self.rest

    def record_success(self) -> None:
        """Close the circuit after an answer, or after failures that were not GitHub's."""
        self._failed = 0
