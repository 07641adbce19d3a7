"""What the wire expects of something that starts a stdio server: a byte pipe that can always be stopped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from evidence.canonical import Json
from evidence.kinds.behaviour import Behaviour
from evidence.model import Absent, Target


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """How a started server ended: exit code (negative: signal, None: killed by us) and the tail of its stderr."""

    code: int | None
    stderr: str


class LaunchedServer(Protocol):
    """A running stdio server."""

    @property
    def runtime(self) -> str:
        """One of `evidence.kinds.listing.CONTAINING`, or what does not contain: `none`, or a box with a network."""
        ...

    @property
    def facts(self) -> Mapping[str, Json]:
        """Stable facts about what was started, such as the resolved version and the layer's digest."""
        ...

    @property
    def behaviour(self) -> Behaviour | Absent:
        """What it tried to reach beyond its box, once it is stopped; Absent where it is not observed."""
        ...

    async def read(self, limit: int) -> bytes:
        """At most `limit` bytes of its stdout, empty at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Write to its stdin; raise BrokenPipeError or ConnectionError when it is gone."""
        ...

    async def close_stdin(self) -> None:
        """Close its stdin, which asks a well-behaved server to exit."""
        ...

    async def stop(self) -> ProcessExit:
        """Kill it and every descendant; safe to call twice."""
        ...


class Launcher(Protocol):
    """Starts the server of a package or command target."""

    async def launch(self, target: Target) -> LaunchedServer | Absent:
        """Install if needed and start; Absent says why it could not be started."""
        ...
