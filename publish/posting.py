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
from evidence.store import Listed, Store
from evidence.store.board_packing import pack, unpack
from evidence.store.claim_rows import ClaimState
from publish.board import told
from publish.dataset import Page, Published, published
from publish.forms import Form
from publish.front import Front, Movers
from publish.snapshot import Printed
from publish.tally import Tally

_CLAIMS: Final = 1_000_000
"""Claims that are read at once: all of them."""


def tell(servers: Sequence[Published], run: str, controlled: frozenset[str] = frozenset()) -> bytes:
    """What the board needs of some servers; `controlled` are those whose owners proved that they control them."""
    tally, rows = Tally(), []
    for server in servers:
        one = told(server, run, controlled=server.dossier.server.id in controlled)
        tally.add(one.newest)
        rows.append(_row(one.listed))
    return json.dumps({"rows": rows, "tally": tally.tell()}).encode()  # names may hold what is not Unicode


def controlled_servers(store: Store) -> frozenset[str]:
    """Servers whose owners have proved by now that they control them."""
    return frozenset(claim.server for claim in store.claims.read(limit=_CLAIMS) if claim.state is ClaimState.PROVEN)


class Posting:
    """A new edition of the board: `join` what was told of each batch, in order, then `finish`."""

    def __init__(self, store: Store, run: Run) -> None:
        self._run = run.id
        self._edition = store.board.posting(self._run)
        self._front = Front(Movers(store, run))

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


def posted(store: Store, run: Run, pages: Iterable[Page]) -> Iterator[Page]:
    """The same pages; when the last one was handed on, an edition with all of them is complete."""
    posting = Posting(store, run)
    for page in pages:
        posting.join(page.told)
        yield page
    posting.finish()


def printed(run: Run, by: Printed) -> Printed:
    """Prints a run as `by` does, and puts it on the board meanwhile; `by` tells what the board needs."""

    def pages(store: Store, run_id: str, forms: Sequence[Form]) -> Iterator[Page]:
        return posted(store, run, by(store, run_id, forms))

    return pages


def post(store: Store, run: Run, batch: int = 50) -> None:
    """Put a run on the board that was printed before, by reading all of it once more."""
    posting, controlled = Posting(store, run), controlled_servers(store)
    waiting: list[Published] = []
    for server in published(store, run.id):
        waiting.append(server)
        if len(waiting) == batch:
            posting.join(tell(waiting, run.id, controlled))
            waiting.clear()
    posting.join(tell(waiting, run.id, controlled))
    posting.finish()


def _row(listed: Listed) -> list[object]:
    """Without the server's targets, which are in the table of servers."""
    server = listed.server
    return [server.ref, server.name, server.seen_in, listed.as_of.isoformat(), pack(listed).decode()]


def _listed(row: Sequence[Any], run: str) -> Listed:
    ref, name, seen_in, seen, body = row
    return unpack(body.encode(), Server(ref=ref, name=name, seen_in=tuple(seen_in)), run, datetime.fromisoformat(seen))
