"""Hostile servers whose bytes are wrong: at the door, in the middle of a visit, or only at the odd question."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from evidence.model import Reason
from tests.servers.conforming import Upright
from tests.servers.hostile import Behaviour, Call
from tests.servers.hostile_behaviour import (
    METADATA,
    OK,
    PAGE,
    STREAM,
    WALL,
    Case,
    Twist,
    When,
    after,
    asked,
    both,
    dripping,
    every,
    gzipped,
    hang_up,
    malformed,
    method,
    modern,
    not_,
    overheard,
    raw,
    redirect,
    says,
    silence,
    since,
    slowly,
    streamed,
    unknown_method,
    verb,
)

# Where a deed is done: the step of the exchange, and how the server knows it.
PLACES: Mapping[str, When] = {
    "ping": both(method("ping"), not_(modern)),
    "unknown-method": unknown_method,
    "malformed": malformed,
    "end": verb("DELETE"),
    "stream": verb("GET"),
    "call-nonexistent": method("tools/call"),
    "read-nonexistent": method("resources/read"),
    "prompt-nonexistent": method("prompts/get"),
    "discover-origin": lambda call: "origin" in call.headers and call.headers["host"] not in call.headers["origin"],
    "initialized": method("notifications/initialized"),
}

# A deed, and the reason for which nothing can be concluded from it ("" where the answer itself is conclusive).
DEEDS: Mapping[str, tuple[Behaviour, str]] = {
    "silence": (silence, "timeout"),
    "a head and silence": (raw(OK + b"Content-Length: 9\r\n\r\n", then="hold"), "timeout"),
    "a dripping head": (dripping(OK, b"X-A: b\r\n"), "timeout"),
    "a dripping body": (dripping(OK + b"Content-Length: 9999\r\n\r\n", b" "), "timeout"),
    "pings for ever": (dripping(STREAM, b": ping\r\n\r\n"), "timeout"),
    "a closed door": (hang_up, "unreachable"),
    "a cut body": (raw(OK + b"Content-Length: 100\r\n\r\n{"), "unreachable"),
    "gzip bomb": (gzipped(), "too_large"),
    "endless JSON": (raw(OK + b"\r\n[", b"0," * 32_768, then="repeat"), "too_large"),
    "endless headers": (raw(OK, b"X-Flood: " + b"a" * 8_000 + b"\r\n", then="repeat"), "too_large"),
    "endless events": (raw(STREAM, b"data: {}\n\n" * 6_000, then="repeat"), "too_large"),
    "deep JSON": (says(200, b"[" * 50_000 + b"]" * 50_000), "too_large"),
    "brotli": (says(200, b"\x81\xff", ("Content-Encoding", "br")), "transport_unsupported"),
    "429": (says(429, b"", ("Retry-After", "1")), ""),
    "503": (says(503, PAGE, kind="text/html"), ""),
    "an SSH banner": (raw(b"SSH-2.0-OpenSSH_9.6\r\n"), "not_mcp"),
}


def _matrix() -> Iterator[tuple[str, Case]]:
    """Each deed at three places, so that each place sees several deeds."""
    places = list(PLACES.items())
    for row, (deed, (behaviour, reason)) in enumerate(DEEDS.items()):
        for column in range(3):
            place, when = places[(row + 3 * column) % len(places)]
            # Of a stream that GET opens only the head is read.
            read = place != "stream" or deed in {"silence", "a dripping head", "a closed door", "endless headers"}
            sees = (place, reason) if reason and read else None
            odd = {"deep JSON"} if place == "stream" else set()
            fails = frozenset({"HTTP-02"}) if deed in odd else frozenset()
            yield f"{deed} at {place}", Case(make=_twist(when, behaviour), sees=sees, fails=fails)


def _twist(when: When, deed: Behaviour) -> Callable[[], Behaviour]:
    return lambda: Twist(when, deed)


def rewritten(change: Callable[[bytes, Call], bytes], when: When) -> Callable[[], Behaviour]:
    """An upright server whose bodies are changed as bytes."""

    def make() -> Behaviour:
        inner = Upright()

        async def behave(call: Call) -> None:
            if not when(call):
                await inner(call)
                return
            status, headers, message = await overheard(inner, call)
            body = b"" if message is None else change(json.dumps(message).encode(), call)
            await call.reply(status, body, *headers)

        return behave

    return make


def framed(make_answer: Callable[[bytes], bytes], when: When, *, close: bool = True) -> Callable[[], Behaviour]:
    """An upright server that frames its 200 answers in its own way."""

    def make() -> Behaviour:
        inner = Upright()

        async def behave(call: Call) -> None:
            status, headers, message = await overheard(inner, call)
            body = b"" if message is None else json.dumps(message).encode()
            if status != 200 or not when(call) or headers:
                await call.reply(status, body, *headers)
                return
            await call.send(make_answer(body))
            if close:
                call.writer.close()

        return behave

    return make


def _chunked(body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"1;x=%d\r\n%c\r\n" % (at, byte) for at, byte in enumerate(body)) + b"0\r\nX: y\r\n\r\n"


def _packed(body: bytes) -> bytes:
    packed = gzip.compress(body)
    return OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed


def _sized(body: bytes, extra: bytes = b"", head: bytes = OK) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body + extra


def _dying(when: When) -> Callable[[], Behaviour]:
    return lambda: Twist(after(when), hang_up)


def _crawling() -> Behaviour:
    return slowly(Upright(), 0.02)


def _notice(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": f"tick {number}"}}


LISTING = method("tools/list")
QUIET = not_(method("initialize", "server/discover"))

FRAMING: dict[str, Case] = {
    **dict(_matrix()),
    "dies at malformed JSON": Case(make=_dying(malformed)),
    "dies at an unknown method": Case(make=_dying(unknown_method)),
    "dies at ping": Case(make=_dying(method("ping"))),
    "dies after the second initialize": Case(make=_dying(both(method("initialize"), since(12)))),
    "429 from the eighth request on": Case(make=lambda: Twist(since(8), says(429))),
    "429 from the fifteenth request on": Case(make=lambda: Twist(since(15), says(429, b"", ("Retry-After", "86400")))),
    "429 to every third request": Case(make=lambda: Twist(every(3), says(429, b"", ("Retry-After", "0")))),
    "503 from the twentieth request on": Case(make=lambda: Twist(since(20), says(503))),
    "500 to every second request": Case(make=lambda: Twist(every(2), says(500))),
    "a challenge page from the tenth request on": Case(
        make=lambda: Twist(since(10), says(403, WALL, ("cf-mitigated", "challenge"), kind="text/html"))
    ),
    "hangs up on every second request": Case(make=lambda: Twist(every(2), hang_up)),
    "every answer takes a little while": Case(make=_crawling),
    "redirect loop at ping": Case(make=lambda: Twist(PLACES["ping"], redirect("/mcp"))),
    "redirect to the metadata address at ping": Case(make=lambda: Twist(PLACES["ping"], redirect(METADATA))),
    "redirect to loopback at an unknown method": Case(
        make=lambda: Twist(unknown_method, redirect("http://127.0.0.1:1/"))
    ),
    "redirect of 60 kB at the stream": Case(
        make=lambda: Twist(verb("GET"), redirect("/" + "x" * 60_000)), fails=frozenset({"HTTP-02"})
    ),
    "302 at DELETE": Case(make=lambda: Twist(verb("DELETE"), redirect("/elsewhere", 302))),
    "gopher at malformed JSON": Case(make=lambda: Twist(malformed, redirect("gopher://127.0.0.1/"))),
    "chunks of one byte with extensions and trailers": Case(make=framed(_chunked, QUIET)),
    "every answer in gzip": Case(make=framed(_packed, QUIET)),
    "more bytes than promised": Case(make=framed(lambda body: _sized(body, b"surplus\r\n\r\n"), QUIET, close=False)),
    "a second answer behind each": Case(
        make=framed(lambda body: _sized(body) + _sized(b'{"jsonrpc":"2.0","id":1,"result":{}}'), QUIET, close=False)
    ),
    "HTTP/1.0": Case(make=framed(lambda body: _sized(body, head=OK.replace(b"1.1", b"1.0")), QUIET)),
    "a thousand headers": Case(make=framed(lambda body: _sized(body, head=OK + b"X-A: b\r\n" * 1_000), QUIET)),
    "a hundred interim answers": Case(
        make=framed(lambda body: b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100 + _sized(body), QUIET)
    ),
    "byte order mark": Case(make=rewritten(lambda body, _: b"\xef\xbb\xbf" + body, QUIET)),
    "UTF-16 lists": Case(
        make=rewritten(lambda body, _: body.decode().encode("utf-16"), LISTING), fails=frozenset({"HTTP-09"})
    ),
    "invalid UTF-8 in lists": Case(
        make=rewritten(lambda body, _: body.replace(b"Returns", b"R\xe9turns"), LISTING), fails=frozenset({"HTTP-09"})
    ),
    "NaN in a list": Case(make=rewritten(lambda body, _: body.replace(b'"result"', b'"n": NaN, "result"'), LISTING)),
    "every member twice": Case(make=rewritten(lambda body, _: body[:-1] + b"," + body[1:], LISTING)),
    "a batch of one for each answer": Case(
        make=rewritten(lambda body, _: b"[" + body + b"]", QUIET), fails=frozenset({"HTTP-10"})
    ),
    "a body of blanks": Case(make=rewritten(lambda body, _: b" " * 3_000_000, PLACES["ping"])),
    "streams that never end after the answer": Case(make=lambda: streamed(then="hold")),
    "streams that ping for ever after the answer": Case(make=lambda: streamed(then="ping")),
    "a thousand notifications before each answer": Case(
        make=lambda: streamed(*map(_notice, range(1_000))), fails=frozenset({"LOG-02"})
    ),
    "five thousand notifications before each list": Case(
        make=lambda: Twist(LISTING, streamed(*map(_notice, range(5_000)))),
        fails=frozenset({"LOG-02"}),
        sees=("list-tools", "too_large"),
    ),
    "an endless GET stream": Case(make=lambda: Twist(verb("GET"), raw(STREAM, b"data: {}\n\n" * 500, then="repeat"))),
    "a GET stream that says nothing": Case(make=lambda: Twist(verb("GET"), raw(STREAM, then="hold"))),
    "DELETE with a body of gigabytes": Case(
        make=lambda: Twist(verb("DELETE"), raw(OK + b"\r\n", b"x" * 65_536, then="repeat"))
    ),
    "HTML for every error": Case(
        make=lambda: Twist(lambda call: not asked(call) or call.verb != "POST", says(400, PAGE, kind="text/html")),
        fails=frozenset({"HTTP-02"}),
    ),
    "a session id with control characters": Case(make=lambda: _sessions("a\x01b" + "c" * 20)),
    "a session id of 60 kB": Case(make=lambda: _sessions("x" * 60_000)),
    "a session id of 1 MB": Case(make=lambda: _sessions("x" * 1_000_000), sees=("initialize", "too_large")),
    "a session id with blanks": Case(
        make=lambda: _sessions("two words and then some more"), fails=frozenset({"SESS-01"})
    ),
    "an empty session id": Case(make=lambda: _sessions(""), fails=None),
    "another session id with every answer": Case(make=lambda: _sessions(None)),
    "nothing but headers": Case(
        make=lambda: raw(OK + b"Content-Length: 9\r\n\r\n", then="hold"), reason=Reason.TIMEOUT
    ),
    "nothing but slow bytes": Case(
        make=lambda: dripping(OK + b"Content-Length: 9999\r\n\r\n", b" "), reason=Reason.TIMEOUT
    ),
    "nothing but a number of 400,000 digits": Case(
        make=lambda: raw(OK + b"\r\n", b'{"jsonrpc":"2.0","id":1,"result":' + b"9" * 400_000 + b"}"),
        reason=Reason.TOO_LARGE,
    ),
    "nothing but a listener": Case(make=lambda: raw(then="hold"), reason=Reason.TIMEOUT),
}


def _sessions(value: str | None) -> Behaviour:
    """A server that names this session, or another one with each answer, and takes any session back."""
    inner = Upright()

    async def behave(call: Call) -> None:
        if inner.sessions and "mcp-session-id" in call.headers and not modern(call):
            call.headers["mcp-session-id"] = next(reversed(inner.sessions))
        status, headers, message = await overheard(inner, call)
        said = f"changing-{call.turn:020d}" if value is None else value
        named = [("Mcp-Session-Id", said)] if value is None or headers else []
        body = b"" if message is None else json.dumps(message).encode()
        others = [pair for pair in headers if pair[0] != "Mcp-Session-Id"]
        await call.reply(status, body, *others, *(named if not modern(call) else []))

    return behave
