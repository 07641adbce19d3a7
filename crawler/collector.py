"""The interfaces of sources of evidence: Collector, Follower and Deriver.

A collector contacts the server, a follower needs the records of the current run, and a deriver uses only records.
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
    """The scarce resource that a collector or follower needs; it decides the stage of a run in which it works."""

    SERVER = "server"  # a connection to the server itself, or a sandbox in which it runs
    INDEX = "index"  # one or two requests to a package index
    GITHUB = "github"  # the quota of a source host
    PROCESSOR = "processor"  # archives of source, which take long to read


class Source(Protocol):
    """The common declarations of sources. `version` is bumped whenever the requests or the records change."""

    @property
    def name(self) -> str:
        """A stable name, stored in each record."""
        ...

    @property
    def version(self) -> int: ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that it records: it returns exactly one record for each. `evidence.kinds` declares their traits."""
        ...


class Collector(Source, Protocol):
    """A source of evidence that needs only the registration of the server."""

    @property
    def needs(self) -> Scarce: ...

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        """Collect evidence about one server and return one record for each kind.

        A failure of the server or a third party is an Absent record and a normal return. Only failures of our own
        infrastructure raise. `earlier` is the last dossier of the same server, for conditional requests.
        """
        ...


class Follower(Source, Protocol):
    """A source of evidence that needs earlier records of the same run.

    For example, a package's metadata names its repository, whose head names the archive to read. Followers run after
    all collectors, in the order of these dependencies.
    """

    @property
    def needs(self) -> Scarce: ...

    async def follow(self, found: Dossier, earlier: Dossier) -> list[Record]:
        """Collect more evidence about `found.server`; `found.records` are its records of this run so far.

        A failure of a third party is an Absent record and a normal return. For a failure on our side, the records of an
        earlier run stay valid for a bounded time. Only failures of our own infrastructure raise.
        """
        ...


class Deriver(Source, Protocol):
    """A source of evidence without network access: its records follow from other records.

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
