"""The cost of the sandbox: a start in it compared with the same start without, servers per minute, and the kill.

    python -m bench.sandbox [--cache DIR] [--rounds 10] [--npm 40] [--pypi 20] [--json FILE]

Two real servers, installed from the user's package indexes if needed. Both kinds of starts alternate, so that load
slows them equally. CPU time, as counted by the kernel for all processes, is more reliable than wall time on a shared
machine, whose load is printed at the end. Runs as root and as an ordinary user.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.killing import kills
from bench.machine import Machine, Meter, proportional_memory
from crawler.launcher import LaunchedServer, Launcher
from crawler.sandbox import Sandbox, UnsandboxedLauncher, open_sandbox
from crawler.sandbox.boxes.box import BASE_ENVIRONMENT
from crawler.sandbox.sandbox_launcher import RUN_ENVIRONMENT
from crawler.sandbox.toolchain import host, node
from evidence.model import Absent, Target, TargetType

TIME = Target(type=TargetType.PYPI, identifier="mcp-server-time", arguments=("--local-timezone", "UTC"))
EVERYTHING = Target(type=TargetType.NPM, identifier="@modelcontextprotocol/server-everything", arguments=("stdio",))
SERVERS = {"npm": EVERYTHING, "pypi": TIME}
AT_ONCE = (1, 2, 4, 8)
MIB = 1 << 20
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


@dataclass(frozen=True, slots=True)
class Start:
    """One start: milliseconds until the first answer and of the end, CPU of us and of every process together."""

    answer: float
    end: float
    cpu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/hallmark")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--npm", type=int, default=40, help="npm servers for each number at once")
    parser.add_argument("--pypi", type=int, default=20, help="PyPI servers for each number at once")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result = asyncio.run(measure(options.cache.resolve(), options.rounds, {"npm": options.npm, "pypi": options.pypi}))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


async def measure(cache: Path, rounds: int, counts: dict[str, int]) -> dict[str, object]:
    """Every figure by name, printed as it is known."""
    box = await opened(cache)
    machine, result = Machine(), {}
    print(f"as {'root' if os.geteuid() == 0 else 'an ordinary user'}, {os.cpu_count()} processors")
    for ecosystem, target in SERVERS.items():
        result[f"{ecosystem}_start"] = await overhead(box, target, f"{ecosystem} {target.identifier}", rounds)
    for ecosystem, target in SERVERS.items():
        for at_once in AT_ONCE:
            result[f"{ecosystem}_at_once_{at_once}"] = await throughput(
                cache, ecosystem, target, at_once, counts[ecosystem]
            )
    result["kill"] = await kills(box, rounds)
    result["machine"] = machine.report()
    return result


async def opened(cache: Path, slots: int = 1) -> Sandbox:
    box = await open_sandbox(cache, environ=dict(os.environ), now=lambda: datetime.now(UTC), slots=slots)
    assert isinstance(box, Sandbox), box
    return box


async def overhead(box: Sandbox, target: Target, name: str, rounds: int) -> dict[str, float]:
    """Medians of starts in turns, and of what a start in the sandbox takes longer than the bare one beside it."""
    with tempfile.TemporaryDirectory() as folder:
        bare = await same_without(box, target, Path(folder))
        both: dict[str, tuple[Launcher, Target]] = {"bare": bare, "box": (box, target)}
        taken: dict[str, list[Start]] = {"bare": [], "box": []}
        for turn in range(rounds + 1):
            for which in ("bare", "box") if turn % 2 else ("box", "bare"):
                launcher, what = both[which]
                start = await one_start(launcher, what)
                if turn:  # the first fills the page cache
                    taken[which].append(start)
    return summarize_starts(name, taken)


def summarize_starts(name: str, taken: dict[str, list[Start]]) -> dict[str, float]:
    pairs = list(zip(taken["bare"], taken["box"], strict=True))
    bare, box = (
        {part: statistics.median(getattr(start, part) for start in taken[which]) for part in ("answer", "end", "cpu")}
        for which in ("bare", "box")
    )
    more = statistics.median(boxed.answer - plain.answer for plain, boxed in pairs)
    cpu = statistics.median(boxed.cpu - plain.cpu for plain, boxed in pairs)
    print(f"{name}, {len(pairs)} rounds in turns, medians")
    for which, median in (("bare", bare), ("sandbox", box)):
        print(
            f"  {which:8} answer {median['answer']:7.1f} ms   CPU {median['cpu']:7.1f} ms   end {median['end']:5.1f} ms"
        )
    print(f"  more     {more:+.1f} ms ({more / bare['answer']:+.1%})   CPU {cpu:+.1f} ms ({cpu / bare['cpu']:+.1%})")
    return {
        "bare_ms": bare["answer"],
        "sandbox_ms": box["answer"],
        "more_ms": more,
        "more_ratio": more / bare["answer"],
        "bare_cpu_ms": bare["cpu"],
        "sandbox_cpu_ms": box["cpu"],
        "more_cpu_ratio": cpu / bare["cpu"],
        "end_ms": box["end"],
    }


async def same_without(box: Sandbox, target: Target, folder: Path) -> tuple[Launcher, Target]:
    """The same server from the same layer with the same variables and interpreters, started by itself."""
    found = await box.prepare(target)
    assert not isinstance(found, Absent), found
    tree = box.installer.store.tree(found.layer)
    provided = await node.provide_node(box.cache_dir, {})
    programs = {
        "/usr/bin/node": str(provided.binary),
        "/usr/bin/python3": str(host.find_own_interpreter().binary),
    }
    inside = next(iter(found.commands.values()))
    argv = [programs.get(word, word.replace("/app", str(tree), 1)) for word in inside]
    own = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder), "PYTHONPATH": str(tree)}
    launcher = UnsandboxedLauncher({**BASE_ENVIRONMENT, **RUN_ENVIRONMENT, **own})
    return launcher, Target(type=TargetType.COMMAND, identifier="/", arguments=(*argv, *target.arguments))


async def one_start(launcher: Launcher, target: Target) -> Start:
    """From the launch to the answer to `initialize`, and to the end of the last process."""
    meter, began = Meter(), time.perf_counter()
    launched = await launcher.launch(target)
    assert not isinstance(launched, Absent), launched
    await ask(launched, INITIALIZE)
    answered = time.perf_counter()
    meter.sample()
    stopping = time.perf_counter()
    await launched.stop()
    ended = time.perf_counter()
    return Start(1000 * (answered - began), 1000 * (ended - stopping), 1000 * meter.seconds)


async def throughput(cache: Path, ecosystem: str, target: Target, at_once: int, count: int) -> dict[str, float]:
    """Start, greet, list and kill `count` servers, `at_once` at a time; then what that many hold in memory."""
    box = await opened(cache, at_once)
    numbers, began, meter = iter(range(count)), time.perf_counter(), Meter()

    async def work() -> None:
        for _ in numbers:
            launched = await listed(box, target)
            meter.sample()
            await launched.stop()

    await together(work for _ in range(at_once))
    seconds = time.perf_counter() - began
    each = meter.seconds / count
    memory = await held(box, target, at_once)
    print(
        f"{ecosystem:4} {at_once} at once: {count / seconds:5.2f} a second, {60 * count / seconds:5.0f} a minute, "
        f"CPU {1000 * each:4.0f} ms each, {memory / MIB:4.0f} MiB together"
    )
    return {"per_second": count / seconds, "per_minute": 60 * count / seconds, "cpu_s": each, "memory": memory}


async def held(box: Sandbox, target: Target, at_once: int) -> int:
    """Proportional bytes of `at_once` servers that have listed their tools, their bubblewrap included."""
    running: list[LaunchedServer] = []

    async def work() -> None:
        running.append(await listed(box, target))

    await together(work for _ in range(at_once))
    memory = proportional_memory()
    for launched in running:
        await launched.stop()
    return memory


async def together(works: Iterator[object]) -> None:
    async with asyncio.TaskGroup() as group:
        for work in works:
            group.create_task(work())  # type: ignore[operator]


async def listed(box: Sandbox, target: Target) -> LaunchedServer:
    """A running server that has answered `initialize` and `tools/list`."""
    launched = await box.launch(target)
    assert not isinstance(launched, Absent), launched
    await ask(launched, INITIALIZE)
    await launched.write(json.dumps(INITIALIZED).encode() + b"\n")
    await ask(launched, LIST)
    return launched


async def ask(launched: LaunchedServer, message: dict[str, object]) -> None:
    """Send a request and wait for its answer, whatever notifications come before it."""
    await launched.write(json.dumps(message).encode() + b"\n")
    received = b""
    while not any(
        line.startswith(b"{") and json.loads(line).get("id") == message["id"] for line in received.split(b"\n")[:-1]
    ):
        data = await launched.read(65536)
        assert data, (await launched.stop()).stderr
        received += data


if __name__ == "__main__":
    main()
