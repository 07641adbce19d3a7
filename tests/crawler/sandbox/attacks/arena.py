"""Where attacks are run: a sandbox, an index with the packages, and things on the host that are worth attacking."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import socket
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from crawler.collectors.protocol import ProbeLimits, ProtocolCollector
from crawler.container_engine_variables import ENGINE_VARIABLES
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.launcher import LaunchedServer
from crawler.sandbox import Limits, Sandbox
from crawler.sandbox.runtime_selection import AUTO
from evidence.canonical import Json
from evidence.model import Absent, Dossier, Record, Server, Target, TargetType
from tests.crawler.sandbox import driving
from tests.crawler.sandbox.attacks.packing import publish
from tests.crawler.sandbox.index_server import IndexServer

CANARY = "a-variable-that-must-stay-outside"
TYPES = {"npm": TargetType.NPM, "pypi": TargetType.PYPI}


@dataclass(frozen=True, slots=True, kw_only=True)
class Arena:
    """`aims` names the targets of the attacks; it grants no access by itself."""

    cache: Path
    home: Path
    index: IndexServer
    aims: Mapping[str, Json]
    listener: socket.socket
    runtime: str = AUTO

    async def sandbox(self, limits: Limits | None = None) -> Sandbox:
        """A sandbox for a user whose tools are configured for the index."""
        engine = {name: os.environ[name] for name in ENGINE_VARIABLES if name in os.environ}
        environ = self.index.environ(str(self.home)) | engine
        return await driving.sandbox(self.cache, environ, limits=limits or Limits(), runtime=self.runtime)

    def target(self, ecosystem: str, package: str, *arguments: str) -> Target:
        """A package of the index, with the targets of its attack."""
        aims = (("ATTACK_AIMS", json.dumps(self.aims)),)
        return Target(type=TYPES[ecosystem], identifier=package, arguments=arguments, environment=aims)

    def visitors(self) -> int:
        """How many connections the host's listeners got since the last time that this was asked."""
        count = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                self.listener.accept()[0].close()
                count += 1
        return count


@contextlib.contextmanager
def arena(cache: Path, home: Path, runtime: str = AUTO) -> Iterator[Arena]:
    """An arena on a cache that has the root file system, whose boxes are those of `runtime`."""
    os.environ["HALLMARK_ATTACK_CANARY"] = CANARY
    name = f"attacked-{os.getpid()}"
    with contextlib.ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(dir=home)))
        index = held.enter_context(IndexServer())
        listener = held.enter_context(socket.create_server(("0.0.0.0", 0)))
        abstract, file = (held.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(2))
        abstract.bind("\0" + name)
        file.bind(str(folder / "socket"))
        for one in (abstract, file):
            one.listen()
        listener.setblocking(False)
        (folder / "secret").write_text("a secret")
        publish(index)
        aims: dict[str, Json] = {
            "secret": str(folder / "secret"),
            "folder": str(Path.cwd()),
            "socket": str(folder / "socket"),
            "abstract": name,
            "port": listener.getsockname()[1],
            "address": _own_address(),
            "pid": os.getpid(),
            "user": os.geteuid(),
            "host_name": platform.node(),
            "canary": CANARY[::-1],
            "cache": str(cache)[::-1],
        }
        yield Arena(cache=cache, home=home, index=index, aims=aims, listener=listener, runtime=runtime)


def _own_address() -> str:
    """The address by which this machine's own listeners can be reached from outside; asking sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(sock.getsockname()[0])


@dataclass(slots=True)
class Conversation:
    """A plain MCP client, which asks and reads lines; None where no answer came."""

    launched: LaunchedServer
    number: int = 0
    rest: bytes = b""

    async def open(self, seconds: float = 30) -> Mapping[str, Json] | None:
        """Open the session."""
        client = {"name": "test", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        return await self.ask("initialize", params, seconds)

    async def report(self, tool: str, seconds: float = 30) -> dict[str, str]:
        """What an attack says of itself when its tool is called; empty without an answer."""
        found = await self.ask("tools/call", {"name": tool, "arguments": {}}, seconds)
        return json.loads(found["content"][0]["text"]) if found else {}  # type: ignore[index, call-overload]

    async def ask(self, method: str, params: Mapping[str, Json], seconds: float = 30) -> Mapping[str, Json] | None:
        """One question."""
        self.number += 1
        body = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        try:
            async with asyncio.timeout(seconds):
                await self.launched.write(body.encode() + b"\n")
                while (line := await self._line()) is not None:
                    answer = json.loads(line)
                    if answer.get("id") == self.number and "result" in answer:
                        return answer["result"]  # type: ignore[no-any-return]
        except (TimeoutError, OSError, ValueError, RecursionError):
            pass
        return None

    async def _line(self) -> bytes | None:
        while b"\n" not in self.rest:
            data = await self.launched.read(65536)
            if not data:
                return None
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return line


async def collected(box: Sandbox, target: Target, patience: float) -> dict[str, Record]:
    """What the real collector records, by kind."""
    engine = HttpEngine(user_agent="Hallmark/0 (+https://hallmark.example/bot)", guard=AddressGuard())
    limits = ProbeLimits(stdio_answer=patience, total=60, retry_pause=0)
    prober = ProtocolCollector(engine, box, HostRateLimiter(), lambda: driving.NOON, limits)
    server = Server(ref="test", name="test", targets=(target,))
    found = await prober.collect(server, Dossier(server=server, as_of=driving.NOON, records={}))
    return {one.kind: one for one in found}


def read_report(tool: Json) -> dict[str, str]:
    """The report in a tool's description."""
    try:
        found = json.loads(tool["description"])  # type: ignore[call-overload, index]
    except (ValueError, TypeError, KeyError):
        return {}
    return found if isinstance(found, dict) else {}


async def started(box: Sandbox, target: Target) -> LaunchedServer:
    """The launched target; an AssertionError says why it is absent."""
    launched = await box.launch(target)
    assert not isinstance(launched, Absent), launched
    return launched


def smaller(**changes: float) -> Limits:
    """The limits of a run with some of them lower, so that an attack meets them sooner."""
    return replace(Limits(), **changes)  # type: ignore[arg-type]
