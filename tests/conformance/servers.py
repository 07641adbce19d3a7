"""The real servers that our verdicts are held against: how each is installed and started, and what it is called."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from evidence.model import Target, TargetType
from tests.conformance import installing
from tests.servers import preloaded
from tests.servers.daemon import free_port

REAL = Path(__file__).parent / "real"
START_SECONDS = 300.0
EVERYTHING = "@modelcontextprotocol/server-everything"
TYPESCRIPT = ("@modelcontextprotocol/server@2.4.0", "@modelcontextprotocol/node@2.1.2", "zod@4")
FASTMCP_2 = ("fastmcp>=2.14,<3",)
FASTMCP_4 = ("fastmcp>=4,<5",)
REFERENCE = ("mcp-server-time", "mcp-server-fetch")


@dataclass(frozen=True, slots=True)
class Running:
    """A server that answers: its name with the version, and where."""

    name: str
    target: Target


Start = Callable[[], contextlib.AbstractContextManager[Running]]


def remote(url: str, kind: TargetType = TargetType.STREAMABLE_HTTP) -> Target:
    """A target by its address."""
    return Target(type=kind, identifier=url)


def command(*arguments: str | Path) -> Target:
    """A target that is started on its standard streams."""
    return Target(type=TargetType.COMMAND, identifier=".", arguments=tuple(map(str, arguments)))


@contextlib.contextmanager
def listening(arguments: Sequence[str | Path], port: int, folder: Path | None = None) -> Iterator[None]:
    """A process that serves HTTP on a port of loopback."""
    environment = installing.environment(PORT=str(port))
    with subprocess.Popen(
        list(map(str, arguments)), cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait(port)
            yield
        finally:
            process.kill()


def _wait(port: int) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=1).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the server does not listen")


@contextlib.contextmanager
def official_python() -> Iterator[Running]:
    """The official Python SDK."""
    arguments = [sys.executable, "-m", "tests.servers.sdk_server", "streamable-http"]
    with preloaded.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            port = process.stdout.readline().strip()
            yield Running(f"mcp {version('mcp')}", remote(f"http://127.0.0.1:{port}/mcp"))
        finally:
            process.kill()


def fastmcp(requirements: Sequence[str]) -> Start:
    """FastMCP in an environment of its own."""

    @contextlib.contextmanager
    def start() -> Iterator[Running]:
        interpreter, port = installing.python(*requirements), free_port()
        with listening([interpreter, REAL / "fastmcp_server.py", str(port)], port):
            yield Running(
                f"FastMCP {installing.installed(interpreter, 'fastmcp')}", remote(f"http://127.0.0.1:{port}/mcp")
            )

    return start


@contextlib.contextmanager
def typescript() -> Iterator[Running]:
    """Version 2 of the TypeScript SDK."""
    folder, port = installing.npm(*TYPESCRIPT), free_port()
    shutil.copy(REAL / "typescript_server.mjs", folder)
    with listening([installing.NODE, folder / "typescript_server.mjs", str(port)], port, folder):
        yield Running("TypeScript SDK 2.4.0", remote(f"http://127.0.0.1:{port}/mcp"))


def everything(transport: str) -> Start:
    """The reference server with everything, over one of its transports."""

    @contextlib.contextmanager
    def start() -> Iterator[Running]:
        folder = installing.npm(f"{EVERYTHING}@2026.8.31")
        script, port = folder / "node_modules" / EVERYTHING / "dist" / "index.js", free_port()
        name = f"server-everything 2026.8.31, {transport}"
        if transport == "stdio":
            yield Running(name, command(installing.NODE, script, "stdio"))
            return
        kind = TargetType.SSE if transport == "sse" else TargetType.STREAMABLE_HTTP
        with listening([installing.NODE, script, transport], port):
            path = "sse" if transport == "sse" else "mcp"
            yield Running(name, remote(f"http://127.0.0.1:{port}/{path}", kind))

    return start


def reference(module: str, *arguments: str) -> Start:
    """A reference server in Python, over stdio."""

    @contextlib.contextmanager
    def start() -> Iterator[Running]:
        interpreter = installing.python(*REFERENCE)
        package = module.replace("_", "-")
        name = f"{package} {installing.installed(interpreter, package)}"
        yield Running(name, command(interpreter, "-m", module, *arguments))

    return start


SEVEN: tuple[Start, ...] = (
    official_python,
    fastmcp(FASTMCP_4),
    fastmcp(FASTMCP_2),
    typescript,
    everything("streamableHttp"),
    everything("sse"),
    everything("stdio"),
    reference("mcp_server_time", "--local-timezone", "UTC"),
    reference("mcp_server_fetch"),
)
