"""Puts a run on the board while it is printed: no server is read twice for it.

Whoever prints a batch tells in a few bytes what the board needs of it, which may be another process; whoever joins the
pages writes it down.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from evidence.model import Run, Server
from evidence.store import ListedServer, Store
from evidence.store.community.claim_values import ClaimState
from evidence.store.listing.server_packing import pack_server, unpack_server
from publish.formats.run_files import FileForm
from publish.publication.dashboard import DashboardCounter, MoverCounter
from publish.publication.manifest import ExportBatches
from publish.publication.receipt_counts import ReceiptCounts
from publish.publication.run_export import ExportedBatch
from publish.views.listed_servers import count_server
from publish.views.public_servers import PublicServer, read_public_servers

_CLAIMS: Final = 1_000_000
"""Claims that are read at once: all of them."""


def summarize_batch(servers: Sequence[PublicServer], run: str, controlled: frozenset[str] = frozenset()) -> bytes:
    """What the board needs of some servers; `controlled` are those whose owners proved that they control them."""
    tally, rows = ReceiptCounts(), []
    for server in servers:
        one = count_server(server, run, controlled=server.dossier.server.id in controlled)
        tally.add(one.newest)
        rows.append(_row(one.listed))
    return json.dumps({"rows": rows, "tally": tally.tell()}).encode()  # names may hold what is not Unicode


def list_controlled_servers(store: Store) -> frozenset[str]:
    """Servers whose owners have proved by now that they control them."""
    return frozenset(
        claim.server for claim in store.claims.list_claims(limit=_CLAIMS) if claim.state is ClaimState.PROVEN
    )


class ListingWriter:
    """A new edition of the board: `join` what was told of each batch, in order, then `finish`."""

    def __init__(self, store: Store, run: Run) -> None:
        self._run = run.id
        self._edition = store.listing.write_edition(self._run)
        self._front = DashboardCounter(MoverCounter(store, run))

    def join(self, page: bytes) -> None:
        """Put the servers of a batch on the board."""
        batch = json.loads(page)
        self._front.tally.join(batch["tally"])
        for row in batch["rows"]:
            listed = _listed(row, self._run)
            self._edition.add(listed)
            self._front.add(listed)

    def finish(self) -> None:
        """Complete the edition: it is shown as soon as its run is published."""
        self._edition.finish(json.dumps(self._front.tell()).encode())


def write_listing_meanwhile(store: Store, run: Run, pages: Iterable[ExportedBatch]) -> Iterator[ExportedBatch]:
    """The same pages; when the last one was handed on, an edition with all of them is complete."""
    posting = ListingWriter(store, run)
    for page in pages:
        posting.join(page.told)
        yield page
    posting.finish()


def export_and_list(run: Run, by: ExportBatches) -> ExportBatches:
    """Prints a run as `by` does, and puts it on the board meanwhile; `by` tells what the board needs."""

    def pages(store: Store, run_id: str, forms: Sequence[FileForm]) -> Iterator[ExportedBatch]:
        return write_listing_meanwhile(store, run, by(store, run_id, forms))

    return pages


def write_listing(store: Store, run: Run, batch: int = 50) -> None:
    """Put a run on the board that was printed before, by reading all of it once more."""
    posting, controlled = ListingWriter(store, run), list_controlled_servers(store)
    waiting: list[PublicServer] = []
    for server in read_public_servers(store, run.id):
        waiting.append(server)
        if len(waiting) == batch:
            posting.join(summarize_batch(waiting, run.id, controlled))
            waiting.clear()
    posting.join(summarize_batch(waiting, run.id, controlled))
    posting.finish()


def _row(listed: ListedServer) -> list[object]:
    """Without the server's targets, which are in the table of servers."""
    server = listed.server
    return [server.ref, server.name, server.seen_in, listed.as_of.isoformat(), pack_server(listed).decode()]


def _listed(row: Sequence[Any], run: str) -> ListedServer:
    ref, name, seen_in, seen, body = row
    return unpack_server(
        body.encode(), Server(ref=ref, name=name, seen_in=tuple(seen_in)), run, datetime.fromisoformat(seen)
    )
