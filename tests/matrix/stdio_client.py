"""The ordinary client over standard streams."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from tests.matrix.client import Visit, notification, opening, question

_SECONDS = 60.0


def visit_process(command: Sequence[str]) -> Visit:
    """Start a server, open it, list its tools, and end it by closing its input."""
    began = time.monotonic()
    sent = [opening(), notification("notifications/initialized"), question("tools/list", number=2)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin and process.stdout
        try:
            found: dict[Any, Any] = {}
            for message in sent:
                process.stdin.write(json.dumps(message).encode() + b"\n")
                process.stdin.flush()
                while "id" in message and message["id"] not in found:
                    answer = json.loads(process.stdout.readline())
                    found[answer.get("id")] = answer
                    if time.monotonic() - began > _SECONDS:
                        raise RuntimeError("the process does not answer")
        finally:
            process.kill()
    tools = tuple(tool["name"] for tool in found[2]["result"]["tools"])
    return Visit(found[1]["result"], {}, tools, time.monotonic() - began)
