"""The contracts of sources of evidence: Collector, Follower and Deriver.

A collector asks the server, a follower needs what the run has found so far, and a deriver computes from records alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from evidence.canonical import Json
from evidence.kinds.traits import schemas
from evidence.model import Absent, Dossier, Observed, Record, Server


class Scarce(StrEnum):
    """The scarce resource that a collector or follower needs, which decides in which part of a fleet's run it works."""

    SERVER = "server"  # a connection to the server itself, or a box in which it runs
    INDEX = "index"  # one or two requests to a package index
    GITHUB = "github"  # the quota of a source host
    PROCESSOR = "processor"  # archives and their source, which take time to read


class Source(Protocol):
    """What every source of evidence declares. `version` is bumped whenever what it asks or records changes."""

    @property
    def name(self) -> str:
        """Stable name, recorded in each record."""
        ...

    @property
    def version(self) -> int:
        """Version of what this source asks and records."""
        ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that it records: it returns exactly one record for each. Their traits stand in `evidence.kinds`."""
        ...


class Collector(Source, Protocol):
    """A source of evidence that needs the server's registration only."""

    @property
    def needs(self) -> Scarce:
        """The scarce resource."""
        ...

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        """Ask about one server and return one record per kind.

        What the world refuses is an Absent record and a normal return. Only our own infrastructure raises.
        `earlier` is the last dossier of the same server, for conditional requests.
        """
        ...


class Follower(Source, Protocol):
    """A source of evidence that needs what this run has found of the server so far.

    A package's metadata names its repository, a repository's head names the archive to read, and so on. Followers run
    after all collectors, in an order in which each finds what it asks for.
    """

    @property
    def needs(self) -> Scarce:
        """The scarce resource."""
        ...

    async def follow(self, found: Dossier, earlier: Dossier) -> list[Record]:
        """Ask further about `found.server`, whose records of this run so far are `found.records`.

        What the world refuses is an Absent record and a normal return. When the failure is ours, what an earlier run
        observed stands for a bounded time. Only our own infrastructure raises.
        """
        ...


class Deriver(Source, Protocol):
    """A source of evidence that contacts nothing: its records follow from other records.

    Derivers run last, also for servers that a run did not reach, and again when a run is rescored.
    """

    def derive(self, found: Dossier, earlier: Dossier, at: datetime) -> list[Record]:
        """The records that follow from those of this run and of the run before, observed at `at`; pure."""
        ...


def make_record(
    source: Source,
    server: Server,
    kind: str,
    content: Observed | Absent,
    observation: Mapping[str, Json] | None = None,
    *,
    at: datetime,
) -> Record:
    """A record of `source` with its name and version and the schema of the kind."""
    return Record(
        server=server.id,
        kind=kind,
        schema=schemas()[kind],
        collector=source.name,
        collector_version=source.version,
        observed_at=at,
        content=content,
        observation=observation or {},
    )
