"""Structured logs: constant snake_case events with ids, as JSON lines or for a terminal, always on stderr.

Neither secrets nor what a server said reach a log: pass ids, counts and reasons.
"""

from __future__ import annotations

import logging
import sys
import traceback
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import structlog
from pydantic import SecretStr
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

Log: TypeAlias = FilteringBoundLogger

_HIDDEN = "**********"
_SECRET_WORDS = ("authorization", "password", "secret", "token", "cookie", "api_key", "apikey")


def configure(level: str, form: Literal["auto", "json", "console"]) -> None:
    """Send events of `level` and above to stderr. Call once per process, before the first event."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")
    console = form == "console" or (form == "auto" and sys.stderr.isatty())
    structlog.configure(
        processors=[*_common(), *_rendering(console=console)],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=lambda *_: structlog.WriteLogger(sys.stderr),  # the stderr of now: it may be replaced
        cache_logger_on_first_use=False,
    )


def get_log(**bound: object) -> Log:
    """A logger with values bound to every event, such as `run` and `server`."""
    return cast("Log", structlog.get_logger().bind(**bound))


def frames(error: BaseException) -> list[str]:
    """Where an exception was raised, outermost first, without its message: that may quote what a server sent."""
    walked = traceback.extract_tb(error.__traceback__)
    return [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in walked]


def hide_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Blank every value that is a SecretStr or whose key sounds like a credential."""
    return {key: _HIDDEN if _is_secret(key, value) else value for key, value in event.items()}


def _is_secret(key: str, value: Any) -> bool:
    return isinstance(value, SecretStr) or any(word in key.lower() for word in _SECRET_WORDS)


def _common() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        hide_secrets,
    ]


def _rendering(*, console: bool) -> list[Processor]:
    if console:
        return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    return [structlog.processors.JSONRenderer(default=str)]
