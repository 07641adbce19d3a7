"""Hostile servers whose lists are wrong, endless, or other for everybody who asks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.servers.conforming import LISTS, Upright
from tests.servers.hostile import Behaviour, Call
from tests.servers.hostile_behaviour import METADATA, Case, asked, method, overheard
from tests.servers.hostile_meaning import LISTING, altered, fails, in_result


def an_object(**properties: Any) -> dict[str, Any]:
    """A schema with these properties."""
    return {"type": "object", "properties": properties}


def tools(*items: Any) -> Callable[[], Behaviour]:
    """An upright server that lists these tools too."""
    return altered(in_result(tools=[*LISTS["tools/list"]["tools"], *items]), LISTING)


def tool(**members: Any) -> dict[str, Any]:
    """A tool with something odd about it."""
    return {"name": "odd", "description": "Is odd.", "inputSchema": {"type": "object"}, **members}


def nested(depth: int) -> dict[str, Any]:
    """A schema of this depth."""
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def by_connection() -> Behaviour:
    """Lists other tools to every TCP connection."""
    inner = Upright()

    async def behave(call: Call) -> None:
        status, headers, message = await overheard(inner, call)
        if isinstance(message, dict) and asked(call).get("method") == "tools/list" and "result" in message:
            port = call.writer.get_extra_info("peername")[1]
            message["result"] = message["result"] | {"tools": [tool(name=f"only_{port}")]}
        await call.reply(status, b"" if message is None else json.dumps(message).encode(), *headers)

    return behave


def changing(message: Any, call: Call) -> Any:
    """Other tools at every call."""
    return in_result(tools=[tool(name=f"now_{call.turn}")])(message, call)


def turning(message: Any, call: Call) -> Any:
    """The same tools in another order at every call."""
    items = LISTS["tools/list"]["tools"]
    return in_result(tools=items if call.turn % 2 else items[::-1])(message, call)


def paging(cursor: Callable[[Call], Any], **members: Any) -> Callable[[], Behaviour]:
    """Tools without end."""

    def make() -> Behaviour:
        inner = Upright()

        async def behave(call: Call) -> None:
            if asked(call).get("method") != "tools/list":
                await inner(call)
                return
            call.body = json.dumps(
                {**asked(call), "params": {**asked(call).get("params", {}), "cursor": None}}
            ).encode()
            status, headers, message = await overheard(inner, call)
            if isinstance(message, dict) and "result" in message:
                message["result"] = message["result"] | {"nextCursor": cursor(call), **members}
            await call.reply(status, b"" if message is None else json.dumps(message).encode(), *headers)

        return behave

    return make


LISTED: dict[str, Case] = {
    "other tools at every call": Case(make=altered(changing, LISTING)),
    "another order at every call": Case(make=altered(turning, LISTING)),
    "other tools on every connection": Case(make=by_connection, fails=fails("TOOL-08")),
    "items that are no tools": Case(
        make=tools(None, 5, [], "tool", {}, {"name": 5}, {"name": "x", "inputSchema": None}),
        fails=fails("TOOL-01", "TOOL-02"),
    ),
    "ten thousand tools": Case(make=tools(*(tool(name=f"t{at}") for at in range(10_000)))),
    "the same name a thousand times": Case(make=tools(*(tool() for _ in range(1_000)))),
    "a name of 100 kB": Case(make=tools(tool(name="n" * 100_000))),
    "a name with control characters": Case(make=tools(tool(name="a\x00b\x1b[31m\u202e"))),
    "a schema of depth 150": Case(make=tools(tool(inputSchema=nested(75)))),
    "a schema that refers to the metadata address": Case(
        make=tools(tool(inputSchema={"type": "object", "properties": {"a": {"$ref": METADATA}}}))
    ),
    "a schema that refers to itself": Case(
        make=tools(tool(inputSchema={"type": "object", "properties": {"a": {"$ref": "#"}}, "allOf": [{"$ref": "#"}]}))
    ),
    "a pattern that takes for ever": Case(
        make=tools(tool(inputSchema={"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}))
    ),
    "a pattern that is none": Case(
        make=tools(tool(inputSchema={"type": "object", "properties": {"a": {"pattern": "(((["}}}))
    ),
    "a schema of 5,000 properties": Case(
        make=tools(tool(inputSchema=an_object(**{f"p{at}": {"type": "string"} for at in range(5_000)})))
    ),
    "an enumeration of 20,000 values": Case(
        make=tools(tool(inputSchema={"type": "object", "properties": {"a": {"enum": list(range(20_000))}}}))
    ),
    "an unknown dialect": Case(
        make=tools(tool(inputSchema={"$schema": "https://schemas.example/unknown", "type": "object"}))
    ),
    "x-mcp-header on everything": Case(
        make=tools(tool(inputSchema=an_object(a={"type": "number", "x-mcp-header": "A B"}, b={"x-mcp-header": "A B"}))),
        fails=fails("TOOL-10"),
    ),
    "annotations that are strings": Case(
        make=tools(tool(annotations={"readOnlyHint": "yes", "destructiveHint": 1})), fails=fails("TOOL-01", "TOOL-12")
    ),
    "resources whose URIs are none": Case(
        make=altered(
            in_result(resources=[{"uri": "no scheme", "name": "a"}, {"uri": "\u0000:", "name": "b"}]),
            method("resources/list"),
        ),
        fails=fails("RES-01"),
    ),
    "templates that do not parse": Case(
        make=altered(
            in_result(resourceTemplates=[{"uriTemplate": "a{b{c", "name": "a"}, {"uriTemplate": 5, "name": "b"}]),
            method("resources/templates/list"),
        ),
        fails=fails("RES-03", "SCHEMA-01"),
    ),
    "prompts that are none": Case(
        make=altered(
            in_result(prompts=[{"name": None}, {"name": "a", "arguments": [1, {"name": 2}]}]), method("prompts/list")
        ),
        fails=fails("PROMPT-02"),
    ),
    "the same cursor for ever": Case(make=paging(lambda call: "again")),
    "a new cursor for ever": Case(make=paging(lambda call: f"page-{call.turn}")),
    "a cursor that grows": Case(make=paging(lambda call: "x" * (1_000 * call.turn))),
    "a cursor that is null": Case(make=paging(lambda call: None), fails=fails("PAGE-03", "SCHEMA-01")),
    "a cursor that is a number": Case(make=paging(lambda call: 7), fails=fails("PAGE-03", "SCHEMA-01")),
    "another scope on every page": Case(
        make=altered(
            lambda message, call: in_result(cacheScope=("public", "private")[call.turn % 2])(message, call), LISTING
        )
    ),
}
