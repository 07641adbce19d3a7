"""A server that cannot keep a secret: in results, resources, errors, error pages, headers, documents and stderr.

`python -m tests.servers.leaking` is the same over stdio: it says its secrets on stderr and, with a code, ends.

Nothing here is a whole token: all are written out when the server starts, the same every time.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from evidence.patterns.secrets.samples import write_sample

SEED: Final = "leaking"
TEMPLATES: Final = {
    "result": "ghp_<w36>",
    "structured": "sk-ant-api03-<s93>AA",
    "tool-error": "xoxb-<d12>-<d12>-<w24>",
    "message": "glpat-<w20>",
    "data": "AKIA<B16>",
    "escaped": "npm_<w36>",
    "page": "sk_live_<w24>",
    "server-error": "SG.<s22>.<s43>",
    "challenge": "dop_v1_<h64>",
    "metadata": "shpat_<h32>",
    "stderr": "hf_<m34>",
    "stderr-password": "<w22>",
    "last-words": "gsk_<w52>",
    "password": "<w24>",
    "key": "<b64>",
    "resource": "rk_live_<w24>",
}
LEAKS: Final = {name: write_sample(template, SEED) for name, template in TEMPLATES.items()}
LISTED: Final = write_sample("dckr_pat_<s27>", SEED)
"""Stands in the listing, which is kept as it was received."""

TOOL: Final = {
    "name": "search_notes",
    "description": f"Searches the notes of a team by words, with the key {LISTED} until somebody removes it.",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string", "default": LISTED, "examples": ["lunch"]}},
        "required": ["query"],
    },
    "annotations": {"readOnlyHint": True},
}


def answer(method: str, params: dict[str, Any], number: int) -> dict[str, Any]:
    """The result or error of one question; calls go wrong in turns."""
    if method == "initialize":
        server = {"name": "leaking", "version": "1.0.0"}
        able: dict[str, Any] = {"tools": {}, "resources": {}}
        return {"result": {"protocolVersion": "2025-06-18", "capabilities": able, "serverInfo": server}}
    if method == "tools/list":
        return {"result": {"tools": [TOOL]}}
    if method == "tools/call":
        return _called(number)
    if method == "resources/list":
        return {"result": {"resources": [{"uri": "notes://settings", "name": "settings"}]}}
    if method == "resources/read":
        settings = f"# Settings\n\nstripe = {LEAKS['resource']}\n" + f"another = {LEAKS['resource']}\n" * 900
        return {"result": {"contents": [{"uri": "notes://settings", "text": settings}]}}
    lines = f"{LEAKS['key']}\n{LEAKS['key'][::-1]}"
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----"
    data = {"aws": LEAKS["data"], "password": LEAKS["password"], "log": [f"Bearer {LEAKS['escaped']}", key]}
    return {"error": {"code": -32601, "message": f"unknown {method}; used {LEAKS['message']}", "data": data}}


def _called(number: int) -> dict[str, Any]:
    text = [{"type": "text", "text": f"found nothing with {LEAKS['result']}"}]
    failed = [{"type": "text", "text": f"refused by the service for {LEAKS['tool-error']}"}]
    turns: list[dict[str, Any]] = [
        {"result": {"content": text, "structuredContent": {"token": LEAKS["structured"]}}},
        {"result": {"content": failed, "isError": True}},
        {"error": {"code": -32603, "message": f"cannot use {LEAKS['message']}"}},
    ]
    return turns[(number - 1) % 3]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if ".well-known/oauth-protected-resource" in self.path:
            base = f"http://{self.headers['host']}"
            document = {"resource": f"{base}/locked/mcp", "authorization_servers": [base], "note": LEAKS["metadata"]}
            self._send(200, json.dumps(document).encode())
        else:
            self._send(405, f"not for {LEAKS['page']}".encode(), "text/plain")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.path.startswith("/broken"):
            self._send(500, f"Traceback: db({LEAKS['server-error']})".encode(), "text/plain")
        elif self.path.startswith("/page"):
            self._send(400, f"<html>key {LEAKS['page']} expired</html>".encode(), "text/html")
        elif self.path.startswith("/locked"):
            challenge = f'Bearer realm="{LEAKS["challenge"]}", resource_metadata="http://{self.headers["host"]}/.well-known/oauth-protected-resource/locked/mcp"'
            self._send(401, f"bad {LEAKS['page']}".encode(), "text/plain", challenge)
        else:
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        try:
            asked = json.loads(body)
        except ValueError:
            self._send(400, f"no JSON near {LEAKS['page']}".encode(), "text/plain")
            return
        if not isinstance(asked, dict) or "id" not in asked:
            self._send(202, b"")
            return
        self.server.calls += asked.get("method") == "tools/call"  # type: ignore[attr-defined]
        said = answer(str(asked.get("method")), asked.get("params") or {}, self.server.calls)  # type: ignore[attr-defined]
        message = json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}).replace(
            LEAKS["escaped"], LEAKS["escaped"].replace("n", "\\u006e", 1)
        )
        self._send(200, message.encode())

    def _send(self, status: int, body: bytes, kind: str = "application/json", challenge: str = "") -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        if challenge:
            self.send_header("www-authenticate", challenge)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def running() -> Iterator[str]:
    """The address of a running server; its servers are at /open/mcp, /broken/mcp, /page/mcp and /locked/mcp."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.calls = 0  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    """Answer on stdin and stdout, or end at once when a code is given."""
    sys.stderr.write(f"token {LEAKS['stderr']}\ndatabase password={LEAKS['stderr-password']}\n")
    if len(sys.argv) > 1:
        sys.stderr.write(f"Error: cannot start with {LEAKS['last-words']}\n")
        sys.exit(int(sys.argv[1]))
    calls = 0
    for line in sys.stdin:
        asked = json.loads(line)
        calls += asked.get("method") == "tools/call"
        if "id" in asked:
            said = answer(str(asked.get("method")), asked.get("params") or {}, calls)
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
