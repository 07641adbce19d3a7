"""What the sandbox costs: installing cold and warm, and starting a server in it against starting it bare.

    python -m bench.sandbox [--cache DIR] [--rounds N] [--json FILE]

Installs two real servers from the user's own package indexes; starts them in turns, so that a busy machine slows
both alike. A start is: spawn, initialize, the answer, and the end of the last process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from crawler.wire.launch import Launched
from crawler.wire.sandbox import Sandbox, UnsandboxedLauncher, host, open_sandbox
from evidence.model import Absent, Target, TargetType

TIME = Target(type=TargetType.PYPI, identifier="mcp-server-time", arguments=("--local-timezone", "UTC"))
EVERYTHING = Target(type=TargetType.NPM, identifier="@modelcontextprotocol/server-everything", arguments=("stdio",))
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache/hallmark")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result = asyncio.run(measure(options.cache.resolve(), options.rounds))
    for name, value in result.items():
        print(f"{name:44} {value:>12}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


async def measure(cache: Path, rounds: int) -> dict[str, float]:
    """All figures: seconds, milliseconds, bytes and files, by name."""
    built = await opened(cache)
    result: dict[str, float] = {"rootfs_bytes": built.rootfs.size, "rootfs_files": built.rootfs.files}
    for target, label in ((TIME, "mcp-server-time"), (EVERYTHING, "server-everything")):
        result |= await install(cache, target, label)
        result |= await starts(built, target, label, rounds)
    return result


async def opened(cache: Path) -> Sandbox:
    box = await open_sandbox(cache, environ=dict(os.environ), now=lambda: datetime.now(UTC))
    assert isinstance(box, Sandbox), box
    return box


async def install(cache: Path, target: Target, label: str) -> dict[str, float]:
    """Seconds of a first installation, one with the downloads kept, and one that is answered by the cache."""
    fresh = Path(tempfile.mkdtemp(dir=cache))
    try:
        for part in ("rootfs", "tools"):
            (fresh / part).symlink_to(cache / part)
        result = {f"{label}_install_cold_s": await prepared(fresh, target)}
        for part in ("layers", "index"):
            shutil.rmtree(fresh / part)
        result[f"{label}_install_warm_s"] = await prepared(fresh, target)
        result[f"{label}_install_cached_s"] = await prepared(fresh, target)
        files = [path.stat().st_size for path in (fresh / "layers").rglob("*") if path.is_file()]
        return result | {f"{label}_layer_bytes": sum(files), f"{label}_layer_files": len(files)}
    finally:
        shutil.rmtree(fresh)


async def prepared(cache: Path, target: Target) -> float:
    box = await opened(cache)
    began = time.perf_counter()
    found = await box.prepare(target)
    assert not isinstance(found, Absent), found
    return round(time.perf_counter() - began, 3)


async def starts(box: Sandbox, target: Target, label: str, rounds: int) -> dict[str, float]:
    """Median milliseconds of a start, in the sandbox and bare, measured in turns."""
    found = await box.prepare(target)
    assert not isinstance(found, Absent), found
    tree = box.installer.store.tree(found.layer)
    bare = bare_target(tree, next(iter(found.commands.values())), target)
    launcher = UnsandboxedLauncher({"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tree), "TZ": "UTC"})
    taken: dict[str, list[float]] = {"bare": [], "sandbox": []}
    for turn in range(rounds + 1):
        for name, start, what in (("bare", launcher, bare), ("sandbox", box, target)):
            began = time.perf_counter()
            launched = await start.launch(what)
            assert not isinstance(launched, Absent), launched
            await greet(launched)
            if turn:
                taken[name].append((time.perf_counter() - began) * 1000)
    median = {name: statistics.median(values) for name, values in taken.items()}
    return {
        f"{label}_start_bare_ms": round(median["bare"], 1),
        f"{label}_start_sandbox_ms": round(median["sandbox"], 1),
        f"{label}_start_ratio": round(median["sandbox"] / median["bare"], 3),
    }


def bare_target(tree: Path, inside: list[str], target: Target) -> Target:
    """The same server started from the same layer by the host's own interpreters."""
    programs = {"/usr/bin/node": str(host.node_home() / "bin/node"), "/usr/bin/python3": sys.executable}
    argv = [programs.get(word, word.replace("/app", str(tree), 1)) for word in inside]
    return Target(type=TargetType.COMMAND, identifier="/", arguments=(*argv, *target.arguments))


async def greet(launched: Launched) -> None:
    await launched.write(json.dumps(INITIALIZE).encode() + b"\n")
    said = b""
    while b"\n" not in said and (data := await launched.read(65536)):
        said += data
    end = await launched.stop()
    assert said, end.stderr


if __name__ == "__main__":
    main()
