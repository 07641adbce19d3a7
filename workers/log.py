"""Structured logs: constant snake_case events with ids, as JSON lines or for a terminal, always on stderr.

Secrets and server output never reach a log: pass ids, counts and reasons. Records of libraries such as Celery become
such lines too, without exception messages, which may quote server output.

An event that repeats with the same fields within FOLDED_SECONDS becomes one line more, with the number of repetitions.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias

from crawler.event_log import configure_with_first_event, get_event_log
from workers.lossy_stderr import tolerate_full_stderr
from workers.settings.secret import HIDDEN, Secret

if TYPE_CHECKING:
    from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

Log: TypeAlias = "FilteringBoundLogger"

LIBRARY_EVENT = "library_logged"
"""The event of what a library logs, with its `logger` and `message`."""

FOLDED_SECONDS = 60.0

_MOST_FOLDED = 1_000
_SECRET_WORDS = ("authorization", "password", "secret", "token", "cookie", "api_key", "apikey")
_USER = re.compile(r"(?<=://)[^/@\s]*@")
_LONGEST_MESSAGE = 1_000
_POOL = "billiard.exceptions"


def configure_logging(level: str, form: Literal["auto", "json", "console"]) -> None:
    """Send events of `level` and above, and warnings of libraries, to stderr. Call once, before the first event.

    From then on a stderr that takes no lines ends nothing.
    """
    tolerate_full_stderr()
    console = form == "console" or (form == "auto" and sys.stderr.isatty())

    @cache
    def build_processors() -> Sequence[Processor]:
        return [*_common(), _Folding(_rendering(console=console))]

    def configure() -> None:
        import structlog  # noqa: PLC0415  see crawler/event_log.py

        structlog.configure(
            processors=build_processors(),
            wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
            logger_factory=lambda *_: structlog.WriteLogger(sys.stderr),  # the stderr of now: it may be replaced
            cache_logger_on_first_use=False,
        )

    handler = _FoldedHandler(sys.stderr)
    handler.setFormatter(_LibraryLines(build_processors))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.captureWarnings(capture=True)
    configure_with_first_event(configure)


def get_log(**bound: object) -> Log:
    """A logger with values bound to every event, such as `run` and `server`."""
    return get_event_log(**bound)


def bind_log_context(**values: str) -> AbstractContextManager[None]:
    """Bind `run`, `stage` and `server` to all events inside, also to those of what is started there."""
    from structlog.contextvars import bound_contextvars  # noqa: PLC0415  see crawler/event_log.py

    return bound_contextvars(**values)


def replace_log_context(**values: str) -> None:
    """Bind these values, and nothing that was bound before, to all events from now on."""
    from structlog.contextvars import bind_contextvars, clear_contextvars  # noqa: PLC0415  see crawler/event_log.py

    clear_contextvars()
    bind_contextvars(**values)


def list_frames(error: BaseException) -> list[str]:
    """The frames of an exception, outermost first, without its message, which may quote server output."""
    walked = traceback.extract_tb(error.__traceback__)
    return [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in walked]


def hide_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Mask every value that is a Secret or whose key names a credential."""
    return {key: HIDDEN if _is_secret(key, value) else value for key, value in event.items()}


class _LibraryLines(logging.Formatter):
    """Renders log records of libraries like our own events."""

    def __init__(self, build_processors: Callable[[], Sequence[Processor]]) -> None:
        super().__init__()
        self._build_processors = build_processors

    def format(self, record: logging.LogRecord) -> str:
        """One line: an exception as its type and frames, or the message on one line without credentials in URLs."""
        event: Any = {"event": LIBRARY_EVENT, "logger": record.name, **_describe(record)}
        for processor in self._build_processors():
            event = processor(None, record.levelname.lower(), event)
        return str(event)


class _FoldedHandler(logging.StreamHandler[TextIO]):
    """Writes the lines that are not folded."""

    def emit(self, record: logging.LogRecord) -> None:
        import structlog  # noqa: PLC0415  see crawler/event_log.py

        with suppress(structlog.DropEvent):
            super().emit(record)


class _Folding:
    """Renders an event, and leaves out repetitions, which are written with their number when the time is over.

    A number is written with the next event of the process, so the last one is lost with the process.
    """

    def __init__(self, render: Processor) -> None:
        self._render = render
        self._start()
        os.register_at_fork(after_in_child=self._start)

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[float, int, EventDict]] = {}  # oldest first

    def __call__(self, logger: WrappedLogger, method: str, event: EventDict) -> str:
        key = repr(sorted((name, str(value)) for name, value in event.items() if name != "timestamp"))
        now = time.monotonic()
        with self._lock:
            repeated = self._take_repeated(now)
            since, count, _ = self._seen.get(key, (now, -1, event))
            self._seen[key] = (since, count + 1, dict(event))
        lines = [*repeated, *([dict(event)] if count < 0 else [])]
        if not lines:
            from structlog import DropEvent  # noqa: PLC0415  see crawler/event_log.py

            raise DropEvent
        return "\n".join(str(self._render(logger, method, line)) for line in lines)

    def _take_repeated(self, now: float) -> list[EventDict]:
        """Forget the events whose time is over; return the last of each that was repeated, with the number."""
        gone = []
        while self._seen:
            key, (since, count, event) = next(iter(self._seen.items()))
            if now - since < FOLDED_SECONDS and len(self._seen) < _MOST_FOLDED:
                break
            del self._seen[key]
            gone.append((count, event))
        return [{**event, "repeated": count} for count, event in gone if count]


def _describe(record: logging.LogRecord) -> dict[str, object]:
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return {"message": _plain(record.getMessage())}
    error = getattr(error, "exc", error)  # a pool wraps exceptions of its processes
    fields: dict[str, object] = {"error": type(error).__name__, "at": list_frames(error)}
    # Messages of the pool's own exceptions only name the signal or limit that ended a process.
    return fields | ({"message": _plain(str(error))} if type(error).__module__ == _POOL else {})


def _plain(text: str) -> str:
    return " ".join(_USER.sub("", text).split())[:_LONGEST_MESSAGE]


def _is_secret(key: str, value: Any) -> bool:
    return isinstance(value, Secret) or any(word in key.lower() for word in _SECRET_WORDS)


def _common() -> list[Processor]:
    import structlog  # noqa: PLC0415  see crawler/event_log.py

    return [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        hide_secrets,
    ]


def _rendering(*, console: bool) -> Processor:
    import structlog  # noqa: PLC0415  see crawler/event_log.py

    if console:
        return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    return structlog.processors.JSONRenderer(default=str)
