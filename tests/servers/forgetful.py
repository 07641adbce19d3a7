"""A stdio server that remembers what was done to it: `python -m tests.servers.forgetful LOG`.

`add_tool` adds a tool to its list, `crash` ends it. Every request is appended to LOG with the id of the process. When
the file `fault` beside it says `once` the first process ends before it answers, when `never` every process does, and
when `deadly` it ends of `get_note`. When it says `agrees`, each opening agrees to the offered version, when `agrees
once` the first of a process, and the others answer alike; at `agrees and ends` and `agrees and falls silent` that is
what the second opening of a process brings about.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

READ = {"annotations": {"readOnlyHint": True}}
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def tool(name: str, **members: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Tool {name}.", "inputSchema": SCHEMA, **members}


TOOLS = [tool("add_tool"), tool("crash"), tool("get_note", **READ), tool("delete_note"), tool("frobnicate")]
VERSIONS = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}


def main(log: Path) -> None:
    fault = fault_file.read_text() if (fault_file := log.with_name("fault")).exists() else ""
    first = not log.exists()
    note(log, "start")
    if fault == "never" or (fault == "once" and first):
        sys.exit(3)
    added: list[dict[str, Any]] = []
    opened: list[str] = []
    for line in sys.stdin.buffer:
        message = json.loads(line) if line.rstrip().endswith(b"}") else {}
        if "id" in message:
            name = message["params"].get("name", "")
            note(log, message["method"], name)
            if name == "crash" or (fault == "deadly" and name == "get_note"):
                sys.exit(4)
            if name == "add_tool":
                added.append(tool(f"added_{len(added)}"))
            answer = answered(message, [*TOOLS, *added])
            if name := message["params"].get("protocolVersion") if fault.startswith("agrees") else None:
                opened.append(name if name in VERSIONS else "2025-11-25")
                if len(opened) > 1 and fault == "agrees and ends":
                    sys.exit(5)
                if len(opened) > 1 and fault == "agrees and falls silent":
                    continue
                version = opened[0 if fault == "agrees once" else -1]
                answer = {"result": {**OPENING, "protocolVersion": version}}
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}) + "\n")
            sys.stdout.flush()


def answered(message: dict[str, Any], tools: list[dict[str, Any]]) -> dict[str, Any]:
    match message["method"]:
        case "initialize":
            return {"result": OPENING}
        case "tools/list":
            return {"result": {"tools": tools}}
        case "ping":
            return {"result": {}}
        case "tools/call" if message["params"]["name"] in {known["name"] for known in tools}:
            wrong = not isinstance(message["params"]["arguments"].get("text"), str)
            text = "text: a string is required" if wrong else "done"
            return {"result": {"content": [{"type": "text", "text": text}], "isError": wrong}}
        case "tools/call":
            return {"error": {"code": -32602, "message": "Unknown tool"}}
        case _:
            return {"error": {"code": -32601, "message": "Method not found"}}


def note(log: Path, *entry: str) -> None:
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps([os.getpid(), *entry]) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
