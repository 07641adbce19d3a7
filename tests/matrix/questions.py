"""Single questions, each of which may bring a server down: what is sent while nothing else is asked.

A session is ended only by the questions about its end, since that is one of the things that bring a server down.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

import httpx

from tests.matrix.client import ACCEPT, HttpClient, SseClient, connect, notification, opening, question
from tests.matrix.versions import SSE

Send = Callable[[str, str], str]
"""Asks a server by its transport and address; returns a few words about the answer."""

PATIENCE = 1.5  # seconds until a question that may stay unanswered is given up
UNKNOWN_SESSION = "hallmark-fake-session-4f1c9a0000000000"
OFFERED = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1900-01-01")

_MODERN = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "matrix", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_DISCOVER = question("server/discover", {"_meta": _META})
_MODERN_HEADERS = {"mcp-protocol-version": _MODERN, "mcp-method": "server/discover"}
_LIST = question("tools/list", number=5)
_OTHER_LISTS = ("resources", "resources/templates", "prompts")
_TRUNCATED = b'{"jsonrpc":"2.0","id":3,"method":"ping","params":{'
_STREAM = {"accept": "text/event-stream", "content-type": None}
_END, _MANY_ENDS = "DELETE of a session", "DELETE of many sessions"


def alone(body: Any, headers: Mapping[str, str | None] | None = None, verb: str = "POST") -> Send:
    """One request outside of any session."""

    def send(_: str, url: str) -> str:
        sent = {key: value for key, value in {**ACCEPT, **(headers or {})}.items() if value is not None}
        content = b"" if verb != "POST" else body if isinstance(body, bytes) else json.dumps(body).encode()
        with (
            httpx.Client(timeout=PATIENCE, trust_env=False, follow_redirects=True) as http,
            http.stream(verb, url, headers=sent, content=content) as response,
        ):
            return _describe(response)

    return send


def within(*bodies: Any, headers: Mapping[str, str | None] | None = None) -> Send:
    """Questions in a session that was opened in the ordinary way."""

    def send(transport: str, url: str) -> str:
        answer = ""
        with contextlib.closing(connect(transport, url, PATIENCE)) as client:
            client.open()
            for body in bodies:
                answer = "no answer in time"
                with contextlib.suppress(httpx.TimeoutException):
                    response = client.post(body, _headers(client, headers))
                    answer = f"{response.status_code} {' '.join(response.text.split())[:120]}"
                    if isinstance(client, SseClient) and isinstance(body, dict) and "id" in body:
                        answer += json.dumps(client.hear(body["id"]))[:120]
        return answer

    return send


def opened(version: str, *, initialized: bool = True) -> Send:
    """One more opening."""

    def send(transport: str, url: str) -> str:
        with contextlib.closing(connect(transport, url, PATIENCE)) as client:
            return str(client.open(version, initialized=initialized)[1]["protocolVersion"])

    return send


def streaming(*, asks: bool = False) -> Send:
    """A stream by GET, whose client disconnects."""

    def send(_: str, url: str) -> str:
        with contextlib.closing(HttpClient(url, PATIENCE)) as client:
            client.open()
            headers = _headers(client, _STREAM)
            with client.http.stream("GET", url, headers=headers) as response:
                if asks:
                    client.ask("tools/list")
                return _describe(response)

    return send


def ended(*, times: int = 1, after: Any = None, streams: bool = False) -> Send:
    """A session that its client ends by DELETE, perhaps while a stream is open or with a question after the end."""

    def send(_: str, url: str) -> str:
        with contextlib.closing(HttpClient(url, PATIENCE)) as client, contextlib.ExitStack() as stack:
            client.open()
            if streams:
                stack.enter_context(client.http.stream("GET", url, headers=_headers(client, _STREAM)))
            for _each in range(times):
                status = client.end()
            return f"{client.post(after).status_code}" if after else str(status)

    return send


def abandoned(transport: str, url: str) -> str:
    """A question whose client disconnects before it reads the answer."""
    with contextlib.closing(connect(transport, url, PATIENCE)) as client:
        client.open()
        body = json.dumps(question("tools/list", number=7))
        with client.http.stream("POST", client.url, content=body, headers=_headers(client, None)) as response:
            return str(response.status_code)


def repeated(send: Send, times: int) -> Send:
    """The same once more and again, since what depends on the order of events happens at random."""

    def send_all(transport: str, url: str) -> str:
        return [send(transport, url) for _ in range(times)][-1]

    return send_all


def _headers(client: HttpClient | SseClient, changes: Mapping[str, str | None] | None) -> dict[str, str]:
    own = client.headers if isinstance(client, HttpClient) else ACCEPT
    return {key: value for key, value in {**own, **(changes or {})}.items() if value is not None}


def _describe(response: httpx.Response) -> str:
    body = b""
    with contextlib.suppress(httpx.TimeoutException):
        for part in response.iter_raw():
            body += part
            if len(body) > 120 or response.headers.get("content-type", "").startswith("text/event-stream"):
                break
    return f"{response.status_code} {body[:120].decode('utf-8', 'replace')}"


_IN_SESSION: Mapping[str, Send] = {
    "unknown method": within(question("hallmark/unknown", number=3)),
    "unknown method with a text id": within(question("hallmark/unknown", number="hallmark-id")),
    "server/discover in a session": within({**_DISCOVER, "id": 3}),
    "call with invalid parameters": within({**question("tools/call", number=3), "params": {"name": 5}}),
    **{f"opening with {version}": opened(version) for version in OFFERED},
    "opening that is not completed": opened("2025-11-25", initialized=False),
    "second initialize": within(opening(number=3)),
    "ping with a text id": within(question("ping", number="hallmark-id")),
    "call of a nonexistent tool": within(question("tools/call", {"name": "hallmark_nonexistent", "arguments": {}}, 3)),
    "call with invalid arguments": within(question("tools/call", {"name": "add", "arguments": {"first": "x"}}, 3)),
    "nonexistent resource": within(question("resources/read", {"uri": "hallmark-probe://nonexistent/4f1c9a"}, 3)),
    "nonexistent prompt": within(question("prompts/get", {"name": "hallmark_nonexistent", "arguments": {}}, 3)),
    "other lists": within(*(question(f"{name}/list", number=3) for name in _OTHER_LISTS)),
    "invented cursor": within(question("tools/list", {"cursor": "hallmark-probe-4f1c9a"}, 3)),
    "logging level": within(question("logging/setLevel", {"level": "info"}, 3)),
    "unknown notification": within(notification("notifications/hallmark")),
    "cancellation": within({**notification("notifications/cancelled"), "params": {"requestId": 99}}),
    "unasked response": within({"jsonrpc": "2.0", "id": 99, "result": {}}),
    "truncated JSON in a session": within(_TRUNCATED),
    "JSON that is no message": within(b"5", b"{}", b"null"),
    "batch": within([question("ping", number=3)]),
    "answer not read": abandoned,
}
_STREAMABLE: Mapping[str, Send] = {
    "server/discover": alone(_DISCOVER, _MODERN_HEADERS),
    "server/discover without headers": alone(question("server/discover")),
    "unknown method without a session": alone(question("hallmark/unknown")),
    "list without a session": alone(_LIST),
    "list in an invented session": alone(_LIST, {"mcp-session-id": UNKNOWN_SESSION}),
    "opening in an invented session": alone(opening(), {"mcp-session-id": UNKNOWN_SESSION}),
    "truncated JSON": alone(_TRUNCATED),
    "empty body": alone(b""),
    "GET": alone(None, _STREAM, "GET"),
    "DELETE without a session": alone(None, {"content-type": None}, "DELETE"),
    "OPTIONS": alone(None, {"content-type": None}, "OPTIONS"),
    "foreign Origin": alone(opening(), {"origin": "https://hallmark-probe.invalid"}),
    "foreign Host": alone(opening(), {"host": "hallmark-probe.invalid"}),
    "Accept without event streams": alone(opening(), {"accept": "application/json"}),
    "other content type": alone(opening(), {"content-type": "text/plain"}),
    "bearer token": alone(opening(), {"authorization": "Bearer hallmark-invalid"}),
    "stream": streaming(),
    "stream while asking": streaming(asks=True),
    "unknown version header": within(_LIST, headers={"mcp-protocol-version": "1900-01-01"}),
    "no version header": within(_LIST, headers={"mcp-protocol-version": None}),
    "no session header": within(_LIST, headers={"mcp-session-id": None}),
    "other session header": within(_LIST, headers={"mcp-session-id": UNKNOWN_SESSION}),
    "DELETE": ended(),
    "second DELETE": ended(times=2),
    "question after DELETE": ended(after=_LIST),
    "DELETE while streaming": ended(streams=True),
    _MANY_ENDS: repeated(ended(), 60),
}
_OVER_SSE: Mapping[str, Send] = {
    "server/discover to the stream's address": alone(_DISCOVER, _MODERN_HEADERS),
    "initialize to the stream's address": alone(opening()),
    "DELETE of the stream's address": alone(None, {"content-type": None}, "DELETE"),
    "foreign Origin": alone(None, {**_STREAM, "origin": "https://hallmark-probe.invalid"}, "GET"),
    "foreign Host": alone(None, {**_STREAM, "host": "hallmark-probe.invalid"}, "GET"),
}


def questions(transport: str) -> Mapping[str, Send]:
    """Everything that can be asked over a transport."""
    return {**_IN_SESSION, **(_OVER_SSE if transport == SSE else _STREAMABLE)}


CLASSES: Mapping[str, frozenset[str]] = {
    "an unknown method in a session": frozenset(
        {"unknown method", "unknown method with a text id", "server/discover in a session"}
    ),
    "an unknown method without a session": frozenset(
        {"server/discover", "server/discover without headers", "unknown method without a session"}
    ),
    "invalid parameters": frozenset({"call with invalid parameters"}),
    _END: frozenset({"DELETE", "second DELETE", "question after DELETE", "DELETE while streaming"}),
}
"""Questions that differ in nothing that matters to the server."""


AT_RANDOM = f"{_END}, at random"


def classify(names: Collection[str]) -> list[str]:
    """The classes of which all questions are among the names, and the names of the other questions."""
    ends = {*CLASSES[_END], _MANY_ENDS} & set(names)
    whole = [name for name, members in CLASSES.items() if members <= set(names)]
    covered = ends.union(*(CLASSES[name] for name in whole))
    random = [AT_RANDOM] if ends and _END not in whole else []
    return [*whole, *random, *(name for name in names if name not in covered)]
