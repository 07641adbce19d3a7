"""Stdio servers that misbehave: `python -m tests.servers.hostile_stdio NAME`."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

OPENING = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
TOOLS = [{"name": "get_note", "inputSchema": {"type": "object"}}]

RESULTS: dict[str, Any] = {"initialize": OPENING, "tools/list": {"tools": TOOLS}, "ping": {}}


def write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def send(message: Any) -> None:
    write(json.dumps(message).encode() + b"\n")


def serve(before: Callable[[dict[str, Any]], bool] = lambda _: False) -> None:
    """Answer as a good server does, unless `before` has dealt with the message."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message or before(message):
            continue
        result = RESULTS.get(message["method"])
        if result is None:
            send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}})
        else:
            send({"jsonrpc": "2.0", "id": message["id"], "result": result})


def good() -> None:
    serve()


def banner() -> None:
    write(b"Welcome to the server!\n\n\x1b[32mListening on stdio\x1b[0m\n\xff\xfe\n[1, 2\n")
    serve()


def dated_banner() -> None:
    write(time.strftime("%Y-%m-%dT%H:%M:%SZ").encode() + b" [%d] listening\n" % os.getpid())
    serve()


def lingers() -> None:
    """Takes a malformed line for nothing, and stays when its input ends."""
    for line in sys.stdin.buffer:
        if line.endswith(b"{\n"):
            continue
        message = json.loads(line)
        if "id" in message:
            answer = {"result": OPENING} if message["method"] == "initialize" else {"error": {"code": -32601}}
            send({"jsonrpc": "2.0", "id": message["id"], **answer})
    time.sleep(60)


def indents() -> None:
    """Spreads each message over several lines."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        write(json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": OPENING}, indent=1).encode() + b"\n")


def json_logs() -> None:
    write(b'{"level":"info","msg":"up"}\n17\n"text"\nnull\n[]\n')
    serve()


def windows_lines() -> None:
    def before(message: dict[str, Any]) -> bool:
        if message["method"] != "tools/list":
            return False
        write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": TOOLS}}).encode() + b"\r\n")
        return True

    serve(before)


def asks_back() -> None:
    """Waits for answers to its own requests before it answers tools/list."""

    def before(message: dict[str, Any]) -> bool:
        if message["method"] == "tools/list":
            for number, method in enumerate(("ping", "roots/list", "sampling/createMessage")):
                send({"jsonrpc": "2.0", "id": f"s{number}", "method": method})
                answer = json.loads(sys.stdin.buffer.readline())
                assert answer["id"] == f"s{number}"
                assert ("result" in answer) == (method == "ping")
        return False

    serve(before)


def late_answer() -> None:
    """Repeats the answer to initialize before it answers tools/list."""

    def before(message: dict[str, Any]) -> bool:
        if message["method"] == "tools/list":
            send({"jsonrpc": "2.0", "id": 1, "result": OPENING})
        return False

    serve(before)


def wrong_ids() -> None:
    def before(message: dict[str, Any]) -> bool:
        message["id"] = f"other-{message['id']}"
        return False

    serve(before)


def dies_on_list() -> None:
    def before(message: dict[str, Any]) -> bool:
        if message["method"] == "tools/list":
            os._exit(3)
        return False

    serve(before)


def dies_on_discover() -> None:
    def before(message: dict[str, Any]) -> bool:
        if message["method"] == "server/discover":
            os._exit(3)
        return False

    serve(before)


def silent() -> None:
    time.sleep(60)


def exits() -> None:
    sys.exit("Segmentation violation in module main")


def wants_key() -> None:
    sys.exit("Error: FIXTURE_API_KEY environment variable is required (got token sk-abcdef0123456789abcdef0123456789)")


def wants_key_politely() -> None:
    write(b"Please set NOTES_ACCESS_TOKEN before you start this server.\n")
    sys.exit(0)


def endless_line() -> None:
    while True:
        write(b"x" * 65536)


def endless_lines() -> None:
    while True:
        write(b"noise\n" * 10_000)


def endless_blank_lines() -> None:
    while True:
        write(b"\n" * 65536)


def deep_json() -> None:
    write(b"[" * 50_000 + b"]" * 50_000 + b"\n")
    silent()


def endless_number() -> None:
    """Answers everything with a number of 400,000 digits."""
    for _ in sys.stdin:
        write(b'{"jsonrpc":"2.0","id":1,"result":' + b"9" * 400_000 + b"}\n")


def huge_stderr() -> None:
    sys.stderr.write("password=hunter2hunter2 " + "e" * 1_000_000 + " Bearer abcdefghijklmnop0123456789")
    sys.exit(1)


def closes_stdout() -> None:
    os.close(1)
    time.sleep(60)


def never_reads() -> None:
    send({"jsonrpc": "2.0", "id": 1, "result": OPENING})
    time.sleep(60)


def answers_twice() -> None:
    def before(message: dict[str, Any]) -> bool:
        if message["method"] != "ping":
            return False
        for _ in range(2):
            send({"jsonrpc": "2.0", "id": message["id"], "result": {}})
        return True

    serve(before)


def floods_before_each() -> None:
    """A thousand notifications before each answer."""

    def before(message: dict[str, Any]) -> bool:
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "tick"}}
        write((json.dumps(note).encode() + b"\n") * 1_000)
        return False

    serve(before)


def chatters() -> None:
    """Prints a line of prose before each answer."""

    def before(message: dict[str, Any]) -> bool:
        write(b"handling " + message["method"].encode() + b"\n")
        return False

    serve(before)


def floods_stderr() -> None:
    def before(message: dict[str, Any]) -> bool:
        sys.stderr.write("noise\n" * 50_000)
        return False

    serve(before)


def dies_on_ping() -> None:
    def before(message: dict[str, Any]) -> bool:
        if message["method"] == "ping":
            os._exit(3)
        return False

    serve(before)


def outlives_its_input() -> None:
    serve()
    time.sleep(60)


def talks_after_its_input() -> None:
    serve()
    for _ in range(1_000):
        send({"jsonrpc": "2.0", "id": 1, "result": OPENING})


def slow_to_ping() -> None:
    def before(message: dict[str, Any]) -> bool:
        if message["method"] == "ping":
            time.sleep(60)
        return False

    serve(before)


def halves_of_lines() -> None:
    """Writes each answer in two halves with a pause between."""

    def before(message: dict[str, Any]) -> bool:
        result = RESULTS.get(message["method"])
        if result is None:
            return False
        line = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode() + b"\n"
        write(line[: len(line) // 2])
        time.sleep(0.05)
        write(line[len(line) // 2 :])
        return True

    serve(before)


def in_batches() -> None:
    def before(message: dict[str, Any]) -> bool:
        result = RESULTS.get(message["method"])
        if result is None:
            return False
        send([{"jsonrpc": "2.0", "id": message["id"], "result": result}])
        return True

    serve(before)


def main(name: str) -> None:
    globals()[name]()


if __name__ == "__main__":
    main(sys.argv[1])
