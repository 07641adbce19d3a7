"""Server-sent events, incrementally and in linear time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Event:
    """One dispatched event. `has_id`: it carried an id."""

    name: str
    data: bytes
    has_id: bool = False


class EventReader:
    """Feeds on chunks and returns the events that they complete. The caller bounds the sizes."""

    def __init__(self) -> None:
        self._partial: list[bytes] = []
        self._after_cr = False
        self._name = "message"
        self._data: list[bytes] = []
        self._has_id = False

    def feed(self, chunk: bytes) -> list[Event]:
        """The events completed by a chunk."""
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        *lines, rest = _LINE_END.split(chunk)
        if lines:
            lines[0] = b"".join([*self._partial, lines[0]])
            self._partial = []
        if rest:
            self._partial.append(rest)
        return [event for line in lines if (event := self._take(line))]

    def finish(self) -> list[Event]:
        """The event that the end of the stream cut off before its blank line; clients differ, we keep it."""
        events = [self._take(b"".join(self._partial)), self._take(b"")]
        self._partial = []
        return [event for event in events if event]

    def _take(self, line: bytes) -> Event | None:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        elif field == b"id":
            self._has_id = True
        return None

    def _dispatch(self) -> Event | None:
        event = Event(self._name, b"\n".join(self._data), self._has_id) if self._data else None
        self._name, self._data, self._has_id = "message", [], False
        return event
