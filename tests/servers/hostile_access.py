"""Hostile servers at the door: challenges and metadata that lead astray, and HTTP+SSE servers that misbehave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from evidence.model import Reason
from tests.servers.conforming import Upright
from tests.servers.hostile import Behaviour, Call
from tests.servers.hostile_behaviour import (
    METADATA,
    OK,
    STREAM,
    Case,
    Twist,
    asked,
    both,
    error,
    gzipped,
    method,
    overheard,
    raw,
    redirect,
    says,
    silence,
    since,
)
from tests.servers.hostile_meaning import fails

WELL_KNOWN = "/.well-known/"


def locked(
    challenge: str | bytes, document: Behaviour | None = None, *, servers: Behaviour | None = None
) -> Callable[[], Behaviour]:
    """A server that answers 401 with this challenge; `document` answers for its resource metadata."""

    async def behave(call: Call) -> None:
        if call.path.startswith(f"{WELL_KNOWN}oauth-protected-resource"):
            await (document or says(404))(call)
        elif call.path.startswith(WELL_KNOWN):
            await (servers or says(404))(call)
        else:
            value = challenge if isinstance(challenge, bytes) else challenge.encode("latin-1")
            value = value.replace(b"{origin}", b"http://" + call.headers["host"].encode())
            head = b"HTTP/1.1 401 X\r\nContent-Length: 0\r\n"
            await call.send(head + (b"WWW-Authenticate: " + value + b"\r\n" if value else b"") + b"\r\n")

    return lambda: behave


def naming(**members: Any) -> Behaviour:
    """Resource metadata with these members; `{origin}` is the server's own."""

    async def behave(call: Call) -> None:
        text = json.dumps({"resource": "{origin}/mcp", **members}).replace("{origin}", f"http://{call.headers['host']}")
        await call.reply(200, text.encode())

    return behave


def sse(answer: Callable[[Any, asyncio.StreamWriter], Any], *, endpoint: str = "/messages") -> Callable[[], Behaviour]:
    """An HTTP+SSE server; `answer` gets each answer and the stream."""

    def make() -> Behaviour:
        inner, streams = Upright(modern=False), []

        async def behave(call: Call) -> None:
            path, _, number = call.path.partition("?")
            if call.verb == "GET":
                await call.send(STREAM + f"event: endpoint\ndata: {endpoint}?{len(streams)}\n\n".encode())
                streams.append(call)
                await asyncio.sleep(30)
            elif path != endpoint or not number:
                await call.reply(405)
            else:
                inner.sessions["only"] = "2025-11-25"
                call.headers["mcp-session-id"] = "only"
                _, _, message = await overheard(inner, call)
                await call.reply(202, b"Accepted", kind="text/plain")
                if message is not None:
                    await answer(message, streams[int(number)])

        return behave

    return make


def event(message: Any) -> bytes:
    """A message as an event."""
    return b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n"


async def plainly(message: Any, stream: Call) -> None:
    """Answer as one should."""
    await stream.send(event(message))


async def twice(message: Any, stream: Call) -> None:
    """Answer twice."""
    await stream.send(event(message) * 2)


async def under_a_wrong_id(message: Any, stream: Call) -> None:
    """Answer another request."""
    await stream.send(event({**message, "id": 999}))


async def behind_a_flood(message: Any, stream: Call) -> None:
    """Answer after a thousand notifications."""
    notice = event({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
    await stream.send(notice * 1_000 + event(message))


async def behind_questions(message: Any, stream: Call) -> None:
    """Ask the client first."""
    await stream.send(event({"jsonrpc": "2.0", "id": "s1", "method": "sampling/createMessage"}) + event(message))


async def in_bytes(message: Any, stream: Call) -> None:
    """Answer byte by byte."""
    for byte in event(message):
        await stream.send(bytes([byte]))


async def once_and_gone(message: Any, stream: Call) -> None:
    """Answer initialize and end the stream."""
    await stream.send(event(message))
    stream.writer.close()


async def never_again(message: Any, stream: Call) -> None:
    """Answer initialize and nothing else."""
    if "serverInfo" in message.get("result", {}):
        await stream.send(event(message))


async def in_gigabytes(message: Any, stream: Call) -> None:
    """Answer initialize and then flood."""
    await stream.send(event(message))
    if "serverInfo" not in message.get("result", {}):
        while not stream.writer.is_closing():
            await stream.send(b": " + b"x" * 65_536 + b"\n")


SSE: dict[str, Case] = {
    "an upright stream": Case(make=sse(plainly)),
    "answers twice on the stream": Case(make=sse(twice)),
    "answers under a wrong id on the stream": Case(make=sse(under_a_wrong_id), fails=fails("JSON-01")),
    "a flood before each answer": Case(make=sse(behind_a_flood)),
    "questions before each answer": Case(make=sse(behind_questions)),
    "answers byte by byte": Case(make=sse(in_bytes)),
    "the stream ends after initialize": Case(make=sse(once_and_gone)),
    "the stream falls silent after initialize": Case(make=sse(never_again)),
    "the stream floods after initialize": Case(make=sse(in_gigabytes)),
    "an endpoint of 60 kB": Case(make=sse(plainly, endpoint="/" + "x" * 60_000)),
}

BEARER = 'Bearer resource_metadata="{origin}/.well-known/oauth-protected-resource/mcp"'
OAUTH = Reason.OAUTH_REQUIRED

LOCKED: dict[str, Case] = {
    "metadata at the metadata address": Case(make=locked(f'Bearer resource_metadata="{METADATA}"'), reason=OAUTH),
    "metadata on another port of loopback": Case(
        make=locked('Bearer resource_metadata="http://127.0.0.1:1/x"'), reason=OAUTH
    ),
    "metadata at a file": Case(
        make=locked('Bearer resource_metadata="file:///etc/passwd"'), reason=OAUTH, fails=fails("AUTH-02")
    ),
    "metadata at an address of 60 kB": Case(
        make=locked(f'Bearer resource_metadata="{{origin}}/{"x" * 60_000}"'), reason=OAUTH, fails=fails("AUTH-02")
    ),
    "metadata that is endless": Case(
        make=locked(BEARER, raw(OK + b"\r\n[", b"0," * 32_768, then="repeat")), reason=OAUTH
    ),
    "metadata that is a gzip bomb": Case(make=locked(BEARER, gzipped()), reason=OAUTH),
    "metadata that is silent": Case(make=locked(BEARER, silence), reason=OAUTH),
    "metadata that redirects to the metadata address": Case(make=locked(BEARER, redirect(METADATA)), reason=OAUTH),
    "metadata that redirects to itself": Case(
        make=locked(BEARER, redirect("/.well-known/oauth-protected-resource/mcp")), reason=OAUTH
    ),
    "metadata that is deep": Case(
        make=locked(BEARER, says(200, b"[" * 50_000 + b"]" * 50_000)), reason=OAUTH, fails=fails("AUTH-02")
    ),
    "metadata that is a list": Case(make=locked(BEARER, says(200, b"[1,2,3]")), reason=OAUTH, fails=fails("AUTH-02")),
    "a thousand authorization servers": Case(
        make=locked(BEARER, naming(authorization_servers=[f"{{origin}}/{at}" for at in range(1_000)])),
        reason=OAUTH,
        fails=fails("AUTH-05"),
    ),
    "authorization servers inside the network": Case(
        make=locked(
            BEARER, naming(authorization_servers=[METADATA, "http://[::1]:1", "http://127.0.0.1:1", "gopher://x", 5])
        ),
        reason=OAUTH,
    ),
    "an authorization server that is endless": Case(
        make=locked(
            BEARER,
            naming(authorization_servers=["{origin}"]),
            servers=raw(OK + b"\r\n[", b"0," * 32_768, then="repeat"),
        ),
        reason=OAUTH,
    ),
    "an authorization server that names odd endpoints": Case(
        make=locked(
            BEARER,
            naming(authorization_servers=["{origin}"]),
            servers=says(200, json.dumps({"issuer": 5, "token_endpoint": METADATA, "scopes_supported": {}}).encode()),
        ),
        reason=OAUTH,
        fails=fails("AUTH-06", "AUTH-08"),
    ),
    "a challenge of 60 kB": Case(make=locked("Bearer " + 'a="b", ' * 7_500 + 'c="d"'), reason=OAUTH),
    "a challenge of 1 MB": Case(make=locked(b'Bearer a="' + b"x" * 1_000_000 + b'"'), reason=Reason.TOO_LARGE),
    "a challenge with an open quote": Case(
        make=locked('Bearer realm="x, resource_metadata="http://127.0.0.1:1/'), reason=OAUTH
    ),
    "a challenge that is no challenge": Case(make=locked(b"===,,,\xff\xfe Bearer"), reason=OAUTH),
    "a challenge of five hundred schemes": Case(
        make=locked(", ".join(f"S{at} a=b" for at in range(500))), reason=Reason.CREDENTIALS_REQUIRED
    ),
    "locked from the sixth request on": Case(
        make=lambda: Twist(since(6), says(401, b"", ("WWW-Authenticate", "Bearer")))
    ),
    "paid from the ninth request on": Case(make=lambda: Twist(since(9), says(402))),
    "forbidden lists": Case(make=lambda: Twist(method("tools/list", "resources/list", "prompts/list"), says(403))),
    "a token is asked for in an error of a list": Case(
        make=lambda: Twist(method("tools/list"), error(-32001, "Unauthorized: Bearer token required")),
        fails=fails("HTTP-04", "SESS-04"),
    ),
    "locked for the official client only": Case(
        make=lambda: Twist(both(method("ping"), since(4)), says(401, b"", ("WWW-Authenticate", "Bearer")))
    ),
    "answers to any token": Case(
        make=lambda: Twist(lambda call: "authorization" not in call.headers and asked(call) != {}, says(401)),
        reason=OAUTH,
    ),
}
