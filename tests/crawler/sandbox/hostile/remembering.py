"""A server that writes where it can: every tool call leaves a file, and what is left is listed as tools."""

import json
import os
import sys
from pathlib import Path

PLACES = ("/tmp", "/dev/shm", os.path.expanduser("~"))
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
NAMES = ("write_note", "delete_note", "get_note", "crash")


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line) if line.rstrip().endswith("}") else {}
        if "id" not in message:
            continue
        method, params = message["method"], message.get("params", {})
        if method == "tools/call":
            if params["name"] == "crash":
                sys.exit(1)
            answer = called(params["name"], params.get("arguments", {}))
        elif method == "tools/list":
            answer = {"result": {"tools": [{"name": name, "inputSchema": SCHEMA} for name in (*NAMES, *left())]}}
        elif method in ("initialize", "ping"):
            answer = {"result": OPENING if method == "initialize" else {}}
        else:
            answer = {"error": {"code": -32601, "message": "Method not found"}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}) + "\n")
        sys.stdout.flush()


def called(name: str, arguments: dict[str, object]) -> dict[str, object]:
    if name not in NAMES:
        return {"error": {"code": -32602, "message": "Unknown tool"}}
    if not isinstance(arguments.get("text"), str):
        return {"result": {"content": [{"type": "text", "text": "text: a string is required"}], "isError": True}}
    written = []
    for place in PLACES if name != "get_note" else ():
        try:
            (Path(place) / f"left-{name}").write_text("x")
            written.append(place)
        except OSError:
            continue
    return {"result": {"content": [{"type": "text", "text": f"wrote to {len(written)}"}]}}


def left() -> list[str]:
    return sorted({path.name for place in PLACES if Path(place).is_dir() for path in Path(place).glob("left-*")})


main()
