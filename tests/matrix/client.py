"""An ordinary client in plain HTTP and JSON-RPC: opens a server, lists its tools and ends its session."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import httpx

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
SECONDS = 5.0
KEPT = ("2024-11-05", "2025-03-26")
"""Versions whose sessions a client does not end, unless their id has hyphens, which no Python SDK writes."""


class Unwell(Exception):
    """The server did not do what an ordinary client needs; the text says what it did."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit of a client: its opening and its tools."""

    result: Mapping[str, Any]
    headers: Mapping[str, str]
    tools: tuple[str, ...]
    seconds: float


def question(method: str, params: Mapping[str, Any] | None = None, number: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def notification(method: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method}


def opening(version: str = "2025-11-25", number: Any = 1) -> dict[str, Any]:
    info = {"name": "matrix", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": info}
    return question("initialize", params, number)


def read_answer(response: httpx.Response) -> Any:
    """The first JSON-RPC answer of a response, plain or as an event stream; None without one."""
    text = response.text
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        for line in text.splitlines():
            if line.startswith("data:") and line[5:].strip():
                message = json.loads(line[5:])
                if "result" in message or "error" in message:
                    return message
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


class HttpClient:
    """One session over streamable HTTP."""

    def __init__(self, url: str, seconds: float = SECONDS) -> None:
        self.url = url
        self.http = httpx.Client(timeout=seconds, trust_env=False, follow_redirects=True)
        self.headers: dict[str, str] = dict(ACCEPT)

    def post(self, body: Any, headers: Mapping[str, str] | None = None) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.http.post(self.url, content=content, headers=self.headers if headers is None else dict(headers))

    def open(self, version: str = "2025-11-25", *, initialized: bool = True) -> tuple[httpx.Response, Any]:
        response = self.post(opening(version))
        answer = read_answer(response)
        if not isinstance(answer, dict) or "result" not in answer:
            raise Unwell(f"initialize: {response.status_code} {response.text[:120]!r}")
        if session := response.headers.get("mcp-session-id"):
            self.headers["mcp-session-id"] = session
        self.headers["mcp-protocol-version"] = answer["result"]["protocolVersion"]
        if initialized:
            self.post(notification("notifications/initialized"))
        return response, answer["result"]

    def ask(self, method: str, params: Mapping[str, Any] | None = None, number: Any = 2) -> Any:
        response = self.post(question(method, params, number))
        answer = read_answer(response)
        if answer is None:
            raise Unwell(f"{method}: {response.status_code} {response.text[:120]!r}")
        return answer

    @property
    def is_kept(self) -> bool:
        """Whether the server may be one that a DELETE brings down."""
        return self.headers.get("mcp-protocol-version") in KEPT and "-" not in self.headers.get("mcp-session-id", "")

    def end(self) -> int | None:
        """End the session by DELETE; the status, None without a session."""
        if "mcp-session-id" not in self.headers:
            return None
        return self.http.delete(self.url, headers=self.headers).status_code

    def close(self) -> None:
        self.http.close()


class SseClient:
    """One session over HTTP+SSE."""

    def __init__(self, url: str, seconds: float = SECONDS) -> None:
        # The first SDKs fail after their answer to a POST, which resets a connection that is kept.
        limits = httpx.Limits(max_keepalive_connections=0)
        self.http = httpx.Client(timeout=seconds, trust_env=False, follow_redirects=True, limits=limits)
        self._context = self.http.stream("GET", url, headers={"accept": "text/event-stream"})
        self._stream = self._context.__enter__()
        self._events = self._read()
        if self._stream.status_code != 200:
            raise Unwell(f"GET: {self._stream.status_code}")
        name, data = next(self._events)
        if name != "endpoint":
            raise Unwell(f"the first event is {name}")
        self.url = urljoin(url, data)

    def _read(self) -> Iterator[tuple[str, str]]:
        name, data = "message", ""
        for line in self._stream.iter_lines():
            if line.startswith("event:"):
                name = line[6:].strip()
            elif line.startswith("data:"):
                data += line[5:].strip()
            elif not line and data:
                yield name, data
                name, data = "message", ""

    def post(self, body: Any, headers: Mapping[str, str] | None = None) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.http.post(self.url, content=content, headers=dict(ACCEPT if headers is None else headers))

    def hear(self, number: Any) -> Any:
        for name, data in self._events:
            message = json.loads(data) if name == "message" else {}
            if message.get("id") == number:
                return message
        raise Unwell("the stream ended")

    def open(self, version: str = "2025-11-25", *, initialized: bool = True) -> tuple[httpx.Response, Any]:
        response = self.post(opening(version))
        if response.status_code >= 300:
            raise Unwell(f"initialize: {response.status_code} {response.text[:120]!r}")
        answer = self.hear(1)
        if "result" not in answer:
            raise Unwell(f"initialize: {answer}")
        if initialized:
            self.post(notification("notifications/initialized"))
        return response, answer["result"]

    def ask(self, method: str, params: Mapping[str, Any] | None = None, number: Any = 2) -> Any:
        response = self.post(question(method, params, number))
        if response.status_code >= 300:
            raise Unwell(f"{method}: {response.status_code} {response.text[:120]!r}")
        return self.hear(number)

    def close(self) -> None:
        self._context.__exit__(None, None, None)
        self.http.close()


def connect(transport: str, url: str, seconds: float = SECONDS) -> HttpClient | SseClient:
    return SseClient(url, seconds) if transport == "sse" else HttpClient(url, seconds)


def visit(transport: str, url: str) -> Visit:
    """Open, list and leave; raise Unwell when the server does not serve.

    The session is ended by a DELETE, except with the versions of which some fall at that.
    """
    began = time.monotonic()
    try:
        client = connect(transport, url)
        try:
            response, result = client.open()
            answer = client.ask("tools/list")
            if "result" not in answer:
                raise Unwell(f"tools/list: {answer}")
            if isinstance(client, HttpClient) and not client.is_kept:
                client.end()
        finally:
            client.close()
    except (httpx.HTTPError, ValueError, StopIteration) as error:
        raise Unwell(f"{type(error).__name__}: {error}"[:160]) from error
    tools = tuple(tool["name"] for tool in answer["result"]["tools"])
    return Visit(result, dict(response.headers), tools, time.monotonic() - began)
