"""A registry with more servers of one host than a window has room for, and what a process needs to plan it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from evidence.model import ServerRef, Target, TargetType
from tests.workers.world import ScriptedCollector, ScriptedRegistry, World, context, ref
from workers.context import Context
from workers.runs.options import RunOptions

SHARE = 4
WINDOW = timedelta(seconds=SHARE * 7.2 + 1)
FIRST = RunOptions(registries=("first",))


def at_host(host: str, number: int) -> ServerRef:
    target = Target(type=TargetType.STREAMABLE_HTTP, identifier=f"https://{host}/{number}/mcp")
    return replace(ref(number), name=f"{host}/{number}", targets=(target,))


def _package(number: int) -> ServerRef:
    return replace(ref(number), name=f"npm/{number}", targets=(Target(type=TargetType.NPM, identifier=f"p-{number}"),))


def make_references() -> list[ServerRef]:
    """Packages, a host with more servers than a part and than its share, and hosts with fewer."""
    return [
        *(_package(number) for number in range(8)),
        *(at_host("crowded.example", number) for number in range(11)),
        *(at_host("small.example", number) for number in range(2)),
        *(at_host(f"{number}.example", number) for number in range(7)),
    ]


def make_context(home: Path, url: str, **changes: object) -> AbstractAsyncContextManager[Context]:
    world = World([ScriptedRegistry("first", [make_references()])], [ScriptedCollector()])
    return context(home, world, registries=("first",), database_url=url, host_window=WINDOW, **changes)
