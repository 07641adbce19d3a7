"""Publishes a run in parts: the servers of each part are listed and counted, at any time, by any worker."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from evidence.model import Run, ServerId
from evidence.store import Store
from evidence.store.community.claim_values import ClaimState
from evidence.store.runs.publication_parts import PublicationPart
from publish.publication.dashboard import ServerCounter, make_dashboard
from publish.publication.server_tallies import ServerTallies
from publish.views.listed_servers import CountedServer, count_server
from publish.views.public_servers import read_servers_to_count

PART_SIZE: Final = 250
"""Planned servers of a part, some seconds of work."""

_CLAIMS: Final = 1_000_000
"""Claims that are read at once: all of them."""


class PartWriter:
    """Writes parts of one run; `server` is the last one that was begun, for an error's message."""

    server: ServerId | None = None

    def __init__(self, store: Store, run: Run) -> None:
        self._store, self._run = store, run
        self._controlled = list_controlled_servers(store)
        self._counter = ServerCounter(store, run)

    def write(self, part: PublicationPart) -> bool:
        """Write the listed servers and counts of a part; False, and nothing is written, if its lease was lost."""
        counted: list[CountedServer] = []
        for server in read_servers_to_count(self._store, self._run.id, part.servers):
            self.server = server.dossier.server.id
            controlled = self.server in self._controlled
            counted.append(count_server(server, self._run.id, controlled=controlled))
        counts = json.dumps(self._counter.count(counted).as_json()).encode()
        return self._store.publication.finish(part, [one.listed for one in counted], counts)


def join_parts(store: Store, run: Run) -> bytes:
    """The numbers of the dashboard from the counts of all parts; the servers are not read again."""
    tallies = ServerTallies()
    for counts in map(json.loads, store.publication.read_counts(run.id)):
        tallies.merge(counts)
    return json.dumps(make_dashboard(store, run, tallies)).encode()


def split_parts(planned: Sequence[ServerId]) -> Iterable[Sequence[ServerId]]:
    """The servers of each part."""
    return [planned[first : first + PART_SIZE] for first in range(0, len(planned), PART_SIZE)]


def list_controlled_servers(store: Store) -> frozenset[str]:
    """Servers with proven control."""
    claims = store.claims.list_claims(limit=_CLAIMS)
    return frozenset(claim.server for claim in claims if claim.state is ClaimState.PROVEN)
