"""Probes one server at every depth and looks after each probe whether an ordinary client is served as before."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evidence.model import Target, TargetType
from tests.matrix import starting, visiting
from tests.matrix.client import Unwell, Visit, visit
from tests.matrix.instance import Instance
from tests.matrix.probing import CORE, DEPTHS, FULL, probe
from tests.matrix.versions import SSE, STDIO, Environment

MEMORY = 12 * 1024 * 1024
"""Bytes by which a probe may make a server process grow. A pool of buffers grows by some MiB on the first requests."""

SLOWER, SLOW_SECONDS = 5.0, 2.0
"""A client is served as before within so many times its earlier time, or within so many seconds."""

_WARM = 3  # visits before the first measurement
_SETTLE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one probe did. `harm` is empty for a server that serves as before.

    `left`: the tasks (Python) or sessions (Node) that it has more than before; None when the server does not tell.
    """

    requests: int
    harm: str
    memory: int = 0
    left: int | None = None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One server: its transport, the version that it negotiates, and the outcome of each depth."""

    environment: Environment
    transport: str
    negotiated: str
    outcomes: Mapping[str, Outcome]

    @property
    def harms(self) -> Mapping[str, str]:
        return {depth: one.harm for depth, one in self.outcomes.items() if one.harm}

    def told(self) -> str:
        """The row in one line: requests, memory and what is left of each depth, and the harm."""
        words = []
        for depth, one in self.outcomes.items():
            left = "" if one.left is None else f", {one.left:+d} left"
            harm = f": {one.harm}" if one.harm else ""
            failure = f" (not listed: {one.failure})" if one.failure else ""
            words.append(f"{depth} {one.requests} requests, {one.memory / 1024**2:+.1f} MiB{left}{failure}{harm}")
        return f"{self.negotiated}; {'; '.join(words)}"


def measure(environment: Environment, folder: Path, transport: str) -> Row:
    """Probe a server at every depth. After harm the next depth gets a new process."""
    if transport == STDIO:
        return _measure_process(environment, folder)
    outcomes: dict[str, Outcome] = {}
    negotiated = ""
    while remaining := [depth for depth in DEPTHS if depth not in outcomes]:
        with starting.start(environment, folder, transport) as instance:
            first = _warm(instance)
            negotiated = str(first.result.get("protocolVersion"))
            for depth in remaining:
                outcomes[depth] = _outcome(instance, first, depth)
                if outcomes[depth].harm:
                    break
    return Row(environment, transport, negotiated, outcomes)


def _warm(instance: Instance) -> Visit:
    for _ in range(_WARM - 1):
        visit(instance.transport, instance.url)
    return min((visit(instance.transport, instance.url) for _ in range(2)), key=lambda one: one.seconds)


def _outcome(instance: Instance, first: Visit, depth: str) -> Outcome:
    memory, tasks = instance.memory(), instance.tasks()
    kind = TargetType.SSE if instance.transport == SSE else TargetType.STREAMABLE_HTTP
    probed = probe(Target(type=kind, identifier=instance.url), depth)
    left = _left(instance, tasks)
    harm = compare(first, instance)
    grown = instance.memory() - memory
    if not harm and grown > MEMORY:
        harm = f"grew by {grown / 1024**2:.0f} MiB"
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


def _left(instance: Instance, before: int | None) -> int | None:
    end = time.monotonic() + _SETTLE_SECONDS
    while (now := instance.tasks()) is not None and before is not None:
        if now <= before or time.monotonic() > end:
            return now - before
        time.sleep(0.1)
    return None


def _measure_process(environment: Environment, folder: Path) -> Row:
    """Over standard streams every client has a process of its own, so that only the answers are compared."""
    target = starting.target(environment, folder)
    first = visiting.visit_process(target.arguments)
    outcomes = {}
    for depth in (CORE, FULL):
        probed = probe(target, depth)
        later = visiting.visit_process(target.arguments)
        same = (later.tools, later.result) == (first.tools, first.result)
        outcomes[depth] = Outcome(probed.requests, "" if same else "answers otherwise", failure=probed.failure)
    return Row(environment, STDIO, str(first.result.get("protocolVersion")), outcomes)
