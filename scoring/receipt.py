"""Encodes a scorecard as canonical JSON, decodes it exactly, and recomputes the score from the lines."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Final

import orjson
from msgspec import DecodeError
from msgspec.json import Decoder
from msgspec.structs import replace

from evidence.canonical import Json, NotJson, canonical_json, parse_json
from scoring.results import arithmetic, weighting
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore, Line, Scorecard

FORMULA_FACT: Final = "formula"
"""Fact that names the formula when it is not the published one."""
START_FACT: Final = "start"
"""Fact that holds the points a server starts with, when a rubric adds lines to a start."""


_AS_IS: Final = ("server", "rubric", "version", "source_version", "grade")
_OPENING: Final = b'{"as_of":"'
"""Every receipt begins so: no other member sorts before this one."""
_EVIDENCE: Final = b',"evidence":{'
"""Stands once in a receipt: in texts its quotes would be escaped, and elsewhere `evidence` is a text."""


class NotAReceipt(ValueError):
    """The bytes are not an encoded scorecard; the message says what was expected."""


def encode_scorecard(card: Scorecard) -> bytes:
    """Encode the card as RFC 8785 JSON; decimals are strings, so nothing is rounded."""
    body = describe_scorecard(card)
    if any(max(key, default="") > "\uffff" for key in card.facts):
        return canonical_json(body)  # only the order of astral keys differs from what the faster encoder writes
    return _encoded(body)


def describe_scorecard(card: Scorecard) -> dict[str, Json]:
    """The card as the JSON values that `encode_scorecard` writes."""
    return {
        **{name: getattr(card, name) for name in _AS_IS},
        "score": _plain_result(card.score),
        "as_of": card.as_of.isoformat(),
        "coverage": format(card.coverage, "f"),
        "floor": format(card.floor, "f"),
        "ceiling": format(card.ceiling, "f"),
        "lines": [_plain_line(line) for line in card.lines],
        "dimensions": [_plain_dimension(part) for part in card.dimensions],
        "caveats": list(card.caveats),
        "facts": dict(card.facts),
        "versions": dict(card.versions),
        "evidence": dict(card.evidence),
    }


def decode_scorecard(data: bytes) -> Scorecard:
    """Decode a card; raise NotAReceipt for other bytes."""
    try:
        parse_json(data)
    except NotJson as error:
        raise NotAReceipt(f"not a scorecard: {error}") from error
    return decode_stored_scorecard(data)


def decode_stored_scorecard(data: bytes) -> Scorecard:
    """Decode without the checks of untrusted JSON; only for bytes of `encode_scorecard`."""
    try:
        return _decoder().decode(data)
    except DecodeError as error:
        raise NotAReceipt(f"not a scorecard: {error}") from error


def replace_moment(data: bytes, as_of: datetime) -> bytes:
    """Replace the moment of a receipt; raise NotAReceipt for bytes that `encode_scorecard` did not write."""
    _, rest = _split_moment(data)
    return _OPENING + as_of.isoformat().encode("ascii") + b'",' + rest


def read_moment(data: bytes) -> datetime:
    """The moment of a receipt; raise NotAReceipt for bytes that `encode_scorecard` did not write."""
    moment, _ = _split_moment(data)
    try:
        return datetime.fromisoformat(moment.decode("ascii"))
    except ValueError as error:
        raise NotAReceipt(f"not a scorecard: {error}") from error


def replace_evidence_digests(data: bytes, evidence: Mapping[str, str]) -> bytes:
    """Replace the evidence digests of a receipt; raise NotAReceipt for bytes that `encode_scorecard` did not write."""
    before, mark, rest = data.partition(_EVIDENCE)
    _, brace, after = rest.partition(b"}")
    if not mark or not brace:
        raise NotAReceipt(f"not a scorecard: {_EVIDENCE.decode()} expected in it")
    return before + mark + _encoded(dict(evidence))[1:] + after


def remove_moment(data: bytes) -> bytes:
    """Remove the moment of a receipt; raise NotAReceipt for bytes that `encode_scorecard` did not write."""
    _, rest = _split_moment(data)
    return b"{" + rest


def recompute_score(card: Scorecard) -> Decimal | NotMeasured:
    """Recompute the score from the card's lines; it equals `card.score` unless the card was changed."""
    if isinstance(card.score, NotMeasured):
        return card.score
    if card.facts.get(FORMULA_FACT) == weighting.GUARANTEED:
        return _recompute_guaranteed(card)
    if card.dimensions:
        overall = weighting.compute_overall([weighting.recompute_dimension(part) for part in card.dimensions])
        return overall if overall is not None else NotMeasured("nothing_measured")
    return arithmetic.normalize_decimal(
        arithmetic.add_points(Decimal(card.facts[START_FACT]), (line.points for line in card.lines))
    )


def _recompute_guaranteed(card: Scorecard) -> Decimal:
    """Guaranteed points of the parts as their lines give them, and what scale, caps and rounding do to them."""
    low, _ = weighting.compute_guaranteed([_follow_lines(part) for part in card.dimensions])
    names = {part.name for part in card.dimensions}
    applied = sum((line.points for line in card.lines if line.cites not in names), Decimal(0))
    return arithmetic.round_half_up(low + applied)


def _follow_lines(dimension: DimensionScore) -> DimensionScore:
    """The dimension with guaranteed points that are never above a result, and move with it if its lines differ."""
    recomputed = weighting.recompute_dimension(dimension)
    pairs = zip(dimension.components, recomputed.components, strict=True)
    return replace(recomputed, components=tuple(_follow_result(before, after) for before, after in pairs))


def _follow_result(before: ComponentScore, after: ComponentScore) -> ComponentScore:
    if not isinstance(before.result, Decimal) or not isinstance(after.result, Decimal):
        return after
    return replace(after, floor=min(after.floor + after.result - before.result, after.result))


def _split_moment(data: bytes) -> tuple[bytes, bytes]:
    """The moment of a receipt and its other members."""
    moment, end, rest = data.removeprefix(_OPENING).partition(b'",')
    if not data.startswith(_OPENING) or not moment or not end:
        raise NotAReceipt(f"not a scorecard: {_OPENING.decode()} expected at its start")
    return moment, rest


def _encoded(body: dict[str, Json]) -> bytes:
    data: bytes = orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
    return data


def _plain_dimension(part: DimensionScore) -> dict[str, Json]:
    plain = _plain_weighted(part)
    plain["status"] = part.status
    plain["components"] = [_plain_component(component) for component in part.components]
    return plain


def _plain_component(part: ComponentScore) -> dict[str, Json]:
    plain = _plain_weighted(part)
    plain["floor"], plain["ceiling"] = format(part.floor, "f"), format(part.ceiling, "f")
    plain["checked"] = part.checked
    return plain


def _plain_weighted(part: DimensionScore | ComponentScore) -> dict[str, Json]:
    return {
        "name": part.name,
        "base_weight": format(part.base_weight, "f"),
        "effective_weight": format(part.effective_weight, "f"),
        "result": _plain_result(part.result),
        "lines": [_plain_line(line) for line in part.lines],
    }


def _plain_line(line: Line) -> Json:
    plain: dict[str, Json] = {
        "cites": line.cites,
        "points": format(line.points, "f"),
        "why": line.why,
        "rule": line.rule,
        "at": line.at,
        "severity": line.severity,
        "evidence": line.evidence,
    }
    if line.checked:  # receipts of methodologies that do not state it stay as they were
        plain["checked"] = line.checked
    return plain


def _plain_result(result: Decimal | NotMeasured) -> Json:
    if isinstance(result, NotMeasured):
        return {"not_measured": result.reason, "detail": result.detail}
    return format(result, "f")


@cache
def _decoder() -> Decoder[Scorecard]:
    return Decoder(Scorecard)
