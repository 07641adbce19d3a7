"""One server as rows of every table, from its public evidence and receipts."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from evidence.canonical import canonical_json
from evidence.derive.secret_scrubbing import are_free_of_secrets, scrub_text
from evidence.model import Absent, Dossier, Record, Server
from publish.datasets.format.columns import Row, Type, transpose_rows
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
from publish.datasets.rows.rule_outcomes import make_outcome_rows
from publish.formats.csv_columns import PROJECT_COLUMNS
from publish.views.server_summary import estimate_listed_tokens, find_ecosystem, summarize_server
from scoring.engine.assessment import Assessment
from scoring.receipt import decode_stored_scorecard, describe_scorecard

if TYPE_CHECKING:  # it imports the store, which verification does not need
    from publish.views.public_servers import PublicServer

ServerRows: TypeAlias = Mapping[str, Sequence[Row]]
"""The rows of one server by table."""

MAX_DECIMALS: Final = 28
"""Maximum decimal places of a number in the dataset."""

_WIDE: Final = Context(prec=60)
_LAST: Final = Decimal(1).scaleb(-MAX_DECIMALS)
_TEXTS: Final = {
    table.name: frozenset(column.name for column in table.columns if column.type in {Type.TEXT, Type.JSON})
    for table in TABLES
}


def make_server_rows(published: PublicServer, assessment: Assessment | None, run: str) -> ServerRows:
    """The rows of one server in a run. Without an assessment the table of rule outcomes is empty."""
    out = publish_bodies(published.dossier.records)
    cited = {published.dossier.records[kind].digest: body.digest for kind, body in out.items()}
    server = published.dossier.server
    ecosystem = find_ecosystem(server)
    sheet = {
        SERVERS.name: [_repeat(SERVERS, make_server_row(published.dossier), {RUN: run, ECOSYSTEM: ecosystem})],
        **make_receipt_rows(_receipts(published), run, ecosystem, cited),
        OUTCOMES.name: list(make_outcome_rows(server.id, run, assessment)) if assessment else [],
        EVIDENCE.name: [_evidence(record, out[kind]) for kind, record in sorted(published.dossier.records.items())],
    }
    return {
        **mask_secrets(sheet),
        BODIES.name: [_body(server, kind, body) for kind, body in out.items() if body.content is not None],
    }


def _receipts(published: PublicServer) -> Iterator[Mapping[str, Any]]:
    """The receipts in JSON values. Those of older versions have no bounds; decoding adds them."""
    for card, values in zip(published.cards, published.values, strict=True):
        yield values if "floor" in values else describe_scorecard(decode_stored_scorecard(card.body))


def make_receipt_rows(
    receipts: Iterable[Mapping[str, Any]], run: str, ecosystem: str, cited: Mapping[str, str] | None = None
) -> dict[str, list[Row]]:
    """The rows of receipts in JSON values: `scorecards`, `dimension_scores` and `lines`.

    `cited` renames digests of evidence.
    """
    found: dict[str, list[Row]] = {SCORECARDS.name: [], DIMENSIONS.name: [], LINES.name: []}
    for card in receipts:
        key = {"server": card["server"], RUN: run, "rubric": card["rubric"], "version": card["version"]}
        found[SCORECARDS.name].append({**key, ECOSYSTEM: ecosystem, **_scorecard(card)})
        found[DIMENSIONS.name] += _parts({**key, ECOSYSTEM: ecosystem}, card)
        found[LINES.name] += _lines(key, card, cited or {})
    return found


def format_decimal(value: Decimal) -> str:
    """A number as a string with at most MAX_DECIMALS decimals, without an exponent."""
    return _shorten(format(value, "f"))


def mask_secrets(sheet: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """The rows with secrets masked and lone surrogates escaped."""
    columns = {name: transpose_rows(rows) for name, rows in sheet.items()}
    texts: set[str] = set().union(*(columns[name].get(one, ()) for name in sheet for one in _TEXTS[name]))
    texts.discard(None)  # a column without a value
    if are_free_of_secrets(texts) and not any(_is_broken(text) for text in texts):
        return sheet
    return {name: [_masked(row, _TEXTS[name]) for row in rows] for name, rows in sheet.items()}


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
        "coverage": _shorten(card["coverage"]),
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
        "base_weight": _shorten(part["base_weight"]),
        "effective_weight": _shorten(part["effective_weight"]),
        **_result("result", part["result"]),
    }


def _lines(key: Row, card: Mapping[str, Any], cited: Mapping[str, str]) -> Iterator[Row]:
    yield from _place({**key, "dimension": None, "component": None}, card["lines"], cited)
    for dimension in card["dimensions"]:
        place = {**key, "dimension": dimension["name"], "component": None}
        yield from _place(place, dimension["lines"], cited)
        for part in dimension["components"]:
            yield from _place({**place, "component": part["name"]}, part["lines"], cited)


def _place(place: Row, lines: Sequence[Mapping[str, Any]], cited: Mapping[str, str]) -> Iterator[Row]:
    for position, line in enumerate(lines):
        evidence = line["evidence"]
        yield {
            **place,
            "position": position,
            "cites": line["cites"],
            "points": _shorten(line["points"]),
            "why": line["why"],
            "rule": line["rule"],
            "at": line["at"],
            "severity": line["severity"],
            "evidence": cited.get(evidence, evidence),
            "checked": line.get("checked"),
        }


def _result(name: str, value: str | Mapping[str, str]) -> dict[str, str | None]:
    if isinstance(value, str):
        return {name: _shorten(value), "not_measured": None, "detail": None}
    return {name: None, "not_measured": value["not_measured"], "detail": value["detail"]}


def _bounds(of: Mapping[str, Any]) -> dict[str, str]:
    return {"floor": _shorten(of["floor"]), "ceiling": _shorten(of["ceiling"])}


def _shorten(number: str) -> str:
    """A number without an exponent, with at most MAX_DECIMALS decimals."""
    if len(number) <= MAX_DECIMALS or len(number) - number.find(".") <= MAX_DECIMALS + 1:
        return number
    value = Decimal(number)
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -MAX_DECIMALS:
        return format(value.quantize(_LAST, context=_WIDE).normalize(_WIDE), "f")
    return number


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


def _masked(row: Row, texts: frozenset[str]) -> Row:
    return {
        name: _whole(scrub_text(value)) if name in texts and value is not None else value for name, value in row.items()
    }


def _is_broken(text: str) -> bool:
    return not text.isascii() and _whole(text) != text


def _whole(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
