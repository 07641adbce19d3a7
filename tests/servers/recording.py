"""A server that writes down every call: `python -m tests.servers.recording CALLS LISTING [http]`.

It lists the tools of the JSON file LISTING whatever they claim, and appends each call as a line of JSON to CALLS before
it answers as the tool's member `answers` says. It prints the port where it serves HTTP on the official SDK, or speaks
stdio without it: to import the SDK takes longer than to try some tools.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

BROKEN = -32603, "Internal error at 0x7f3a12bc after 17 ms"


def answer(tool: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a call, None for an error of the protocol.

    A member `answers` of the tool decides; by default wrong arguments get an error and right ones get a text.
    """
    how = tool.get("answers", "well")
    schema = tool.get("inputSchema", {})
    properties = schema.get("properties", {})
    wrong = [
        name
        for name in schema.get("required", [])
        if name not in arguments
        or isinstance(arguments[name], dict)
        or (isinstance(arguments[name], str) and properties.get(name, {}).get("type") not in {None, "string"})
    ]
    if how == "protocol error":
        return None
    if how == "death":
        sys.exit(3)
    if how == "locked":
        return _error_result("Missing API key: set WEATHER_API_KEY, not sk-abcdefghijklmnop1234")
    if wrong and how == "repeats":
        return _error_result(f"{wrong[0]}: found {json.dumps(arguments.get(wrong[0]))}")
    if wrong and how != "credulous":
        return _error_result(f"{wrong[0]}: expected another type" if how == "well" else "")
    return {
        "content": [{"type": "text", "text": "fine"}],
        **({"structuredContent": how} if isinstance(how, dict) else {}),
    }


def _error_result(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": True}


def _plain(tool: dict[str, Any]) -> dict[str, Any]:
    return {"inputSchema": {"type": "object"}, **{name: tool[name] for name in tool if name != "answers"}}


def _write_down(calls: Path, name: str, arguments: dict[str, Any] | None) -> None:
    with calls.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"name": name, "arguments": arguments}) + "\n")


def serve_http(calls: Path, tools: dict[str, dict[str, Any]]) -> None:
    import socket

    import uvicorn
    from mcp import MCPError, types
    from mcp.server.lowlevel import Server

    async def on_list(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(_plain(tool)) for tool in tools.values()])

    async def on_call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        _write_down(calls, params.name, params.arguments)
        tool = tools[params.name]
        if tool.get("answers") == "silence":
            await asyncio.sleep(3600)
        result = answer(tool, params.arguments or {})
        if result is None:
            raise MCPError(*BROKEN)
        return types.CallToolResult.model_validate(result)

    server: Server[Any] = Server("recording", version="1.0.0", on_list_tools=on_list, on_call_tool=on_call)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="warning")).run(sockets=[listener])


def serve_stdio(calls: Path, tools: dict[str, dict[str, Any]]) -> None:
    for line in sys.stdin:
        try:
            asked = json.loads(line)
        except ValueError:
            _send({"id": None, "error": {"code": -32700, "message": "Parse error"}})
            continue
        if "id" in asked and (said := _reply(calls, tools, asked["method"], asked.get("params", {}))) is not None:
            _send({"id": asked["id"], **said})


def _reply(calls: Path, tools: dict[str, dict[str, Any]], method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """None for a question that gets no answer."""
    if method == "initialize":
        who = {"name": "recording", "version": "1.0.0"}
        return {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": who}}
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        return {"result": {"tools": [_plain(tool) for tool in tools.values()]}}
    if method != "tools/call":
        return {"error": {"code": -32601, "message": "Method not found"}}
    _write_down(calls, params["name"], params.get("arguments"))
    tool = tools.get(params["name"])
    if tool is None:
        return {"error": {"code": -32602, "message": "Unknown tool"}}
    if tool.get("answers") == "silence":
        return None
    result = answer(tool, params.get("arguments") or {})
    return {"error": {"code": BROKEN[0], "message": BROKEN[1]}} if result is None else {"result": result}


def _send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    listed = {tool["name"]: tool for tool in json.loads(Path(sys.argv[2]).read_text("utf-8"))}
    (serve_http if "http" in sys.argv else serve_stdio)(Path(sys.argv[1]), listed)
