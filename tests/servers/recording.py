"""A server on the official SDK that writes down every call: `python -m tests.servers.recording CALLS LISTING [http]`.

It lists the tools of the JSON file LISTING whatever they claim, and appends each call as a line of JSON to CALLS before
it answers as the tool's member `answers` says. It speaks stdio, or prints the port where it serves HTTP.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from mcp import MCPError, types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


def serve(calls: Path, listing: Path) -> Server[Any]:
    tools = {tool["name"]: tool for tool in json.loads(listing.read_text("utf-8"))}

    async def on_list(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(_plain(tool)) for tool in tools.values()])

    async def on_call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        with calls.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"name": params.name, "arguments": params.arguments}) + "\n")
        return await _answer(tools[params.name], params.arguments or {})

    return Server("recording", version="1.0.0", on_list_tools=on_list, on_call_tool=on_call)


async def _answer(tool: dict[str, Any], arguments: dict[str, Any]) -> types.CallToolResult:
    """A member `answers` of the tool decides; by default wrong arguments are told and right ones get a text."""
    how = tool.get("answers", "well")
    schema = tool.get("inputSchema", {})
    wrong = [
        name
        for name in schema.get("required", [])
        if name not in arguments or isinstance(arguments[name], dict) or arguments[name] == "not-a-number"
    ]
    if how == "protocol error":
        raise MCPError(-32603, "Internal error at 0x7f3a12bc after 17 ms")
    if how == "silence":
        await asyncio.sleep(3600)
    if how == "death":
        sys.exit(3)
    if how == "locked":
        return _told("Missing API key: set WEATHER_API_KEY, not sk-abcdefghijklmnop1234")
    if wrong and how != "credulous":
        return _told(f"{wrong[0]}: expected another type" if how == "well" else "")
    return types.CallToolResult.model_validate(
        {"content": [{"type": "text", "text": "fine"}], **({"structuredContent": how} if isinstance(how, dict) else {})}
    )


def _told(text: str) -> types.CallToolResult:
    return types.CallToolResult.model_validate({"content": [{"type": "text", "text": text}], "isError": True})


def _plain(tool: dict[str, Any]) -> dict[str, Any]:
    return {"inputSchema": {"type": "object"}, **{name: tool[name] for name in tool if name != "answers"}}


def serve_http(server: Server[Any]) -> None:
    import socket

    import uvicorn

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="warning")).run(sockets=[listener])


async def serve_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    recording = serve(Path(sys.argv[1]), Path(sys.argv[2]))
    if "http" in sys.argv:
        serve_http(recording)
    else:
        asyncio.run(serve_stdio(recording))
