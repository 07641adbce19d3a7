"""The document that `hallmark scan --json` prints: one server, its evidence in short and its receipts in full."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from evidence.canonical import Json, parse_json
from evidence.kinds import listing
from evidence.kinds.listing import Listing
from evidence.model import Absent, Dossier, Record
from publish.scan_reports.baseline import AppliedBaseline, baseline_as_json
from publish.scan_reports.findings import finding_as_json
from publish.scan_reports.gate import GateDecision, decision_as_json
from publish.scan_reports.schema import SCAN_FORMAT, WHOLE_KINDS
from publish.text.numbers import json_number
from publish.views.evidence.check_verdicts import CheckVerdicts, verdicts_as_json
from publish.views.server_summary import count_listed, read_tool_scores
from scoring.analysis.token_costs import estimate_tokens
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore, Line, Scorecard

_COVERAGE_PLACES: Final = 6


def make_scan_document(
    dossier: Dossier,
    cards: Sequence[Scorecard],
    found: CheckVerdicts | None = None,
    decision: GateDecision | None = None,
    baseline: AppliedBaseline | None = None,
) -> dict[str, Any]:
    """The document, valid against `publish.scan_reports.schema`.

    With `found` it has the verdict of every check, with `decision` what the gate decided, with `baseline` the findings.
    """
    server = dossier.server
    return {
        "format": SCAN_FORMAT,
        "server": {"id": server.id, "ref": server.ref, "name": server.name},
        "as_of": dossier.as_of.isoformat(),
        "evidence": {kind: _evidence(record) for kind, record in sorted(dossier.records.items())},
        **({} if decision is None else {"gate": decision_as_json(decision)}),
        **({} if baseline is None else _findings(baseline)),
        "listed": {name: count_listed(dossier, name) for name in listing.LISTS},
        **({} if found is None else {"conformance": verdicts_as_json(found)}),
        **{kind: body for kind in WHOLE_KINDS if (body := _body(dossier, kind)) is not None},
        **({} if (seen := dossier.parsed(listing.KIND, Listing.parse)) is None else {"tool_tokens": _tokens(seen)}),
        "scorecards": [receipt_as_json(card) for card in cards],
    }


def receipt_as_json(card: Scorecard) -> dict[str, Any]:
    """One receipt: scores are numbers, points and weights exact decimals in strings."""
    tools = read_tool_scores(card)
    return {
        "rubric": card.rubric,
        "version": str(card.version),
        "source_version": card.source_version,
        **_score(card.score),
        "grade": card.grade,
        "coverage": json_number(card.coverage, _COVERAGE_PLACES),
        "floor": json_number(card.floor),
        "ceiling": json_number(card.ceiling),
        "lines": [_line(line) for line in card.lines],
        "dimensions": [_dimension(part) for part in card.dimensions],
        **({} if tools is None else {"tools": tools}),
        "caveats": list(card.caveats),
        "facts": {name: value for name, value in card.facts.items() if tools is None or name != "tools"},
        "versions": dict(card.versions),
    }


def _findings(baseline: AppliedBaseline) -> dict[str, Any]:
    """The findings that can refuse the server, the severest first, and what became of the baseline."""
    counted = sorted((one for one in baseline.findings if one.can_refuse), key=lambda one: one.rank)
    return {"findings": list(map(finding_as_json, counted)), "baseline": baseline_as_json(baseline)}


def _tokens(seen: Listing) -> list[Json]:
    return [{"name": tool.name, "tokens": estimate_tokens(tool.raw)} for tool in seen.tools.items]


def _score(score: Decimal | NotMeasured) -> dict[str, Any]:
    if isinstance(score, NotMeasured):
        return {"score": None, "reason": score.reason, "detail": score.detail}
    return {"score": json_number(score), "reason": None, "detail": ""}


def _dimension(part: DimensionScore) -> dict[str, Any]:
    components = [{**_part(component), "checked": component.checked} for component in part.components]
    return {**_part(part), "status": part.status, "components": components}


def _part(part: DimensionScore | ComponentScore) -> dict[str, Any]:
    missing = part.result if isinstance(part.result, NotMeasured) else None
    return {
        "name": part.name,
        "base_weight": format(part.base_weight, "f"),
        "effective_weight": format(part.effective_weight, "f"),
        "result": None if isinstance(part.result, NotMeasured) else format(part.result, "f"),
        "reason": missing.reason if missing else None,
        "detail": missing.detail if missing else "",
        "lines": [_line(line) for line in part.lines],
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "cites": line.cites,
        "at": line.at,
        "points": format(line.points, "f"),
        "why": line.why,
        "rule": line.rule,
        "severity": line.severity,
        "checked": line.checked or None,
    }


def _body(dossier: Dossier, kind: str) -> Json:
    """What was observed, None when it is absent: `evidence` says why."""
    content = dossier.read(kind)
    return None if isinstance(content, Absent) else parse_json(content.body)


def _evidence(record: Record) -> dict[str, Any]:
    content = record.content
    absent = {"reason": content.reason.value, "detail": content.detail} if isinstance(content, Absent) else None
    return {"digest": record.digest, "absent": absent}
