"""Incremental parser of server-sent events, in linear time."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


class Event(Struct, frozen=True):
    """One dispatched event. `has_id`: it has an id field; `at`: when the first byte of its data arrived."""

    name: str
    data: bytes
    has_id: bool = False
    at: float = 0.0


class EventReader:
    """Parses chunks into events. The caller limits the sizes."""

    def __init__(self) -> None:
        self._partial: list[bytes] = []
        self._after_cr = False
        self._name = "message"
        self._data: list[bytes] = []
        self._has_id = False
        self._line_at = self._data_at = 0.0

    def feed(self, chunk: bytes, at: float = 0.0) -> list[Event]:
        """The events that a chunk, which arrived `at` this time, completes."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        *lines, rest = _LINE_END.split(chunk)
        began = self._line_at if self._partial else at
        if lines:
            lines[0] = b"".join([*self._partial, lines[0]])
            self._partial = []
        if rest:
            self._line_at = self._line_at if self._partial else at
            self._partial.append(rest)
        times = (began if position == 0 else at for position in range(len(lines)))
        return [event for line, time in zip(lines, times, strict=True) if (event := self._process_line(line, time))]

    def finish(self) -> list[Event]:
        """The event that the stream ended before its blank line. Clients differ here; we accept it."""
        events = [self._process_line(b"".join(self._partial), self._line_at), self._dispatch()]
        self._partial = []
        return [event for event in events if event]

    def _process_line(self, line: bytes, at: float) -> Event | None:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data_at = self._data_at if self._data else at
            self._data.append(value)
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        elif field == b"id":
            self._has_id = True
        return None

    def _dispatch(self) -> Event | None:
        event = Event(self._name, b"\n".join(self._data), self._has_id, self._data_at) if self._data else None
        self._name, self._data, self._has_id = "message", [], False
        return event
