"""One server as rows of every table, from its public evidence and receipts."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from evidence.canonical import canonical_json
from evidence.derive.secret_scrubbing import are_free_of_secrets, scrub_text
from evidence.model import Absent, Dossier, Record, Server
from publish.datasets.format.columns import Columns, Row, Type, transpose_rows, zip_columns
from publish.datasets.format.tables import (
    BODIES,
    DIMENSIONS,
    ECOSYSTEM,
    EVIDENCE,
    LINES,
    OUTCOMES,
    RUN,
    SCORECARDS,
    SERVERS,
    TABLES,
    Table,
)
from publish.datasets.rows.evidence_bodies import PublishedBody, publish_bodies
from publish.datasets.rows.receipt_lines import LineColumns, shorten_decimal
from publish.datasets.rows.rule_outcomes import make_outcome_rows
from publish.formats.csv_columns import PROJECT_COLUMNS
from publish.views.server_summary import estimate_listed_tokens, find_ecosystem, summarize_server
from scoring.engine.assessment import Assessment
from scoring.receipt import decode_stored_scorecard, describe_scorecard

if TYPE_CHECKING:  # it imports the store, which verification does not need
    from publish.views.public_servers import PublicServer

ServerRows: TypeAlias = Mapping[str, Sequence[Row]]
"""The rows of one server by table."""

_SHORT: Final = 400  # characters
_MOST_KNOWN: Final = 20_000
_known_clean: set[str] = set()
"""Short texts in which masking changes nothing, at most as many as _MOST_KNOWN and those of one server more."""

_TEXTS: Final = {
    table.name: frozenset(column.name for column in table.columns if column.type in {Type.TEXT, Type.JSON})
    for table in TABLES
}


def make_server_rows(published: PublicServer, assessment: Assessment | None, run: str) -> ServerRows:
    """The rows of one server in a run. Without an assessment the table of rule outcomes is empty."""
    return {name: zip_columns(columns) for name, columns in make_server_columns(published, assessment, run).items()}


def make_server_columns(published: PublicServer, assessment: Assessment | None, run: str) -> dict[str, Columns]:
    """The columns of `make_server_rows`."""
    out = publish_bodies(published.dossier.records)
    cited = {published.dossier.records[kind].digest: body.digest for kind, body in out.items()}
    server = published.dossier.server
    ecosystem = find_ecosystem(server)
    row = _repeat(SERVERS, make_server_row(published.dossier), {RUN: run, ECOSYSTEM: ecosystem})
    outcomes = list(make_outcome_rows(server.id, run, assessment)) if assessment else []
    evidence = [_evidence(record, out[kind]) for kind, record in sorted(published.dossier.records.items())]
    sheet = {
        SERVERS.name: transpose_rows([row]),
        **make_receipt_columns(_receipts(published), run, ecosystem, cited),
        OUTCOMES.name: transpose_rows(outcomes),
        EVIDENCE.name: transpose_rows(evidence),
    }
    bodies = [_body(server, kind, body) for kind, body in out.items() if body.content is not None]
    return {**mask_secrets(sheet), BODIES.name: transpose_rows(bodies)}


def _receipts(published: PublicServer) -> Iterator[Mapping[str, Any]]:
    """The receipts in JSON values. Those of older versions have no bounds; decoding adds them."""
    for card, values in zip(published.cards, published.values, strict=True):
        yield values if "floor" in values else describe_scorecard(decode_stored_scorecard(card.body))


def make_receipt_columns(
    receipts: Iterable[Mapping[str, Any]], run: str, ecosystem: str, cited: Mapping[str, str] | None = None
) -> dict[str, Columns]:
    """The columns of the rows of receipts in JSON values: `scorecards`, `dimension_scores` and `lines`.

    `cited` renames digests of evidence.
    """
    cards: list[Row] = []
    parts: list[Row] = []
    lines = LineColumns(run, cited or {})
    for card in receipts:
        key = {"server": card["server"], RUN: run, "rubric": card["rubric"], "version": card["version"]}
        cards.append({**key, ECOSYSTEM: ecosystem, **_scorecard(card)})
        parts += _parts({**key, ECOSYSTEM: ecosystem}, card)
        lines.add(card)
    return {
        SCORECARDS.name: transpose_rows(cards),
        DIMENSIONS.name: transpose_rows(parts),
        LINES.name: lines.columns,
    }


def mask_secrets(sheet: Mapping[str, Columns]) -> Mapping[str, Columns]:
    """The columns of tables with secrets masked and lone surrogates escaped."""
    found = [columns.get(name, ()) for table, columns in sheet.items() for name in _TEXTS[table]]
    texts: set[str] = set().union(*found) - {None}
    if _are_clean(texts):
        return sheet
    masked = {text: _whole(scrub_text(text)) for text in texts}
    return {
        table: {
            name: list(map(masked.get, values)) if name in _TEXTS[table] else values for name, values in columns.items()
        }
        for table, columns in sheet.items()
    }


def _are_clean(texts: set[str]) -> bool:
    """Whether no text is changed. Those of most lines are known from other servers, and scanned once for all."""
    unknown = texts - _known_clean
    if not are_free_of_secrets(unknown) or any(map(_is_broken, filterfalse(str.isascii, unknown))):
        return False
    if len(_known_clean) > _MOST_KNOWN:
        _known_clean.clear()
    _known_clean.update(text for text in unknown if len(text) <= _SHORT)
    return True


def make_server_row(dossier: Dossier) -> Row:
    """The row of a server, from its evidence."""
    server = dossier.server
    row = summarize_server(dossier, ())
    facts = {name: fact(dossier.records) or None for name, _, fact in PROJECT_COLUMNS}
    numbers = {column.name for column in SERVERS.columns if column.type is Type.INTEGER}
    return {
        "server": server.id,
        "ref": server.ref,
        "name": server.name,
        "seen_in": sorted(server.seen_in),
        "targets": list(dict.fromkeys(target.type.value for target in server.targets)),
        "repository": server.repository,
        "state": row.state.name.lower(),
        "reason": row.reason.value if row.reason else None,
        "detail": row.detail if row.reason else None,
        "tools": row.tools,
        "tool_tokens": estimate_listed_tokens(dossier),
        **{name: int(text) if text and name in numbers else text for name, text in facts.items()},
    }


def _repeat(table: Table, row: Row, values: Mapping[str, str]) -> Row:
    """The row in the order of its table, with values of the run and of the server."""
    whole = {**row, **values}
    return {column.name: whole[column.name] for column in table.columns}


def _scorecard(card: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "as_of": card["as_of"],
        "source_version": card["source_version"],
        **_result("score", card["score"]),
        "grade": card["grade"],
        "coverage": shorten_decimal(card["coverage"]),
        **_bounds(card),
        "caveats": _json(card["caveats"]),
        "facts": _json(card["facts"]),
    }


def _parts(key: Row, card: Mapping[str, Any]) -> Iterator[Row]:
    for dimension in card["dimensions"]:
        yield {
            **key,
            **_part(dimension, dimension["name"], None),
            "status": dimension["status"],
            "checked": None,
            "floor": None,
            "ceiling": None,
        }
        for part in dimension["components"]:
            yield {
                **key,
                **_part(part, dimension["name"], part["name"]),
                "status": "measured" if isinstance(part["result"], str) else "not_testable",
                "checked": part["checked"],
                **_bounds(part),
            }


def _part(part: Mapping[str, Any], dimension: str, component: str | None) -> Row:
    return {
        "dimension": dimension,
        "component": component,
        "base_weight": shorten_decimal(part["base_weight"]),
        "effective_weight": shorten_decimal(part["effective_weight"]),
        **_result("result", part["result"]),
    }


def _result(name: str, value: str | Mapping[str, str]) -> dict[str, str | None]:
    if isinstance(value, str):
        return {name: shorten_decimal(value), "not_measured": None, "detail": None}
    return {name: None, "not_measured": value["not_measured"], "detail": value["detail"]}


def _bounds(of: Mapping[str, Any]) -> dict[str, str]:
    return {"floor": shorten_decimal(of["floor"]), "ceiling": shorten_decimal(of["ceiling"])}


def _evidence(record: Record, body: PublishedBody) -> Row:
    content = record.content
    absent = content if isinstance(content, Absent) else None
    return {
        "server": record.server,
        "kind": record.kind,
        "schema": record.schema,
        "collector": record.collector,
        "collector_version": record.collector_version,
        "observed_at": record.observed_at.isoformat(),
        "observation": _json(dict(record.observation)),
        "state": "absent" if absent else "observed",
        "reason": absent.reason.value if absent else None,
        "detail": absent.detail if absent else None,
        "digest": body.digest,
        "canonical": body.canonical,
        "body": body.state.value,
        "body_reason": body.why,
        "bytes": body.size,
    }


def _body(server: Server, kind: str, body: PublishedBody) -> Row:
    content = body.content or b""
    try:
        encoding, text = "utf-8", content.decode()
    except UnicodeDecodeError:
        encoding, text = "base64", base64.b64encode(content).decode()
    return {"server": server.id, "kind": kind, "digest": body.digest, "encoding": encoding, "body": text}


def _json(value: Any) -> str:
    """Canonical JSON; values without a canonical form, such as lone surrogates, are escaped."""
    try:
        return canonical_json(value).decode()
    except ValueError:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _is_broken(text: str) -> bool:
    return _whole(text) != text


def _whole(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
