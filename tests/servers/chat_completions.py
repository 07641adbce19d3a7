"""A server of chat completions on loopback, whose model obeys every text: the easiest one to steer."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-judge-" + "0123456789abcdef"


@dataclass
class Reply:
    """A raw answer in place of the model's; `times` is how often it is given, `pause` the seconds before it."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1_000
    pause: float = 0.0


@dataclass
class World:
    """What was asked, and what is answered first. `say` maps a word of a text to the content of the message."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    say: dict[str, str] = field(default_factory=dict)

    def question(self, place: int = -1) -> tuple[str, str]:
        """The boundary and the text of a question, as a model reads them."""
        first, data, last = self.asked[place]["messages"][-1]["content"].split("\n")
        assert first == last
        return first, json.loads(data)["text"]

    def take_reply(self) -> Reply | None:
        while self.replies and self.replies[0].times == 0:
            self.replies.pop(0)
        if not self.replies:
            return None
        self.replies[0].times -= 1
        return self.replies[0]

    def complete(self) -> str:
        """The message of the model: what the text asks for, else attack for a text with `steal`."""
        boundary, text = self.question()
        for word, content in self.say.items():
            if word in text:
                return content.replace("BOUNDARY", boundary)
        verdict = "attack" if "steal" in text else "honest"
        return json.dumps({"id": boundary, "verdict": verdict, "reason": f"it is {verdict}"})


@contextmanager
def running() -> Iterator[World]:
    world = World()

    class Handler(BaseHTTPRequestHandler):
        """POST /v1/chat/completions."""

        def do_POST(self) -> None:
            world.headers.append({name.lower(): value for name, value in self.headers.items()})
            world.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            reply = world.take_reply()
            if reply is None:
                message = {"role": "assistant", "content": world.complete()}
                choice = {"index": 0, "finish_reason": "stop", "message": message}
                body = json.dumps({"object": "chat.completion", "model": "tiny-1", "choices": [choice]}).encode()
                reply = Reply(body=body if self.path == "/v1/chat/completions" else b"{}")
            time.sleep(reply.pause)
            self.send_response(reply.status)
            for name, value in {"content-length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    world.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield world
    finally:
        server.shutdown()
        server.server_close()
