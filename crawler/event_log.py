"""Loads structlog with the first event: it takes 40 ms, and most commands log none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

_WAITING: Final[list[Callable[[], None]]] = []
_CONFIGURING: Final = threading.Lock()


def configure_with_first_event(configure: Callable[[], None]) -> None:
    """Call `configure`, which configures structlog, before the next event, in place of what waits for that."""
    _WAITING[:] = [configure]


def get_event_log(**bound: Any) -> FilteringBoundLogger:
    """A logger with values bound to every event."""
    import structlog  # noqa: PLC0415  see above

    if _WAITING:
        with _CONFIGURING:  # another thread may be configuring: an event before the end of that would go to stdout
            if _WAITING:
                _WAITING[0]()
                _WAITING.clear()
    return cast("FilteringBoundLogger", structlog.get_logger().bind(**bound))
