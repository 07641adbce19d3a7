"""Helpers that start something in the sandbox and collect its output."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

from crawler.launcher import LaunchedServer, ProcessExit
from crawler.sandbox import Limits, Sandbox, open_sandbox
from evidence.canonical import Json
from evidence.model import Absent, Target, TargetType

HOSTILE = Path(__file__).parent / "hostile"
NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


async def sandbox(cache: Path, environ: dict[str, str] | None = None, **options: object) -> Sandbox:
    """An opened sandbox; `options` go to open_sandbox."""
    given: dict[str, object] = {"now": lambda: NOON, **options}
    opened = await open_sandbox(cache, environ=environ or {}, **given)  # type: ignore[arg-type]
    assert isinstance(opened, Sandbox), opened
    return opened


def attack(cache: Path, *arguments: str, limits: Limits | None = None) -> tuple[Json, ProcessExit]:
    """What the attack script reports from inside, and how it ended."""
    return asyncio.run(_attack(cache, arguments, limits or Limits()))


async def _attack(cache: Path, arguments: tuple[str, ...], limits: Limits) -> tuple[Json, ProcessExit]:
    box = await sandbox(cache, limits=limits)
    command = Target(type=TargetType.COMMAND, identifier=str(HOSTILE), arguments=("python", "attack.py", *arguments))
    launched = await box.launch(command)
    assert not isinstance(launched, Absent), launched
    said = await read_all(launched)
    end = await launched.stop()
    return (json.loads(said) if said.startswith(b"{") else said.decode()), end


def install_alone(cache: Path, environ: dict[str, str], target: Target) -> None:
    """Install a package; for a process of its own, which imports nothing of pytest."""

    async def run() -> None:
        assert not isinstance(await (await sandbox(cache, environ)).prepare(target), Absent)

    asyncio.run(run())


async def read_all(launched: LaunchedServer) -> bytes:
    """Everything it writes until it ends."""
    found = bytearray()
    while data := await launched.read(65536):
        found += data
    return bytes(found)


async def greet(launched: LaunchedServer) -> Json:
    """Say hello to a server of the index and read its answer."""
    await launched.write(b"friend\n")
    found = b""
    while b"\n" not in found and (data := await launched.read(65536)):
        found += data
    end = await launched.stop()
    return json.loads(found) if found else end.stderr


def alive(pid: int) -> bool:
    """Whether a process runs: a dead one is seen until its parent reaps it, and the parent may be the test process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
