"""Exports one run as JSON Lines with everything public, or as a flat CSV of the scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

from evidence.model import Dossier, Run
from evidence.store import RunRow, Store, StoredScorecard, UnknownRun
from publish.formats.run_files import FileForm, FileFormat, describe_server, encode_server
from publish.views.public_servers import PublicServer, read_batch, split_batches

_TIMES = ("as_of",)

ReceiptFilter: TypeAlias = Callable[[Sequence[StoredScorecard]], Sequence[StoredScorecard]]
BatchSummary: TypeAlias = Callable[[Sequence[PublicServer]], bytes]


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
    for batch in islice(split_batches(store.list_planned_servers(stored.run.id)), share.number, None, share.of):
        servers = list(read_batch(store, stored.run.id, batch, stored.published_at))
        lines = [_lines(stored.run, server, keep(server.cards), forms) for server in servers]
        parts = [b"".join(parts) for parts in zip(*lines, strict=True)] or [b""] * len(forms)
        yield ExportedBatch(len(lines), parts, tell(servers))


def _lines(run: Run, server: PublicServer, cards: Sequence[StoredScorecard], forms: Sequence[FileForm]) -> list[bytes]:
    return encode_server(run, server.dossier, cards, forms, server.values if cards is server.cards else None)


def receipt_as_json(card: StoredScorecard, *, comparable: bool = False) -> dict[str, Any]:
    """A stored receipt as JSON values; the comparable form lacks its clock times."""
    body: dict[str, Any] = json.loads(card.body)
    return {name: value for name, value in body.items() if not (comparable and name in _TIMES)}


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
