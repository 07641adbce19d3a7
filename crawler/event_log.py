"""Loads structlog with the first event: it takes 40 ms, and most commands log none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

_WAITING: Final[list[Callable[[], None]]] = []


def configure_with_first_event(configure: Callable[[], None]) -> None:
    """Call `configure`, which configures structlog, before the next event, in place of what waits for that."""
    _WAITING[:] = [configure]


def get_event_log(**bound: Any) -> FilteringBoundLogger:
    """A logger with values bound to every event."""
    import structlog  # noqa: PLC0415  see above

    while _WAITING:
        _WAITING.pop()()
    return cast("FilteringBoundLogger", structlog.get_logger().bind(**bound))
