"""Start the control in a process of its own, as every test of it does."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator

from evidence.model import Target, TargetType
from tests.servers import preloaded
from tests.servers.control.serving import Era

PATHS = {"streamable-http": "mcp", "sse": "sse"}
TYPES = {"streamable-http": TargetType.STREAMABLE_HTTP, "sse": TargetType.SSE}


@contextlib.contextmanager
def control(transport: str, era: Era = Era.DUAL) -> Iterator[Target]:
    """The control as a target: served on loopback, or as the command that serves it on stdio."""
    command = (sys.executable, "-m", "tests.servers.control", transport, "--era", era.value)
    if transport == "stdio":
        yield Target(type=TargetType.COMMAND, identifier=".", arguments=command)
        return
    with preloaded.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            port = process.stdout.readline().strip()
            yield Target(type=TYPES[transport], identifier=f"http://127.0.0.1:{port}/{PATHS[transport]}")
        finally:
            process.kill()
