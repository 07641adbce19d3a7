"""Probes one server at every depth and looks after each probe whether an ordinary client is served as before."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evidence.model import Target, TargetType
from tests.matrix import starting, stdio_client
from tests.matrix.client import Unwell, Visit, visit
from tests.matrix.instance import Instance
from tests.matrix.probing import CORE, DEPTHS, FULL, probe
from tests.matrix.versions import SSE, STDIO, Environment

MEMORY = 16 * 1024 * 1024
"""Bytes by which a probe may make a server's processes grow, which load code and buffers at the first requests."""

TASKS = 12
"""Unfinished tasks (Python) or sessions (Node) that a probe may leave: those of the sessions that it must not end."""

SLOWER, SLOW_SECONDS = 5.0, 2.0
"""A client is served as before within so many times its earlier time, or within so many seconds."""

LEAK = 1024 * 1024
"""A server that grows by so many bytes with every request of an ordinary client leaks."""

_WARM = 3  # visits before the first measurement
_ORDINARY = 3  # visits of which the growth is measured
_REQUESTS = 3  # requests of a visit
_SHARE = 1.5  # a probe's request may cost so many times that of an ordinary client
_SETTLE_SECONDS = 1.0
_EXIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one probe did. `harm` is empty for a server that serves as before.

    `left`: the tasks or sessions that it has more than before; None when the server does not tell. `failure`: why it
    was not listed.
    """

    requests: int
    harm: str
    memory: int = 0
    left: int | None = None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Ordinary:
    """How a server serves ordinary clients before it is probed, and how much it grows with each of their requests."""

    visit: Visit
    memory: float = 0.0
    tasks: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """One server: its transport, the version that it negotiates, and the outcome of each depth.

    `leaks`: it keeps memory for every request, of whatever client.
    """

    environment: Environment
    transport: str
    negotiated: str
    outcomes: Mapping[str, Outcome]
    leaks: bool = False

    @property
    def harms(self) -> Mapping[str, str]:
        return {depth: one.harm for depth, one in self.outcomes.items() if one.harm}

    def describe(self) -> str:
        """The row in one line: requests, memory and what is left of each depth, and the harm."""
        words = []
        for depth, one in self.outcomes.items():
            left = "" if one.left is None else f", {one.left:+d} left"
            harm = f": {one.harm}" if one.harm else ""
            failure = f" (not listed: {one.failure})" if one.failure else ""
            words.append(f"{depth} {one.requests} requests, {one.memory / 1024**2:+.1f} MiB{left}{failure}{harm}")
        return f"{self.negotiated}{', leaks with every request' if self.leaks else ''}; {'; '.join(words)}"


def measure(environment: Environment, folder: Path, transport: str) -> Row:
    """Probe a server at every depth. After harm the next depth gets a new process."""
    if transport == STDIO:
        return _measure_process(environment, folder)
    outcomes: dict[str, Outcome] = {}
    negotiated, leaks = "", False
    while remaining := [depth for depth in DEPTHS if depth not in outcomes]:
        with starting.start(environment, folder, transport) as instance:
            ordinary = _warm(instance)
            negotiated, leaks = str(ordinary.visit.result.get("protocolVersion")), ordinary.memory > LEAK
            for depth in remaining:
                outcomes[depth] = _outcome(instance, ordinary, depth)
                if outcomes[depth].harm:
                    break
    return Row(environment, transport, negotiated, outcomes, leaks)


def _warm(instance: Instance) -> Ordinary:
    for _ in range(_WARM):
        visit(instance.transport, instance.url)
    memory, tasks = instance.memory(), _settled_tasks(instance)
    visits = [visit(instance.transport, instance.url) for _ in range(_ORDINARY)]
    requests = _ORDINARY * _REQUESTS
    grown = (_settled_tasks(instance) or 0) - (tasks or 0)
    kept = _settled_memory(instance, memory + LEAK * requests) - memory
    fastest = min(visits, key=lambda one: one.seconds)
    return Ordinary(fastest, max(0, kept) / requests, max(0, grown) / requests)


def _outcome(instance: Instance, ordinary: Ordinary, depth: str) -> Outcome:
    memory, tasks = instance.memory(), _settled_tasks(instance)
    kind = TargetType.SSE if instance.transport == SSE else TargetType.STREAMABLE_HTTP
    probed = probe(Target(type=kind, identifier=instance.url), depth)
    now = _settled_tasks(instance, at_most=tasks)
    left = None if now is None or tasks is None else now - tasks
    grown = _settled_memory(instance, memory + MEMORY) - memory
    harm = compare(ordinary.visit, instance)
    if not harm and grown > MEMORY + _SHARE * ordinary.memory * probed.requests:
        harm = f"grew by {grown / 1024**2:.0f} MiB"
    if not harm and left is not None and left > TASKS + _SHARE * ordinary.tasks * probed.requests:
        harm = f"has {left} more tasks or sessions"
    return Outcome(probed.requests, harm, grown, left, probed.failure)


def compare(first: Visit, instance: Instance) -> str:
    """How a client is served worse than it was; empty when it is served as before. The best of three visits counts."""
    harm = ""
    for _ in range(3):
        try:
            later = visit(instance.transport, instance.url)
        except Unwell as error:
            harm = str(error)
            continue
        if (later.tools, later.result) != (first.tools, first.result):
            return f"answers otherwise: {later.tools} {later.result}"
        if later.seconds <= max(SLOW_SECONDS, SLOWER * first.seconds):
            return ""
        harm = f"takes {later.seconds:.1f} s, took {first.seconds:.1f} s"
    return harm


def _settled_tasks(instance: Instance, at_most: int | None = None) -> int | None:
    """The tasks once their number no longer changes, or is not larger than it may be."""
    end, before = time.monotonic() + _SETTLE_SECONDS, None
    while (now := instance.tasks()) is not None:
        if (at_most is not None and now <= at_most) or (at_most is None and now == before) or time.monotonic() > end:
            return now
        before = now
        time.sleep(0.1)
    return None


def _settled_memory(instance: Instance, at_most: int) -> int:
    """The memory once it is not larger than it may be, or after a while: a process for one request may end late."""
    end = time.monotonic() + _EXIT_SECONDS
    while (now := instance.memory()) > at_most and time.monotonic() < end:
        time.sleep(0.1)
    return now


def _measure_process(environment: Environment, folder: Path) -> Row:
    """Over standard streams every client has a process of its own, so that only the answers are compared."""
    target = starting.target(environment, folder)
    first = stdio_client.visit_process(target.arguments)
    outcomes = {}
    for depth in (CORE, FULL):
        probed = probe(target, depth)
        later = stdio_client.visit_process(target.arguments)
        same = (later.tools, later.result) == (first.tools, first.result)
        outcomes[depth] = Outcome(probed.requests, "" if same else "answers otherwise", failure=probed.failure)
    return Row(environment, STDIO, str(first.result.get("protocolVersion")), outcomes)
