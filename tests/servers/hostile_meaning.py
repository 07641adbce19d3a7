"""Hostile servers whose framing is right and whose messages are wrong, late, doubled, or meant for another client."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from evidence.model import Reason
from tests.servers.conforming import Upright
from tests.servers.hostile import Behaviour, Call
from tests.servers.hostile_behaviour import (
    Altered,
    Case,
    Change,
    Twist,
    When,
    always,
    asked,
    both,
    error,
    method,
    modern,
    not_,
    overheard,
    result,
    says,
    since,
    streamed,
    unknown_method,
)

LISTING = method("tools/list")
OPENING = method("initialize")
DISCOVER = method("server/discover")
HAS_ID: When = lambda call: "id" in asked(call)  # noqa: E731


def altered(change: Change, when: When = HAS_ID) -> Callable[[], Behaviour]:
    """An upright server with this change."""
    return lambda: Altered(change, when)


def set_members(**members: Any) -> Change:
    """Set members of the message; `...` removes one."""

    def change(message: Any, call: Call) -> Any:
        if not isinstance(message, dict):
            return message
        return {name: value for name, value in {**message, **members}.items() if value is not ...}

    return change


def in_result(**members: Any) -> Change:
    """Set members of the result; `...` removes one."""

    def change(message: Any, call: Call) -> Any:
        if not isinstance(message, dict) or "result" not in message:
            return message
        merged = {**message["result"], **members}
        return {**message, "result": {name: value for name, value in merged.items() if value is not ...}}

    return change


def off_by_one() -> Behaviour:
    """Answers the question before."""
    inner, last = Upright(), [b""]

    async def behave(call: Call) -> None:
        status, headers, message = await overheard(inner, call)
        body = b"" if message is None else json.dumps(message).encode()
        body, last[0] = (last[0] or body, body) if call.turn > 6 else (body, body)
        await call.reply(status, body, *headers)

    return behave


def replies_in_the_next_stream() -> Behaviour:
    """Says nothing on a stream, and both answers on the next one."""
    inner, kept = Upright(), []

    async def behave(call: Call) -> None:
        status, headers, message = await overheard(inner, call)
        if status != 200 or headers or call.turn < 6 or not isinstance(message, dict):
            await call.reply(status, b"" if message is None else json.dumps(message).encode(), *headers)
            return
        kept.append(message)
        sent = kept[:] if call.turn % 2 else []
        if sent:
            kept.clear()
        events = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in sent) or b": later\n\n"
        await call.reply(200, events, kind="text/event-stream")

    return behave


def renamed(message: Any, call: Call) -> Any:
    """Another server at every initialize."""
    return in_result(serverInfo={"name": f"server-{call.turn}", "version": str(call.turn)})(message, call)


def requests_first(*names: str) -> Behaviour:
    """Asks the client before it answers, on a stream."""
    return streamed(*({"jsonrpc": "2.0", "id": f"s{at}", "method": name} for at, name in enumerate(names)))


def _recoded(message: Any, code: int) -> Any:
    if isinstance(message, dict) and message.get("error", {}).get("code") in {-32601, -32602, -32002}:
        return {**message, "error": {**message["error"], "code": code}}
    return message


def _only_asks() -> Behaviour:
    asking = json.dumps({"jsonrpc": "2.0", "id": "s0", "method": "sampling/createMessage", "params": {}})
    return says(200, b"data: " + asking.encode() + b"\n\n", kind="text/event-stream")


def _twice() -> Behaviour:
    inner = Upright()

    async def behave(call: Call) -> None:
        status, headers, message = await overheard(inner, call)
        if status != 200 or headers or not isinstance(message, dict):
            await call.reply(status, b"" if message is None else json.dumps(message).encode(), *headers)
            return
        event = b"data: " + json.dumps(message).encode() + b"\n\n"
        await call.reply(200, event * 2, kind="text/event-stream")

    return behave


def fails(*checks: str) -> frozenset[str]:
    """Names of checks."""
    return frozenset(checks)


ASKS = ("sampling/createMessage", "roots/list", "elicitation/create", "ping")
BIG = "x" * 900_000
UNKNOWN = unknown_method
CALLS = method("tools/call")

ENVELOPES: Mapping[str, Case] = {
    "wrong ids": Case(make=altered(set_members(id=999)), fails=fails("JSON-01", "METH-01")),
    "ids as strings": Case(
        make=altered(lambda message, call: {**message, "id": str(message["id"])}), fails=fails("JSON-01")
    ),
    "null ids": Case(make=altered(set_members(id=None)), fails=fails("JSON-01", "METH-01")),
    "ids that are objects": Case(make=altered(set_members(id={"a": [1]})), fails=fails("JSON-01", "METH-01")),
    "no jsonrpc member": Case(make=altered(set_members(jsonrpc=...)), fails=fails("JSON-02")),
    "jsonrpc 1.0": Case(make=altered(set_members(jsonrpc="1.0")), fails=fails("JSON-02")),
    "result and error together": Case(
        make=altered(set_members(error={"code": -32000, "message": "both"}), LISTING), fails=fails("JSON-02")
    ),
    "neither result nor error": Case(
        make=altered(set_members(result=..., error=...), UNKNOWN), fails=fails("JSON-02", "METH-01")
    ),
    "an error that is a string": Case(
        make=altered(set_members(error="no"), UNKNOWN), fails=fails("JSON-02", "JSON-04", "METH-01")
    ),
    "an error code that is a string": Case(
        make=altered(set_members(error={"code": "-32601", "message": "no"}), UNKNOWN),
        fails=fails("JSON-02", "JSON-04", "METH-01"),
    ),
    "an error code beyond all integers": Case(
        make=altered(set_members(error={"code": 10**400, "message": "no"}), UNKNOWN), fails=fails("JSON-04", "METH-01")
    ),
    "an error code with a fraction": Case(
        make=altered(set_members(error={"code": -32601.5, "message": "no"}), UNKNOWN),
        fails=fails("JSON-02", "JSON-04", "METH-01"),
    ),
    "an error message of 900 kB": Case(make=altered(set_members(error={"code": -32601, "message": BIG}), UNKNOWN)),
    "error data of 900 kB": Case(
        make=altered(set_members(error={"code": -32601, "message": "no", "data": [BIG]}), UNKNOWN)
    ),
    "answers twice in a batch": Case(
        make=altered(lambda message, call: [message, message], both(HAS_ID, not_(OPENING), not_(DISCOVER))),
        fails=fails("HTTP-10"),
    ),
    "answers twice on a stream": Case(make=_twice),
    "answers the question before": Case(make=off_by_one, fails=None),
    "replies in the next stream": Case(make=replies_in_the_next_stream),
    "asks the client before it answers": Case(make=lambda: requests_first(*ASKS), fails=fails("STRM-01")),
    "asks the client and then says nothing": Case(make=lambda: Twist(LISTING, _only_asks()), fails=fails("STRM-01")),
    "answers initialize as if it were modern": Case(
        make=lambda: Twist(OPENING, result({"supportedVersions": ["2026-07-28"], "capabilities": {}})), fails=None
    ),
    "answers discover as if it were legacy": Case(
        make=lambda: Twist(
            DISCOVER, result({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "x"}})
        )
    ),
    "every unknown thing is -32000": Case(
        make=altered(lambda message, call: _recoded(message, -32000)),
        fails=fails("RES-02", "META-02", "METH-01", "METH-02", "JSON-04"),
    ),
    "every unknown thing is -32603": Case(
        make=altered(lambda message, call: _recoded(message, -32603)),
        fails=fails("RES-02", "META-02", "METH-01", "METH-02", "JSON-04"),
    ),
    "every unknown thing is -32042": Case(
        make=altered(lambda message, call: _recoded(message, -32042)),
        fails=fails("RES-02", "META-02", "METH-01", "METH-02", "JSON-04", "ERR-01"),
    ),
    "202 to every unknown method": Case(make=lambda: Twist(UNKNOWN, says(202)), fails=fails("METH-01")),
    "204 to ping": Case(make=lambda: Twist(method("ping"), says(204)), fails=fails("METH-02")),
    "a result for every question": Case(
        make=lambda: Twist(not_(method("initialize", "server/discover", "tools/list")), result({})), fails=None
    ),
    "an error for every list": Case(
        make=lambda: Twist(LISTING, error(-32603, "database is locked")), fails=fails("HTTP-04", "SESS-04")
    ),
    "ping with a result that is not empty": Case(
        make=lambda: Twist(both(method("ping"), not_(modern)), result({"a": 1})), fails=fails("PING-01")
    ),
    "ping with a result that is null": Case(
        make=lambda: Twist(both(method("ping"), not_(modern)), result(None)), fails=fails("PING-01")
    ),
    "a result for the initialized notification": Case(
        make=lambda: Twist(method("notifications/initialized"), result({})), fails=fails("HTTP-06", "JSON-05")
    ),
    "nonexistent tools can be called": Case(
        make=lambda: Twist(CALLS, result({"content": []})), fails=fails("RT-01", "HDR-05")
    ),
    "nonexistent resources are empty": Case(
        make=lambda: Twist(method("resources/read"), result({"contents": []})), fails=fails("RES-02", "RT-01")
    ),
    "nonexistent prompts exist": Case(
        make=lambda: Twist(method("prompts/get"), result({"messages": []})), fails=fails("RT-01")
    ),
}

OPENINGS: Mapping[str, Case] = {
    "another version at the second initialize": Case(
        make=altered(in_result(protocolVersion="2024-11-05"), both(OPENING, since(8)))
    ),
    "another name at every initialize": Case(make=altered(renamed, OPENING)),
    "an error at the second initialize": Case(
        make=lambda: Twist(both(OPENING, since(8)), error(-32000, "already initialized"))
    ),
    "500 at the second initialize": Case(make=lambda: Twist(both(OPENING, since(8)), says(500))),
    "echoes any version": Case(
        make=altered(
            lambda message, call: in_result(protocolVersion=asked(call)["params"]["protocolVersion"])(message, call),
            OPENING,
        ),
        fails=fails("LIFE-03"),
    ),
    "a version that is a number": Case(
        make=altered(in_result(protocolVersion=20251125), OPENING), fails=fails("LIFE-01", "LIFE-03", "SCHEMA-01")
    ),
    "a version of 900 kB": Case(make=altered(in_result(protocolVersion=BIG), OPENING)),
    "no server info": Case(make=altered(in_result(serverInfo=...), OPENING), fails=fails("LIFE-01", "SCHEMA-01")),
    "capabilities null": Case(
        make=altered(in_result(capabilities=None), OPENING),
        fails=fails("LIFE-01", "SCHEMA-01", "CAP-01", "CAP-02", "CAP-03"),
    ),
    "capabilities true": Case(
        make=altered(in_result(capabilities={"tools": True, "prompts": None, "resources": []}), always), fails=None
    ),
    "a hundred thousand supported versions": Case(
        make=altered(in_result(supportedVersions=["2026-07-28", *map(str, range(50_000))]), DISCOVER)
    ),
    "supported versions that are numbers": Case(
        make=altered(in_result(supportedVersions=["2026-07-28", 1]), DISCOVER), fails=fails("DISC-01", "SCHEMA-01")
    ),
    "only a version of the future": Case(make=altered(in_result(supportedVersions=["2099-01-01"]), DISCOVER)),
    "extensions with impossible names": Case(
        make=altered(
            in_result(capabilities={"tools": {}, "extensions": {f"{at} bad//": {} for at in range(1_000)}}), DISCOVER
        ),
        fails=fails("EXT-01", "CAP-02", "CAP-03"),
    ),
    "ttl and scope of the wrong type": Case(
        make=altered(in_result(ttlMs=-1.5, cacheScope="everyone"), modern),
        fails=fails("CACHE-01", "DISC-02", "SCHEMA-01"),
    ),
    "no resultType": Case(make=altered(in_result(resultType=...), modern), fails=fails("RT-01", "SCHEMA-01")),
    "input required by lists": Case(
        make=altered(in_result(resultType="input_required", inputRequests={"a": {"method": "roots/list"}}), LISTING),
        fails=fails("RT-01", "MRTR-01"),
    ),
}

MEANING: dict[str, Case] = {
    **ENVELOPES,
    **OPENINGS,
    "an opening of 3 MB": Case(
        make=altered(in_result(instructions="x" * 3_000_000), method("initialize", "server/discover")),
        reason=Reason.TOO_LARGE,
    ),
}
