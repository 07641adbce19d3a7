"""The contracts of sources of evidence: Collector, and Follower for one that needs what others found before it."""

from __future__ import annotations

from typing import Protocol

from evidence.model import Dossier, Record, Server


class Collector(Protocol):
    """A source of evidence. `version` is bumped whenever what it asks or records changes."""

    @property
    def name(self) -> str:
        """Stable name, recorded in each record."""
        ...

    @property
    def version(self) -> int:
        """Version of what this collector asks and records."""
        ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds it answers for: `collect` returns exactly one record per kind."""
        ...

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        """Look at one server and return one record per kind.

        What the world refuses is an Absent record and a normal return. Only our own infrastructure raises.
        `earlier` is the last dossier of the same server, for conditional requests.
        """
        ...


class Follower(Protocol):
    """A source of evidence that needs to know what this run has found of the server so far.

    A package's metadata names its repository, a repository's head names the archive to read, and so on. Followers run
    after all collectors, in an order in which each finds what it asks for.
    """

    @property
    def name(self) -> str:
        """Stable name, recorded in each record."""
        ...

    @property
    def version(self) -> int:
        """Version of what this follower asks and records."""
        ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds it answers for: `follow` returns exactly one record per kind."""
        ...

    async def follow(self, found: Dossier, earlier: Dossier) -> list[Record]:
        """Look further at `found.server`, whose records of this run so far are `found.records`.

        What the world refuses is an Absent record and a normal return. When it is we who could not look, what an
        earlier night observed stands for a bounded time (docs/decisions/0015). Only our own infrastructure raises.
        """
        ...
