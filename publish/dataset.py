"""Export of one run as a dataset: JSON Lines with everything that may be shown, or a flat CSV of the scores."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

from evidence.derive.scrubbing import scrub_body
from evidence.model import Absent, Dossier, Record, Run, ServerId
from evidence.store import FindingRow, FindingState, Store, StoredCard, UnknownRun
from publish.columns import COLUMNS, Row
from publish.disclosure import NOBODY_LOOKED, Shown, disclose, names_private, public_body
from publish.findings import DECIDED, reviewed, spotted
from scoring import receipt

Format: TypeAlias = Literal["jsonl", "csv"]

BATCH = 200
_TIMES = ("as_of",)


def export(
    store: Store,
    run_id: str,
    out: Path | IO[bytes],
    *,
    format: Format,  # noqa: A002
    comparable: bool = False,
    keep: Callable[[Sequence[StoredCard]], Sequence[StoredCard]] = lambda cards: cards,
) -> int:
    """Write one run to `out`, sorted by server id, and return the number of servers written.

    Of each server's receipts those are written that `keep` gives back.

    The same store gives the same bytes. The comparable form leaves out the run's id, clock times and durations, so two
    runs that saw and concluded the same are equal byte for byte. Servers are read in batches: memory does not grow
    with the run. A file appears under its name only when it is complete.
    """
    stored = store.run(run_id)
    if stored is None:
        raise UnknownRun(f"expected the id of a stored run, found {run_id!r}; `hallmark runs` lists them")
    with _sink(out) as sink:
        if format == "csv":
            sink.write(_csv_line([column.name for column in COLUMNS if not (comparable and column.volatile)]))
        count = 0
        for server in published(store, run_id, until=stored.published_at):
            write = _csv_lines if format == "csv" else _json_line
            sink.write(write(stored.run, server.dossier, keep(server.cards), comparable))
            count += 1
        return count


@dataclass(frozen=True, slots=True)
class Published:
    """What anybody may see of one server: its public records and receipts, and the findings that were disclosed."""

    dossier: Dossier
    cards: Sequence[StoredCard]
    disclosed: tuple[FindingRow, ...] = ()


def published(store: Store, run_id: str, *, until: datetime | None = None) -> Iterator[Published]:
    """What may be shown of each server of a run and of its receipts, in order of server id, read in batches.

    With `until`, decisions about findings that were made later count as not made: a run's files stay those that its
    manifest names. A finding that was made private again is never shown, also not as of a moment when it was public.
    """
    for batch in _batches(store.planned(run_id)):
        cards: dict[ServerId, list[StoredCard]] = {}
        for card in store.scorecards(run_id, servers=batch):
            cards.setdefault(card.server, []).append(card)
        decided = _decided(store, batch, until)
        for dossier in sorted(store.dossiers(run_id, batch), key=lambda item: item.server.id):
            shown = disclose(dossier)
            if isinstance(shown, Shown):
                server = dossier.server.id
                yield _public(dossier, shown, cards.get(server, []), decided.get(server, []))


def _public(dossier: Dossier, shown: Shown, cards: Sequence[StoredCard], rows: Sequence[FindingRow]) -> Published:
    ordered = sorted(cards, key=lambda card: (card.rubric, card.version))
    told = NOBODY_LOOKED
    if rows:
        receipts = [receipt.decode(card.body) for card in ordered if names_private(card.body)]
        told = reviewed(dossier, receipts, rows)
        here = {one.id for one in spotted(dossier, receipts)}
        rows = [row for row in rows if row.finding.id in here and row.state is FindingState.PUBLIC_DISCLOSED]
    public = [replace(card, body=public_body(card.body, told)) for card in ordered]
    return Published(replace(dossier, records=shown.records), public, tuple(rows))


def _decided(store: Store, servers: Sequence[ServerId], until: datetime | None) -> Mapping[ServerId, list[FindingRow]]:
    """The findings of these servers about which somebody decided, by then."""
    found: dict[ServerId, list[FindingRow]] = {}
    for row in store.findings(servers=servers, states=DECIDED):
        if until is None or row.since <= until:
            found.setdefault(row.finding.server, []).append(row)
    return found


def scorecard_body(card: StoredCard, *, comparable: bool = False) -> dict[str, Any]:
    """A stored receipt as JSON values; the comparable form lacks its clock times."""
    body: dict[str, Any] = json.loads(card.body)
    return {name: value for name, value in body.items() if not (comparable and name in _TIMES)}


def _batches(servers: Sequence[ServerId]) -> Iterator[Sequence[ServerId]]:
    ordered = sorted(servers)
    for start in range(0, len(ordered), BATCH):
        yield ordered[start : start + BATCH]


def describe(dossier: Dossier, cards: Sequence[StoredCard], *, comparable: bool = False) -> dict[str, Any]:
    """One server as JSON values: who it is, its records, its receipts. No gate: callers decide who sees it."""
    server = dossier.server
    return {
        "server": {"id": server.id, "ref": server.ref, "name": server.name, "seen_in": sorted(server.seen_in)},
        "records": {kind: _record(record, comparable) for kind, record in sorted(dossier.records.items())},
        "scorecards": [scorecard_body(card, comparable=comparable) for card in cards],
    }


def _json_line(run: Run, dossier: Dossier, cards: Sequence[StoredCard], comparable: bool) -> bytes:
    line = describe(dossier, cards, comparable=comparable)
    if not comparable:
        line["run"] = {"id": run.id, "as_of": run.as_of.isoformat()}
    return scrub_body(json.dumps(line, sort_keys=True, separators=(",", ":")).encode()) + b"\n"


def _record(record: Record, comparable: bool) -> dict[str, Any]:
    content = record.content
    absent = {"reason": content.reason.value, "detail": content.detail} if isinstance(content, Absent) else None
    row: dict[str, Any] = {
        "schema": record.schema,
        "collector": record.collector,
        "collector_version": record.collector_version,
        "digest": content.digest,
        "canonical": None if isinstance(content, Absent) else content.canonical,
        "absent": absent,
    }
    if not comparable:
        row["observed_at"] = record.observed_at.isoformat()
        row["observation"] = dict(record.observation)
    return row


def _csv_lines(run: Run, dossier: Dossier, cards: Sequence[StoredCard], comparable: bool) -> bytes:
    columns = [column for column in COLUMNS if not (comparable and column.volatile)]
    rows = (Row(run, dossier.server, dossier.records, scorecard_body(card)) for card in cards)
    return b"".join(_csv_line([column.cell(row) for column in columns]) for row in rows)


def _csv_line(cells: Sequence[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().encode("utf-8", "backslashreplace")


@contextmanager
def _sink(out: Path | IO[bytes]) -> Iterator[IO[bytes]]:
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
