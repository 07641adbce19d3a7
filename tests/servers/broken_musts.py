"""Tiny servers that keep every requirement but one, each named after what it does, with the check that it fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.servers.conforming import HANDSHAKES, LISTS, MODERN, Upright
from tests.servers.hostile import Behaviour, Call
from tests.servers.hostile_behaviour import (
    Altered,
    Change,
    Twist,
    When,
    asked,
    both,
    error,
    method,
    modern,
    not_,
    result,
)
from tests.servers.hostile_lists import tool, tools
from tests.servers.hostile_meaning import DISCOVER, LISTING, OPENING, UNKNOWN, in_result

Make = Callable[[], Behaviour]

_READS: When = lambda call: (asked(call).get("params") or {}).get("name") == "get_note"  # noqa: E731
LEGACY = not_(modern)
TEXT = {"type": "text", "text": "A note."}
NOTE = {"uri": "note://welcome", "text": "A note."}
_READS_NOTE: When = lambda call: (asked(call).get("params") or {}).get("uri") == NOTE["uri"]  # noqa: E731


def altered(change: Change, when: When) -> Make:
    return lambda: Altered(change, when)


def answering(**members: Any) -> Make:
    """A tool whose result has these members."""
    return altered(in_result(**members), both(method("tools/call"), _READS))


def legacy_answering(**members: Any) -> Make:
    change = in_result(**members)
    return lambda: Altered(change, both(method("tools/call"), _READS), Upright(modern=False))


def reading(**members: Any) -> Make:
    """The listed resource can be read, and its result has these members."""
    return lambda: Twist(both(method("resources/read"), _READS_NOTE), result({"resultType": "complete", **members}))


def blind_to(*names: str, inner: Callable[[], Upright] = Upright) -> Make:
    """A server that does not read these headers."""

    def make() -> Behaviour:
        upright = inner()

        async def behave(call: Call) -> None:
            call.headers = {name: value for name, value in call.headers.items() if name not in names}
            await upright(call)

        return behave

    return make


def agreeing(version: Callable[[Any], Any]) -> Make:
    """A server that answers an offered version with this one."""

    def change(message: Any, call: Call) -> Any:
        offered = asked(call)["params"]["protocolVersion"]
        return in_result(protocolVersion=version(offered))(message, call)

    return altered(change, OPENING)


def opening_legacy(version: str) -> Make:
    """A server of the legacy era that answers every offer with this version, and accepts it in the header."""

    def make() -> Behaviour:
        upright = Altered(in_result(protocolVersion=version), OPENING, Upright(modern=False))

        async def behave(call: Call) -> None:
            if call.headers.get("mcp-protocol-version") == version:
                call.headers["mcp-protocol-version"] = HANDSHAKES[-1]
            await upright(call)

        return behave

    return make


def in_first_tool(**members: Any) -> Make:
    first, *rest = LISTS["tools/list"]["tools"]
    return altered(in_result(tools=[{**first, **members}, *rest]), LISTING)


BROKEN: Mapping[str, tuple[str, Make]] = {
    "content that is a text": ("CALL-01", answering(content="A note.")),
    "a text block without its text": ("CALL-01", answering(content=[{"type": "text"}])),
    "a block of an unknown type": ("CALL-01", answering(content=[{"type": "markdown", "text": "A note."}])),
    "an image without its type": ("CALL-01", answering(content=[TEXT, {"type": "image", "data": "AAAA"}])),
    "a resource without its contents": (
        "CALL-01",
        answering(content=[{"type": "resource", "resource": {"uri": "a:b"}}]),
    ),
    "structured content that is an array": ("CALL-01", legacy_answering(structuredContent=[1])),
    "structured content alone": ("CALL-01", answering(content=..., structuredContent={})),
    "isError that is a text": ("CALL-01", answering(isError="false")),
    "a key of _meta in a result of a tool": ("CALL-01", answering(_meta={"$cost": 1})),
    "a key of _meta in a content block": ("CALL-01", answering(content=[TEXT, {**TEXT, "_meta": {"_cost": 1}}])),
    "a key of _meta in an embedded resource": (
        "CALL-01",
        answering(content=[{"type": "resource", "resource": {**NOTE, "_meta": {"$cost": 1}}}]),
    ),
    "a key of _meta in the result of a read": ("META-04", reading(contents=[NOTE], _meta={"@cost": 1})),
    "a key of _meta in the contents of a read": ("META-04", reading(contents=[NOTE, {**NOTE, "_meta": {"@cost": 1}}])),
    "a key of _meta that begins with an underscore": ("META-04", in_first_tool(_meta={"_cost": 1})),
    "a key of _meta with a space": ("META-04", altered(in_result(_meta={"the cost": 1}), both(LEGACY, LISTING))),
    "a prefix of _meta that begins with a digit": ("META-04", in_first_tool(_meta={"1st.example/cost": 1})),
    "agrees to every version": ("LIFE-03", agreeing(lambda offered: offered)),
    "agrees to a version that is none": (
        "LIFE-03",
        agreeing(lambda offered: offered if offered in HANDSHAKES else "1.0"),
    ),
    "agrees to a version without initialize": (
        "LIFE-03",
        agreeing(lambda offered: offered if offered in HANDSHAKES else MODERN),
    ),
    "opens with a version without initialize": ("LIFE-03", opening_legacy(MODERN)),
    "opens with a version that was never published": ("LIFE-03", agreeing(lambda offered: "2025-01-01")),
    "answers an older version with a newer one": (
        "LIFE-02",
        agreeing(
            lambda offered: {"2024-11-05": "2025-06-18"}.get(
                offered, offered if offered in HANDSHAKES else "2024-11-05"
            )
        ),
    ),
    "serves every web page": ("HTTP-03", blind_to("origin")),
    "ignores the version of the header": (
        "HTTP-04",
        blind_to("mcp-protocol-version", inner=lambda: Upright(modern=False)),
    ),
    "answers a notification with 200": (
        "HTTP-06",
        lambda: Twist(both(LEGACY, method("notifications/initialized")), _empty),
    ),
    "another error for an unknown method": (
        "JSON-04",
        lambda: Twist(both(LEGACY, UNKNOWN), error(-32602, "No")),
    ),
    "a ping with a result": ("PING-01", lambda: Twist(both(LEGACY, method("ping")), result({"a": 1}))),
    "a schema against its dialect": (
        "TOOL-03",
        tools(tool(inputSchema={"type": "object", "properties": {"a": {"type": "txt"}}})),
    ),
    "a description that is a number": ("TOOL-01", in_first_tool(description=7)),
    "an extension without a prefix": (
        "EXT-01",
        altered(
            in_result(capabilities={"tools": {}, "resources": {}, "prompts": {}, "extensions": {"ui": {}}}), DISCOVER
        ),
    ),
    "a hidden list of prompts": (
        "CAP-02",
        altered(in_result(capabilities={"tools": {}, "resources": {}}), method("initialize", "server/discover")),
    ),
    "another error for a resource that does not exist": (
        "RES-02",
        lambda: Twist(both(modern, method("resources/read")), error(-32603, "No")),
    ),
}


async def _empty(call: Call) -> None:
    await call.reply(200, b"", kind="")
