"""Asks again, with the standard library's HTTP client, what a check failed on: our own wire is not to blame."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from evidence.kinds.exchanges import Exchange

_SHOWN = ("content-type", "mcp-session-id", "allow", "www-authenticate")
_LONGEST = 400
_VOLATILE = re.compile(r"(?im)^((?:mcp-session-id|id): ).+$")


@dataclass(frozen=True, slots=True)
class Said:
    """One request and its answer, as text."""

    request: str
    response: str


class Asker:
    """Repeats exchanges of a legacy or modern server, with a session of its own where the exchange had one."""

    def __init__(self, url: str, talk: tuple[Exchange, ...]) -> None:
        parts = urlsplit(url)
        self._host, self._path = parts.netloc, parts.path
        self._talk = talk

    def again(self, at: str) -> Said:
        """The exchange at this path once more, after what it takes to get there."""
        wanted = next(exchange for exchange in self._talk if exchange.at == at)
        session = ""
        if "mcp-session-id" in wanted.sent_headers:
            for step in ("initialize", "initialized", *(["end"] if wanted.step == "after-end" else [])):
                before = next(one for one in self._talk if one.step == step and one.connection.opened)
                _, given = self._ask(before, session)
                session = session or given
        return self._ask(wanted, session)[0]

    def _ask(self, exchange: Exchange, session: str) -> tuple[Said, str]:
        headers = dict(exchange.sent_headers)
        if "mcp-session-id" in headers and session:
            headers["mcp-session-id"] = session
        body = "" if exchange.sent is None else json.dumps(exchange.sent, separators=(",", ":"))
        connection = http.client.HTTPConnection(self._host, timeout=10)
        connection.request(exchange.verb, self._path, body or None, headers)
        answer = connection.getresponse()
        stream = answer.headers.get_content_type() == "text/event-stream"
        text = _one_event(answer) if stream else answer.read().decode("utf-8", "replace")
        connection.close()
        request = "\n".join([f"{exchange.verb} {self._path} HTTP/1.1", *_lines(headers), "", body])
        shown = {name.lower(): value for name, value in answer.getheaders() if name.lower() in _SHOWN}
        response = "\n".join([f"HTTP/1.1 {answer.status} {answer.reason}", *_lines(shown), "", text[:_LONGEST]])
        return Said(_stable(request), _stable(response)), answer.headers.get("mcp-session-id", "")


def _one_event(answer: http.client.HTTPResponse) -> str:
    """What came until the first event with a message was complete."""
    lines: list[str] = []
    while line := answer.readline().decode("utf-8", "replace"):
        lines.append(line.rstrip())
        if not line.strip() and any(one.startswith("data: {") for one in lines):
            break
    return "\n".join(lines)


def _lines(headers: Mapping[str, str]) -> list[str]:
    return [f"{name}: {value}" for name, value in headers.items()]


def _stable(text: str) -> str:
    return _VOLATILE.sub(r"\1…", text).strip()
