"""Encodes one server as JSON Lines and CSV; its receipts are parsed and scanned for secrets once for all forms."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import orjson
from msgspec import Struct

from evidence.derive.secret_scrubbing import are_free_of_secrets, scrub_body
from evidence.model import Absent, Dossier, Record, Run
from evidence.store import StoredScorecard
from publish.formats.csv_columns import CSV_COLUMNS, CsvColumn, CsvRow, make_safe_cells
from scoring import receipt

FileFormat: TypeAlias = Literal["jsonl", "csv"]

_LINES: Final = "lines"
_PARTS: Final = ("lines", "dimensions", "evidence")
_ESCAPED_ELSEWHERE: Final = b"\x7f"
"""The one ASCII character that the dataset escapes and a receipt does not."""


class FileForm(Struct, frozen=True):
    """JSON Lines or CSV. The comparable form has no run id, times or durations."""

    format: FileFormat
    comparable: bool = False

    @property
    def opening(self) -> bytes:
        """The header of the file."""
        return _csv([[column.name for column in _columns(self)]]) if self.format == "csv" else b""


ReceiptValues: TypeAlias = Sequence[dict[str, Any]]
"""Receipts as JSON values."""


def decode_receipts(cards: Sequence[StoredScorecard]) -> ReceiptValues:
    """Receipts as JSON values."""
    return [orjson.loads(card.body) for card in cards]


def encode_server(
    run: Run,
    dossier: Dossier,
    cards: Sequence[StoredScorecard],
    forms: Sequence[FileForm],
    values: ReceiptValues | None = None,
) -> list[bytes]:
    """The lines of one server in each form, without secrets. Dossier and receipts are what may be shown of it.

    `values` are the receipts as JSON values, if the caller has them.
    """
    sheet = _Sheet(run, dossier, cards, decode_receipts(cards) if values is None else values)
    return [sheet.table(form) if form.format == "csv" else sheet.line(form) for form in forms]


def describe_server(dossier: Dossier, *, comparable: bool = False) -> dict[str, Any]:
    """A server and its records as JSON values, receipts left out."""
    server = dossier.server
    return {
        "server": {"id": server.id, "ref": server.ref, "name": server.name, "seen_in": sorted(server.seen_in)},
        "records": {
            kind: describe_record(record, comparable=comparable) for kind, record in sorted(dossier.records.items())
        },
    }


def describe_record(record: Record, *, comparable: bool = False) -> dict[str, Any]:
    """A record without its body as JSON values; the comparable form has neither clock time nor observation."""
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


def mask_secrets(document: bytes) -> bytes:
    """A JSON document with secrets masked; the same bytes if it has none. Repeated texts are scanned once."""
    texts: set[str] = set()
    _gather(json.loads(document), texts)
    return document if are_free_of_secrets(texts) else scrub_body(document)


class _Sheet:
    """The encoding of one server in all forms."""

    def __init__(self, run: Run, dossier: Dossier, cards: Sequence[StoredScorecard], values: ReceiptValues) -> None:
        self._run = run
        self._dossier = dossier
        self._cards = cards
        self._values = values

    def line(self, form: FileForm) -> bytes:
        """One line of JSON, members sorted. A receipt is canonical JSON already, and goes in as it is."""
        around = describe_server(self._dossier, comparable=form.comparable)
        cards = list(map(receipt.remove_moment, self._members)) if form.comparable else self._members
        line = b'{"records":%b,%b"scorecards":[%b],"server":%b}' % (
            _json(around["records"]),
            b"" if form.comparable else _run_member(self._run),
            b",".join(cards),
            _json(around["server"]),
        )
        return (line if self._is_clean else scrub_body(line)) + b"\n"

    def table(self, form: FileForm) -> bytes:
        """One row for each receipt; every cell masks its secrets."""
        columns = _columns(form)
        once: dict[str, str] = {}
        rows = []
        for card in self._values:
            row = CsvRow(self._run, self._dossier.server, self._dossier.records, card)
            once = once or {column.name: column.value(row) for column in columns if not column.of_card}
            rows.append([column.value(row) if column.of_card else once[column.name] for column in columns])
        safe = make_safe_cells({text for row in rows for text in row})
        return _csv([[safe[text] for text in row] for row in rows])

    @cached_property
    def _members(self) -> list[bytes]:
        return [_member(card.body, value) for card, value in zip(self._cards, self._values, strict=True)]

    @cached_property
    def _is_clean(self) -> bool:
        """Whether no form of this server holds a secret. Receipts repeat most of their texts."""
        around = _json(describe_server(self._dossier))
        texts: set[str] = set()
        for card in self._values:
            _gather_receipt(card, texts)
        return scrub_body(around) == around and are_free_of_secrets(texts)


def _gather_receipt(card: Mapping[str, Any], texts: set[str]) -> None:
    """Add every text of a receipt that may quote a server. Most others are numbers, which the parts repeat."""
    for name, value in card.items():
        if name not in _PARTS:
            _gather(value, texts, name)
    for dimension in card["dimensions"]:
        for part in (dimension, *dimension["components"]):
            if not isinstance(part["result"], str):
                _gather(part["result"], texts)
            _gather_lines(part["lines"], texts)
    _gather_lines(card["lines"], texts)


def _gather_lines(lines: Sequence[Mapping[str, Any]], texts: set[str]) -> None:
    for line in lines:
        texts |= {line["why"], line["at"]}


def _gather(value: Any, texts: set[str], name: str = "") -> None:
    """Add every text in a JSON value, also with the name that it has, if it is not that of a receipt's line."""
    if isinstance(value, str):
        texts |= {value, f"{name}: {value}"}
    elif isinstance(value, dict):
        for each, inner in value.items():
            if each == _LINES:
                for line in inner:
                    texts.update(map(str, line.values()))
            else:
                _gather(inner, texts, each)
    elif isinstance(value, list):
        for inner in value:
            _gather(inner, texts, name)


def _run_member(run: Run) -> bytes:
    return b'"run":%b,' % _json({"id": run.id, "as_of": run.as_of.isoformat()})


def _member(body: bytes, value: Mapping[str, Any]) -> bytes:
    """An encoded receipt as it stands in a line, where everything beyond ASCII is escaped."""
    return body if body.isascii() and _ESCAPED_ELSEWHERE not in body else _json(value)


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _columns(form: FileForm) -> list[CsvColumn]:
    return [column for column in CSV_COLUMNS if not (form.comparable and column.volatile)]


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8", "backslashreplace")
