"""The Collector contract: a named, versioned source of records about one server."""

from __future__ import annotations

from typing import Protocol

from evidence.model import Dossier, Record, Server


class Collector(Protocol):
    """A source of evidence. `version` is bumped whenever what it asks or records changes (DESIGN 4)."""

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
