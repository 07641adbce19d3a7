"""Exports one run as JSON Lines with everything public, or as a flat CSV of the scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, Protocol, TypeAlias

from msgspec import Struct

from evidence.model import Dossier, Run
from evidence.store import RunRow, Store, StoredScorecard, UnknownRun
from publish.formats.run_files import FileForm, FileFormat, describe_server, encode_server
from publish.views.public_servers import PublicServer, read_batch, split_batches

_TIMES = ("as_of",)

ReceiptFilter: TypeAlias = Callable[[Sequence[StoredScorecard]], Sequence[StoredScorecard]]


class ExportedBatch(Struct, frozen=True):
    """The encoded lines of a batch of servers, one part for each form."""

    servers: int
    parts: Sequence[bytes]


class WorkerShare(Struct, frozen=True):
    """The share of one process: the batches `number`, `number + of`, and so on."""

    number: int = 0
    of: int = 1


WHOLE_RUN: Final = WorkerShare()


def _keep_all(cards: Sequence[StoredScorecard]) -> Sequence[StoredScorecard]:
    return cards


def export_run(
    store: Store,
    run_id: str,
    out: Path | IO[bytes],
    *,
    format: FileFormat,  # noqa: A002
    comparable: bool = False,
    keep: ReceiptFilter = _keep_all,
) -> int:
    """Write one run to `out`, sorted by server id, and return the number of servers written.

    `keep` selects the receipts of each server.

    The same store gives the same bytes. The comparable form leaves out the run's id, clock times and durations, so two
    runs that saw and concluded the same are equal byte for byte. Servers are read in batches: memory does not grow
    with the run. A file appears under its name only when it is complete.
    """
    form = FileForm(format, comparable)
    batches = export_batches(store, run_id, [form], keep=keep)
    with open_atomically(out) as sink:
        return write_batches(batches, {form: sink})


def export_batches(
    store: Store,
    run_id: str,
    forms: Sequence[FileForm],
    *,
    keep: ReceiptFilter = _keep_all,
    share: WorkerShare = WHOLE_RUN,
) -> Iterator[ExportedBatch]:
    """Encode a run in several forms at once, batch by batch; raise UnknownRun."""
    stored = store.find_run(run_id)
    if stored is None:
        raise UnknownRun(f"expected the id of a stored run, found {run_id!r}; `hallmark runs` lists them")
    return _encode_batches(store, stored, forms, keep, share)


class Sink(Protocol):
    """A file as far as the export needs it."""

    def write(self, data: bytes, /) -> object: ...


def write_batches(batches: Iterable[ExportedBatch], sinks: Mapping[FileForm, Sink]) -> int:
    """Write headers and batches, whose parts are in the order of the sinks; return the number of servers."""
    for form, sink in sinks.items():
        sink.write(form.opening)
    count = 0
    for batch in batches:
        count += batch.servers
        for part, sink in zip(batch.parts, sinks.values(), strict=True):
            sink.write(part)
    return count


def _encode_batches(
    store: Store,
    stored: RunRow,
    forms: Sequence[FileForm],
    keep: ReceiptFilter,
    share: WorkerShare,
) -> Iterator[ExportedBatch]:
    for batch in islice(split_batches(store.list_planned_servers(stored.run.id)), share.number, None, share.of):
        servers = read_batch(store, stored.run.id, batch, stored.reviews_until)
        lines = [_lines(stored.run, server, keep(server.cards), forms) for server in servers]
        parts = [b"".join(parts) for parts in zip(*lines, strict=True)] or [b""] * len(forms)
        yield ExportedBatch(len(lines), parts)


def _lines(run: Run, server: PublicServer, cards: Sequence[StoredScorecard], forms: Sequence[FileForm]) -> list[bytes]:
    return encode_server(run, server.dossier, cards, forms, server.values if cards is server.cards else None)


def receipt_as_json(card: StoredScorecard, *, comparable: bool = False) -> dict[str, Any]:
    """A stored receipt as JSON values; the comparable form lacks its clock times."""
    body: dict[str, Any] = json.loads(card.body)
    return {name: value for name, value in body.items() if not (comparable and name in _TIMES)}


def server_as_json(dossier: Dossier, cards: Sequence[StoredScorecard], *, comparable: bool = False) -> dict[str, Any]:
    """One server as JSON values with records and receipts. It applies no disclosure: that is up to the caller."""
    return {
        **describe_server(dossier, comparable=comparable),
        "scorecards": [receipt_as_json(card, comparable=comparable) for card in cards],
    }


@contextmanager
def open_atomically(out: Path | IO[bytes]) -> Iterator[IO[bytes]]:
    """A file that appears under its name when it is complete; an open file is used as it is."""
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
