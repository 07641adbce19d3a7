"""Export of one run as a dataset: JSON Lines with everything that may be shown, or a flat CSV of the scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

from evidence.model import Dossier, Run, ServerId
from evidence.store import FindingRow, FindingState, RunRow, Store, StoredScorecard, UnknownRun
from publish.disclosure import (
    NOT_REVIEWED,
    PublicRecords,
    disclose_dossier,
    may_name_private,
    redact_receipt_body,
)
from publish.findings.identity import DECIDED_STATES, find_private_findings, match_reviews
from publish.formats.run_files import FileForm, FileFormat, decode_receipts, describe_server, encode_server
from publish.private_answers import cite_public_digests
from scoring import receipt

BATCH_SIZE = 50
_TIMES = ("as_of",)

ReceiptFilter: TypeAlias = Callable[[Sequence[StoredScorecard]], Sequence[StoredScorecard]]
BatchSummary: TypeAlias = Callable[[Sequence["PublicServer"]], bytes]


@dataclass(frozen=True, slots=True)
class ExportedBatch:
    """The lines of a batch of servers, one part for each form, and what was to be told of them besides."""

    servers: int
    parts: Sequence[bytes]
    told: bytes = b""


@dataclass(frozen=True, slots=True)
class WorkerShare:
    """Every so manieth batch of a run, from a first one on: what one of several processes prints."""

    number: int = 0
    of: int = 1


WHOLE_RUN: Final = WorkerShare()


def _all_of_them(cards: Sequence[StoredScorecard]) -> Sequence[StoredScorecard]:
    return cards


def _nothing(_servers: Sequence[PublicServer]) -> bytes:
    return b""


def export_run(
    store: Store,
    run_id: str,
    out: Path | IO[bytes],
    *,
    format: FileFormat,  # noqa: A002
    comparable: bool = False,
    keep: ReceiptFilter = _all_of_them,
) -> int:
    """Write one run to `out`, sorted by server id, and return the number of servers written.

    Of each server's receipts those are written that `keep` gives back.

    The same store gives the same bytes. The comparable form leaves out the run's id, clock times and durations, so two
    runs that saw and concluded the same are equal byte for byte. Servers are read in batches: memory does not grow
    with the run. A file appears under its name only when it is complete.
    """
    form = FileForm(format, comparable)
    pages = export_batches(store, run_id, [form], keep=keep)
    with open_atomically(out) as sink:
        return write_batches(pages, {form: sink})


def export_batches(
    store: Store,
    run_id: str,
    forms: Sequence[FileForm],
    *,
    keep: ReceiptFilter = _all_of_them,
    share: WorkerShare = WHOLE_RUN,
    tell: BatchSummary = _nothing,
) -> Iterator[ExportedBatch]:
    """A run in several forms at once, batch by batch; raise UnknownRun when it is asked for and not stored.

    `tell` says in a few bytes what else is to be known of the servers of a batch.
    """
    stored = store.find_run(run_id)
    if stored is None:
        raise UnknownRun(f"expected the id of a stored run, found {run_id!r}; `hallmark runs` lists them")
    return _pages(store, stored, forms, keep, share=share, tell=tell)


def write_batches(pages: Iterable[ExportedBatch], sinks: Mapping[FileForm, IO[bytes]]) -> int:
    """Write pages, which are in the order of the sinks, below the openings of their forms; how many servers."""
    for form, sink in sinks.items():
        sink.write(form.opening)
    count = 0
    for page in pages:
        count += page.servers
        for part, sink in zip(page.parts, sinks.values(), strict=True):
            sink.write(part)
    return count


def _pages(
    store: Store,
    stored: RunRow,
    forms: Sequence[FileForm],
    keep: ReceiptFilter,
    *,
    share: WorkerShare,
    tell: BatchSummary,
) -> Iterator[ExportedBatch]:
    for batch in islice(_batches(store.list_planned_servers(stored.run.id)), share.number, None, share.of):
        servers = list(_published(store, stored.run.id, batch, stored.published_at))
        lines = [_lines(stored.run, server, keep(server.cards), forms) for server in servers]
        parts = [b"".join(parts) for parts in zip(*lines, strict=True)] or [b""] * len(forms)
        yield ExportedBatch(len(lines), parts, tell(servers))


def _lines(run: Run, server: PublicServer, cards: Sequence[StoredScorecard], forms: Sequence[FileForm]) -> list[bytes]:
    return encode_server(run, server.dossier, cards, forms, server.values if cards is server.cards else None)


@dataclass(frozen=True)
class PublicServer:
    """What anybody may see of one server: its public records and receipts, and the findings that were disclosed."""

    dossier: Dossier
    cards: Sequence[StoredScorecard]
    disclosed: tuple[FindingRow, ...] = ()

    @cached_property
    def values(self) -> Sequence[dict[str, Any]]:
        """The receipts as JSON values, read once for all who print them."""
        return decode_receipts(self.cards)


def read_public_servers(
    store: Store,
    run_id: str,
    *,
    until: datetime | None = None,
    servers: Sequence[ServerId] | None = None,
    rubric: str | None = None,
) -> Iterator[PublicServer]:
    """What may be shown of each server of a run, or of some, and of its receipts, by server id, read in batches.

    A server that is asked for and was not in the run comes without records and receipts. With `rubric` the receipts of
    other methodologies are left out, unless a finding of the server was decided: then all of them are needed.

    With `until`, decisions about findings that were made later count as not made: a run's files stay those that its
    manifest names. A finding that was made private again is never shown, also not as of a moment when it was public.
    """
    for batch in _batches(store.list_planned_servers(run_id) if servers is None else servers):
        yield from _published(store, run_id, batch, until, rubric)


def _published(
    store: Store, run_id: str, batch: Sequence[ServerId], until: datetime | None, rubric: str | None = None
) -> Iterator[PublicServer]:
    decided = _decided(store, batch, until)
    cards: dict[ServerId, list[StoredScorecard]] = {}
    for card in store.read_scorecards(run_id, servers=batch, rubric=None if decided else rubric):
        cards.setdefault(card.server, []).append(card)
    for dossier in sorted(store.read_dossiers(run_id, batch), key=lambda item: item.server.id):
        shown = disclose_dossier(dossier)
        if isinstance(shown, PublicRecords):
            server = dossier.server.id
            yield _public(dossier, shown, cards.get(server, []), decided.get(server, []))


def _public(
    dossier: Dossier, shown: PublicRecords, cards: Sequence[StoredScorecard], rows: Sequence[FindingRow]
) -> PublicServer:
    ordered = sorted(cards, key=lambda card: (card.rubric, card.version))
    told = NOT_REVIEWED
    if rows:
        receipts = [receipt.decode_scorecard(card.body) for card in ordered if may_name_private(card.body)]
        told = match_reviews(dossier, receipts, rows)
        here = {one.id for one in find_private_findings(dossier, receipts)}
        rows = [row for row in rows if row.finding.id in here and row.state is FindingState.PUBLIC_DISCLOSED]
    changed = [(dossier.records[kind], record) for kind, record in shown.records.items()]
    public = [
        replace(card, body=cite_public_digests(redact_receipt_body(card.body, told), changed)) for card in ordered
    ]
    return PublicServer(replace(dossier, records=shown.records), public, tuple(rows))


def _decided(store: Store, servers: Sequence[ServerId], until: datetime | None) -> Mapping[ServerId, list[FindingRow]]:
    """The findings of these servers about which somebody decided, by then."""
    found: dict[ServerId, list[FindingRow]] = {}
    for row in store.read_findings(servers=servers, states=DECIDED_STATES):
        if until is None or row.since <= until:
            found.setdefault(row.finding.server, []).append(row)
    return found


def receipt_as_json(card: StoredScorecard, *, comparable: bool = False) -> dict[str, Any]:
    """A stored receipt as JSON values; the comparable form lacks its clock times."""
    body: dict[str, Any] = json.loads(card.body)
    return {name: value for name, value in body.items() if not (comparable and name in _TIMES)}


def _batches(servers: Sequence[ServerId]) -> Iterator[Sequence[ServerId]]:
    ordered = sorted(servers)
    for start in range(0, len(ordered), BATCH_SIZE):
        yield ordered[start : start + BATCH_SIZE]


def server_as_json(dossier: Dossier, cards: Sequence[StoredScorecard], *, comparable: bool = False) -> dict[str, Any]:
    """One server as JSON values: who it is, its records, its receipts. No gate: callers decide who sees it."""
    return {
        **describe_server(dossier, comparable=comparable),
        "scorecards": [receipt_as_json(card, comparable=comparable) for card in cards],
    }


@contextmanager
def open_atomically(out: Path | IO[bytes]) -> Iterator[IO[bytes]]:
    """A file to write to, which has its name only when it is complete; what is open already stays as it is."""
    if not isinstance(out, Path):
        yield out
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}.partial")
    try:
        with partial.open("wb") as file:
            yield file
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
