"""Probes one package as production does: the collector over the sandbox, with the time of the first answer."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from crawler.collectors.protocol import ProtocolCollector
from crawler.collectors.protocol.trials.call_policy import CallPolicy
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.launcher import LaunchedServer, Launcher
from crawler.registries.targets import find_reachable_targets
from evidence.model import Absent, Dossier, Observed, Server, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The listing or its absence, seconds to the first answer, the end of stderr, and the given placeholders."""

    content: Observed | Absent
    seconds: float | None
    stderr_tail: str
    given: Any


class Stopwatch:
    """A launcher that measures the time until its first process answers."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher
        self.seconds: float | None = None

    async def launch(self, target: Target) -> LaunchedServer | Absent:
        began = time.perf_counter()
        launched = await self._launcher.launch(target)
        if isinstance(launched, Absent) or self.seconds is not None:
            return launched
        return Watched(launched, lambda: self._stop(began))

    def _stop(self, began: float) -> None:
        self.seconds = time.perf_counter() - began


class Watched:
    """A launched server whose first JSON-RPC answer calls `on_answer`; everything else is delegated."""

    def __init__(self, launched: LaunchedServer, on_answer: Callable[[], None]) -> None:
        self._launched, self._on_answer = launched, on_answer
        self._said, self._answered = b"", False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._launched, name)

    async def read(self, limit: int) -> bytes:
        data = await self._launched.read(limit)
        if not self._answered:
            self._said += data
            if any(_is_answer(line) for line in self._said.split(b"\n")[:-1]):
                self._answered = True
                self._on_answer()
        return data


def _is_answer(line: bytes) -> bool:
    try:
        message = json.loads(line)
    except ValueError:
        return False
    return isinstance(message, dict) and "id" in message and ("result" in message or "error" in message)


def target_of(entry: Mapping[str, Any]) -> Target:
    """The target for a registry entry with this package."""
    found = find_reachable_targets({"packages": [entry]})
    assert found.targets, found.unusable
    return found.targets[0]


async def probe_once(watch: Stopwatch, target: Target) -> ProbeResult:
    """Probe a target once, calling no tool."""
    engine = HttpEngine(user_agent="Hallmark/bench", guard=AddressGuard())
    collector = ProtocolCollector(engine, watch, HostRateLimiter(), lambda: datetime.now(UTC), policy=CallPolicy.OFF)
    server = Server(ref=target.identifier, name=target.identifier, targets=(target,))
    listed, *_ = await collector.collect(server, Dossier(server=server, as_of=datetime.now(UTC)))
    return ProbeResult(
        content=listed.content,
        seconds=watch.seconds,
        stderr_tail=str(listed.observation.get("stderr", ""))[-1500:],
        given=listed.observation.get("placeholders"),
    )


def plain(text: str) -> str:
    """Text of a server for a table cell."""
    return " ".join(text.replace("|", "/").replace("`", "'").replace("<", "&lt;").split())[:160]
