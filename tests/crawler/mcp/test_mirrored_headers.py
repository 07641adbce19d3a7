"""Marked arguments of a call are repeated in its headers, as far as they can be."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from crawler.collectors.protocol.trials.call_policy import CallPolicy
from crawler.mcp.mirrored_headers import find_mirrored_parameters
from tests.crawler.collectors.protocol.probing import collector, records_of, remote
from tests.servers.hostile import Call, Mcp, serving

MODERN = "2026-07-28"


def marked(mark: Any, **schema: Any) -> dict[str, Any]:
    return {"type": "string", "x-mcp-header": mark} | schema


def tool(**properties: Any) -> dict[str, Any]:
    return {"name": "get_note", "inputSchema": {"type": "object", "properties": properties}}


@pytest.mark.parametrize(
    ("properties", "arguments", "expected"),
    [
        ({"region": marked("Region")}, {"region": "eu"}, [("mcp-param-region", "eu")]),
        (
            {"on": marked("On"), "n": marked("N")},
            {"on": True, "n": 7},
            [("mcp-param-on", "true"), ("mcp-param-n", "7")],
        ),
        ({"where": {"properties": {"at": marked("At")}}}, {"where": {"at": "x"}}, [("mcp-param-at", "x")]),
        ({"region": marked("Region")}, {}, []),
        ({"region": marked("Bad Name\r\nX: y")}, {"region": "eu"}, []),
        ({"region": marked(7)}, {"region": "eu"}, []),
        ({"region": marked("R")}, {"region": None}, []),
        ({"region": marked("R")}, {"region": [1]}, []),
        ({"region": 5}, {"region": "eu"}, []),
    ],
)
def test_marked_arguments_are_repeated(properties: Any, arguments: Any, expected: list[tuple[str, str]]) -> None:
    assert find_mirrored_parameters([tool(**properties)])({"name": "get_note", "arguments": arguments}) == expected


@pytest.mark.parametrize(
    "listed", [None, 5, {}, {"name": 3}, {"name": "get_note"}, {"name": "get_note", "inputSchema": 1}]
)
def test_a_tool_of_any_shape_asks_for_nothing(listed: Any) -> None:
    assert find_mirrored_parameters([listed])({"name": "get_note", "arguments": {"a": 1}}) == []
    assert find_mirrored_parameters([listed])({"name": [], "arguments": None}) == []


def test_a_trial_of_a_modern_tool_sends_name_and_marked_arguments() -> None:
    seen: list[dict[str, str]] = []
    listed = tool(region=marked("Region", enum=["größe"]))
    listed |= {"annotations": {"readOnlyHint": True}, "description": "Returns one note."}
    listed["inputSchema"]["required"] = ["region"]

    async def discover(call: Call) -> None:
        await call.result({"supportedVersions": [MODERN], "capabilities": {"tools": {}}})

    async def tools(call: Call) -> None:
        await call.result({"tools": [listed]})

    async def called(call: Call) -> None:
        seen.append(call.headers)
        await call.result({"content": []})

    async def run() -> None:
        async with serving(Mcp({"server/discover": discover, "tools/list": tools, "tools/call": called})) as url:
            prober = collector()
            prober._policy = CallPolicy.ANNOTATED
            await records_of(prober, remote(url))

    asyncio.run(run())
    assert {call["mcp-name"] for call in seen} == {"get_note"}
    assert seen[0]["mcp-param-region"] == "=?base64?Z3LDtsOfZQ==?="
