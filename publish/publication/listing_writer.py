"""Writes the listing index of a run during its export, so that no server is read twice.

The process that encodes a batch also encodes its listing rows and counts as a summary; the process that joins the
batches writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
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
    """The listing rows and counts of some servers; `controlled` are servers with proven control."""
    tally, rows = ReceiptCounts(), []
    for server in servers:
        one = count_server(server, run, controlled=server.dossier.server.id in controlled)
        tally.add(one.newest)
        rows.append(_row(one.listed))
    return json.dumps({"rows": rows, "tally": tally.as_json()}).encode()  # names may contain lone surrogates


def list_controlled_servers(store: Store) -> frozenset[str]:
    """Servers with proven control."""
    return frozenset(
        claim.server for claim in store.claims.list_claims(limit=_CLAIMS) if claim.state is ClaimState.PROVEN
    )


class ListingWriter:
    """Writes an edition of the listing index: `join` the summary of each batch in order, then `finish`."""

    def __init__(self, store: Store, run: Run) -> None:
        self._run = run.id
        self._edition = store.listing.write_edition(self._run)
        self._dashboard = DashboardCounter(MoverCounter(store, run))

    def join(self, page: bytes) -> None:
        """Add the servers of a batch."""
        batch = json.loads(page)
        self._dashboard.tally.merge(batch["tally"])
        for row in batch["rows"]:
            listed = _listed(row, self._run)
            self._edition.add(listed)
            self._dashboard.add(listed)

    def finish(self) -> None:
        """Complete the edition, which is shown when its run is published."""
        self._edition.finish(json.dumps(self._dashboard.as_json()).encode())


def write_listing_meanwhile(store: Store, run: Run, pages: Iterable[ExportedBatch]) -> Iterator[ExportedBatch]:
    """Yield the same batches; after the last one, the edition is complete."""
    writer = ListingWriter(store, run)
    for page in pages:
        writer.join(page.summary)
        yield page
    writer.finish()


def export_and_list(run: Run, by: ExportBatches) -> ExportBatches:
    """Exports a run with `by` and writes its listing index; `by` must summarize each batch."""

    def pages(store: Store, run_id: str, forms: Sequence[FileForm]) -> Iterator[ExportedBatch]:
        return write_listing_meanwhile(store, run, by(store, run_id, forms))

    return pages


def write_listing(store: Store, run: Run, batch: int = 50) -> None:
    """Write the listing index of a run that was exported before, by reading it again."""
    writer, controlled = ListingWriter(store, run), list_controlled_servers(store)
    waiting: list[PublicServer] = []
    for server in read_public_servers(store, run.id):
        waiting.append(server)
        if len(waiting) == batch:
            writer.join(summarize_batch(waiting, run.id, controlled))
            waiting.clear()
    writer.join(summarize_batch(waiting, run.id, controlled))
    writer.finish()


def _row(listed: ListedServer) -> list[object]:
    """Without the server's targets, which are in the table of servers."""
    server = listed.server
    packed = pack_server(listed).decode()
    texts = [listed.tool_texts, listed.readme_texts]
    return [server.ref, server.name, server.seen_in, listed.as_of.isoformat(), texts, packed]


def _listed(row: Sequence[Any], run: str) -> ListedServer:
    ref, name, seen_in, seen, (tools, readme), body = row
    server = Server(ref=ref, name=name, seen_in=tuple(seen_in))
    listed = unpack_server(body.encode(), server, run, datetime.fromisoformat(seen))
    return replace(listed, tool_texts=tuple(tools), readme_texts=tuple(readme))
