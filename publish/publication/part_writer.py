"""Publishes a run in parts: each part's lines are encoded and counted by themselves, at any time, by any worker.

Lines are not stored: the manifest has the digests of each part's lines, which every export gives again.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from evidence.model import Run, ServerId
from evidence.store import Store
from evidence.store.community.claim_values import ClaimState
from evidence.store.runs.publication_parts import PublicationPart
from publish.formats.run_files import FileForm, encode_server
from publish.publication.dashboard import ServerCounter, make_dashboard
from publish.publication.server_tallies import ServerTallies
from publish.views.listed_servers import CountedServer, count_server
from publish.views.public_servers import PublicServer, read_public_servers

RUN_FILES: Final[Mapping[str, FileForm]] = {
    "servers.jsonl": FileForm("jsonl"),
    "scores.csv": FileForm("csv"),
    "comparable.jsonl": FileForm("jsonl", comparable=True),
}

PART_SIZE: Final = 250
"""Planned servers of a part, some seconds of work. Manifests depend on it: raise their format with it."""

_CLAIMS: Final = 1_000_000
"""Claims that are read at once: all of them."""


class FileDigests:
    """Size and SHA-256 of the lines that the servers of a part have in each file; the first part has the headers."""

    def __init__(self, run: Run, *, is_first: bool) -> None:
        self._run = run
        self._servers = 0
        self._sinks = {form: _Digest(form.opening if is_first else b"") for form in RUN_FILES.values()}

    def add(self, server: PublicServer) -> None:
        self._servers += 1
        lines = encode_server(self._run, server.dossier, server.cards, list(self._sinks), server.values)
        for sink, line in zip(self._sinks.values(), lines, strict=True):
            sink.write(line)

    def as_json(self) -> dict[str, Any]:
        """By name of the file."""
        return {
            name: {
                "sha256": self._sinks[form].sha256.hexdigest(),
                "bytes": self._sinks[form].size,
                "servers": self._servers,
            }
            for name, form in RUN_FILES.items()
        }


class WrittenParts(Struct, frozen=True):
    """The parts of a run together: the digests of each in their order, and the numbers of the dashboard."""

    digests: Sequence[Mapping[str, Any]]
    front: bytes


class PartWriter:
    """Writes parts of one run; `server` is the last one that was begun, for an error's message."""

    server: ServerId | None = None

    def __init__(self, store: Store, run: Run) -> None:
        self._store, self._run = store, run
        self._controlled = list_controlled_servers(store)
        self._counter = ServerCounter(store, run)

    def write(self, part: PublicationPart) -> bool:
        """Write the listed servers and counts of a part; False, and nothing is written, if its lease was lost."""
        digests = FileDigests(self._run, is_first=part.first == 0)
        counted: list[CountedServer] = []
        for server in read_public_servers(self._store, self._run.id, until=part.reviews_until, servers=part.servers):
            self.server = server.dossier.server.id
            digests.add(server)
            controlled = self.server in self._controlled
            counted.append(count_server(server, self._run.id, controlled=controlled))
        tallies = self._counter.count(counted)
        counts = {"files": digests.as_json(), "tallies": tallies.as_json()}
        return self._store.publication.finish(part, [one.listed for one in counted], json.dumps(counts).encode())


def join_parts(store: Store, run: Run) -> WrittenParts:
    """Join the counts of all parts, in their order; the servers are not read again."""
    tallies, digests = ServerTallies(), []
    for counts in map(json.loads, store.publication.read_counts(run.id)):
        digests.append(counts["files"])
        tallies.merge(counts["tallies"])
    return WrittenParts(digests, json.dumps(make_dashboard(store, run, tallies)).encode())


def digest_parts(store: Store, run: Run, until: datetime | None = None) -> Iterator[Mapping[str, Any]]:
    """The digests of the parts of a run, read in this process and not stored."""
    planned = store.list_planned_servers(run.id)
    for servers in split_parts(planned):
        digests = FileDigests(run, is_first=servers[:1] == planned[:1])
        for server in read_public_servers(store, run.id, until=until, servers=servers):
            digests.add(server)
        yield digests.as_json()


def split_parts(planned: Sequence[ServerId]) -> Iterable[Sequence[ServerId]]:
    """The servers of each part."""
    return [planned[first : first + PART_SIZE] for first in range(0, len(planned), PART_SIZE)]


def list_controlled_servers(store: Store) -> frozenset[str]:
    """Servers with proven control."""
    claims = store.claims.list_claims(limit=_CLAIMS)
    return frozenset(claim.server for claim in claims if claim.state is ClaimState.PROVEN)


class _Digest(io.BytesIO):
    """A writer that keeps only digest and size."""

    def __init__(self, opening: bytes) -> None:
        super().__init__()
        self.sha256 = hashlib.sha256()
        self.size = 0
        self.write(opening)

    def write(self, data: Any, /) -> int:
        self.sha256.update(data)
        self.size += len(data)
        return len(data)
