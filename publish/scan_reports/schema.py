"""The JSON Schema of what `hallmark scan --json` prints; `make docs` writes it to docs/schemas/scan.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

SCAN_FORMAT: Final = 1
"""Version of the document; bumped when a member goes or changes its meaning, not when one is added."""

WHOLE_KINDS: Final = ("access", "trials", "samples", "interop", "behaviour", "package", "repository", "advisories")
"""Kinds that are shown whole; the longer ones, listing, exchanges, source and dependencies, are for `--save`."""

_WHOLE: Final = "Kind `{0}` as docs/evidence/{0}.md describes it."
_TEXT: Final = {"type": "string"}
_DECIMAL: Final = {
    "type": "string",
    "pattern": r"^-?[0-9]+(\.[0-9]+)?$",
    "description": "An exact decimal, which a float could not hold.",
}
_SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}
_POINTS: Final = {"type": "number"}


def _object(properties: Mapping[str, Any], *, optional: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "required": required, "properties": dict(properties), **more}


def _list(items: Mapping[str, Any], description: str = "") -> dict[str, Any]:
    return {"type": "array", "items": dict(items), **({"description": description} if description else {})}


def _maybe(of: str, description: str = "") -> dict[str, Any]:
    return {"type": [of, "null"], **({"description": description} if description else {})}


_LINE: Final = _object(
    {
        "cites": {**_TEXT, "description": "Published id of the criterion; `hallmark explain ID` tells more."},
        "at": {**_TEXT, "description": "Path of the place, such as tools/search/query; empty for the whole server."},
        "points": {**_DECIMAL, "description": "Signed points that this line brought or cost, exact."},
        "why": _TEXT,
        "rule": _maybe("string", "Id of our rule; null for bonus, clamp, rounding and the like."),
        "severity": {**_TEXT, "description": "error, warning, suggestion, info, or empty."},
        "checked": _maybe("integer", "Things that the check judged; null where the methodology does not state it."),
    }
)

_PART: Final = {
    "name": _TEXT,
    "base_weight": _DECIMAL,
    "effective_weight": {**_DECIMAL, "description": "Share after redistribution, 0 to 1; 0 when not measured."},
    "result": {"type": ["string", "null"], "description": "Exact decimal on the part's own scale; null: see reason."},
    "reason": _maybe("string", "Why there is no result."),
    "detail": _TEXT,
    "lines": _list({"$ref": "#/$defs/line"}),
}

_CARD: Final = _object(
    {
        "rubric": _TEXT,
        "version": {**_TEXT, "pattern": "^[0-9]+$", "description": "Our version of the methodology."},
        "source_version": {**_TEXT, "description": "Version of the publication it follows."},
        "score": _maybe("number", "0 to 100; null when it could not be measured, which is not zero."),
        "reason": _maybe("string", "Why there is no score; null when there is one."),
        "detail": {**_TEXT, "description": "The reason in words; empty when there is a score."},
        "grade": _maybe("string", "Grade, level or tier; null when the methodology has none or nothing was measured."),
        "coverage": {**_SHARE, "description": "Share of the methodology's weight that was measured, six decimals."},
        "floor": {**_POINTS, "description": "The score if everything unmeasured counted nothing."},
        "ceiling": {**_POINTS, "description": "The score if everything unmeasured counted in full."},
        "lines": _list({"$ref": "#/$defs/line"}, "Every reason for points on the level of the server."),
        "dimensions": _list({"$ref": "#/$defs/dimension"}, "Weighted parts; empty for methodologies without."),
        "tools": _list(_object({"name": _TEXT, "score": _POINTS}), "Score of each tool, where there is one."),
        "caveats": _list(_TEXT),
        "facts": {"type": "object", "additionalProperties": _TEXT},
        "versions": {"type": "object", "additionalProperties": _TEXT},
    },
    optional=("tools",),
)

_VERDICT: Final = _object(
    {
        "caps": _list(_TEXT, "Why the value is not higher: each names a grade, the reason and what lifts the cap."),
        "rubric": {**_TEXT, "description": "Methodology and version, such as adaptive@2."},
        "status": {
            **_TEXT,
            "description": "scored, not_enough_evidence, collector_failed, or another reason.",
        },
        "value": _maybe("number", "0 to 100; null without a score."),
        "grade": _maybe("string"),
        "floor": _POINTS,
        "ceiling": _POINTS,
        "coverage": _SHARE,
        "percentile": {
            "oneOf": [{"type": "null"}, _object({"value": {"type": "integer"}, "corpus": _TEXT})],
            "description": "The whole per cent of a named corpus that the value surpasses; equal values count half.",
        },
    }
)

_VERDICTS: Final = ("pass", "fail", "warn", "not_applicable", "inconclusive")

_CHECK: Final = _object(
    {
        "id": {**_TEXT, "description": "Id in the table of checks, such as HTTP-01."},
        "section": _TEXT,
        "level": {"enum": ["MUST", "SHOULD", "MAY", "info"]},
        "revisions": _list(_TEXT, "Revisions of the protocol that ask for it."),
        "title": {**_TEXT, "description": "What is wrong when it fails."},
        "rule": {**_TEXT, "description": "Id of our rule; `hallmark explain RULE` tells more."},
        "spec": {**_TEXT, "description": "Page of the specification; empty when it is not the specification's."},
        "verdict": {"enum": list(_VERDICTS)},
        "why": {**_TEXT, "description": "Why it does not apply or is open, or the deviation; empty if passed."},
        "findings": _list(_object({"at": _TEXT, "message": _TEXT, "tolerated": {"type": "boolean"}})),
    }
)

_CONFORMANCE: Final = _object(
    {
        "depth": _maybe("string", "core or full; null when nothing was exchanged."),
        "eras": _list(_TEXT, "Eras in which the server opened: legacy, modern."),
        "requests": {"type": "integer", "minimum": 0},
        "absent": {"oneOf": [{"type": "null"}, _object({"reason": _TEXT, "detail": _TEXT})]},
        "counts": _object({verdict: {"type": "integer", "minimum": 0} for verdict in _VERDICTS}),
        "checks": _list({"$ref": "#/$defs/check"}, "Every check, in the order of the table."),
    }
)

_GATE: Final = _object(
    {
        "status": {"enum": ["passed", "refused", "not_measured"], "description": "Exit code 0, 4 or 3."},
        "failures": _list(
            _object({"kind": {"enum": ["check", "score", "finding", "server"]}, "id": _TEXT, "why": _TEXT}),
            "What is not as demanded: a check, a score, a finding, or a server that could not be tested.",
        ),
        "not_examined": _list(_TEXT, "Ids of the inconclusive checks, which neither pass nor fail."),
    }
)

_FINDING: Final = _object(
    {
        "rule": {**_TEXT, "description": "Id of our rule; `hallmark explain RULE` tells more."},
        "severity": {"enum": ["high", "medium", "low"], "description": "What --fail-on compares."},
        "at": _TEXT,
        "message": _TEXT,
        "file": _maybe("string", "Path in the project, from the root of the repository when it begins with /."),
        "line": _maybe("integer", "Line of the file; null when the finding is about the whole file."),
        "fingerprint": {**_TEXT, "description": "Stays when lines move; the baseline names it."},
        "accepted": _maybe("string", "Reason in the baseline; null when it is not accepted."),
    }
)

_ENTRY: Final = _object({"fingerprint": _TEXT, "rule": _TEXT, "at": _TEXT, "reason": _TEXT})

_BASELINE: Final = _object(
    {
        "accepted": {"type": "integer", "minimum": 0},
        "stale": _list(_ENTRY, "Entries that match no finding any more."),
        "not_examined": _list(_ENTRY, "Entries whose rule could not examine anything in this scan."),
    }
)

SCAN_SCHEMA: Final[Mapping[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": f"urn:hallmark:schema:scan:{SCAN_FORMAT}",
    "title": "What `hallmark scan --json` prints",
    "description": "One document for one server. Readers should ignore members they do not know.",
    **_object(
        {
            "format": {"const": SCAN_FORMAT},
            "server": _object({"id": _TEXT, "ref": _TEXT, "name": _TEXT}),
            "as_of": {**_TEXT, "description": "Moment the evidence stands for, ISO 8601."},
            "evidence": {
                "type": "object",
                "description": "What the scores rest on, by kind of evidence.",
                "additionalProperties": _object(
                    {
                        "digest": {**_TEXT, "pattern": "^[0-9a-f]{64}$"},
                        "absent": {
                            "oneOf": [{"type": "null"}, _object({"reason": _TEXT, "detail": _TEXT})],
                            "description": "Why there is no payload; null when there is one.",
                        },
                    }
                ),
            },
            "verdicts": _list({"$ref": "#/$defs/verdict"}, "The verdict of each selected rubric, in their order."),
            "gate": {"$ref": "#/$defs/gate"},
            "findings": _list(
                {"$ref": "#/$defs/finding"}, "What the rubrics that decide about the exit code charge for."
            ),
            "baseline": _BASELINE,
            "conformance": {"$ref": "#/$defs/conformance"},
            "listed": {
                "type": "object",
                "description": "Items of each list; null when it was not read to its end.",
                "additionalProperties": {"type": ["integer", "null"], "minimum": 0},
            },
            **{kind: {"type": "object", "description": _WHOLE.format(kind)} for kind in WHOLE_KINDS},
            "tool_tokens": _list(
                _object({"name": _TEXT, "tokens": {"type": "integer", "minimum": 0}}),
                "Estimated tokens of each tool in the context of a model: characters of its name, description and "
                "input schema as compact JSON, divided by 4.",
            ),
            "scorecards": _list({"$ref": "#/$defs/scorecard"}, "One for each selected rubric, in their order."),
        },
        optional=("verdicts", "gate", "findings", "baseline", "conformance", "tool_tokens", *WHOLE_KINDS),
    ),
    "$defs": {
        "line": _LINE,
        "component": _object({**_PART, "checked": {"type": "integer", "minimum": 0}}),
        "dimension": _object(
            {
                **_PART,
                "status": {"enum": ["measured", "partial", "not_testable"]},
                "components": _list({"$ref": "#/$defs/component"}),
            }
        ),
        "verdict": _VERDICT,
        "scorecard": _CARD,
        "check": _CHECK,
        "conformance": _CONFORMANCE,
        "gate": _GATE,
        "finding": _FINDING,
    },
}
