"""The interface of launchers of stdio servers: a byte pipe that can always be stopped."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from evidence.canonical import Json
from evidence.kinds.behaviour import Behaviour
from evidence.model import Absent, Target


class ProcessExit(Struct, frozen=True):
    """The end of a started server: exit code (negative: signal; None: killed by us) and the tail of its stderr.

    `limit`: the limit of the sandbox at which we killed it, for example `memory limit of 1024 MiB`. `ports`: the TCP
    ports on which it listened when we killed it, where the sandbox sees them.
    """

    code: int | None
    stderr: str
    limit: str = ""
    ports: tuple[int, ...] = ()


class LaunchedServer(Protocol):
    """A running stdio server."""

    @property
    def runtime(self) -> str:
        """One of `evidence.kinds.listing.CONTAINING`, or a runtime that does not contain: `none`, or a box with
        network.
        """
        ...

    @property
    def facts(self) -> Mapping[str, Json]:
        """Stable facts about the started package, such as the resolved version and the digest of the layer."""
        ...

    @property
    def behaviour(self) -> Behaviour | Absent:
        """Attempts to reach beyond the box, available once the server is stopped; Absent where not observed."""
        ...

    async def read(self, limit: int) -> bytes:
        """At most `limit` bytes of stdout; empty at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Write to stdin; raise BrokenPipeError or ConnectionError when it is closed."""
        ...

    def list_ports(self) -> tuple[int, ...]:
        """The TCP ports on which it listens now; empty where the sandbox does not see them."""
        ...

    async def connect(self, port: int) -> socket.socket:
        """Connect to a port of a target that was launched with `launch.url`; raise OSError if that fails."""
        ...

    async def close_stdin(self) -> None:
        """Close stdin, which asks a well-behaved server to exit."""
        ...

    async def stop(self) -> ProcessExit:
        """Kill the process and every descendant; idempotent."""
        ...


class Launcher(Protocol):
    """Starts the server of a package or command target."""

    async def launch(self, target: Target) -> LaunchedServer | Absent:
        """Install if needed and start; Absent says why it could not be started."""
        ...


def name_substitute(declared: Json, version: Json) -> str:
    """How a reason begins when `version` was taken in place of the declared one."""
    return f"the index has no version {declared}; of {version}: "
