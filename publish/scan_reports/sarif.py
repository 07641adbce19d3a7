"""Findings of one server as SARIF 2.1.0, which editors and code hosts show next to the code.

The level `error` is for what the gate refuses; `severity` among the properties is the rule's. What the baseline accepts
is suppressed, what was not examined is a notification.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct

from evidence.model import Absent, Dossier
from publish.scan_reports.file_places import FilePlace
from publish.scan_reports.findings import (
    FindingGrade,
    FindingKey,
    ScanFinding,
    compute_fingerprint,
    grade_rule,
    list_scan_findings,
)
from publish.scan_reports.gate import GateDecision, ScoreDemand
from publish.text.display import make_visible
from publish.text.redaction import redact_json
from publish.text.snippets import render_snippet
from scoring.engine.rule import Rule, discover_rules
from scoring.explain import list_citations
from scoring.results.outcome import NotMeasured, Severity
from scoring.results.scorecard import Line, Scorecard
from scoring.rubrics import adaptive_gates
from scoring.rubrics.adaptive_verdict_dimensions import DIMENSIONS
from scoring.rule_snippets import make_snippet
from scoring.text import evidence_path
from scoring.text.evidence_path import clip_text

VERSION: Final = "2.1.0"
FINGERPRINT: Final = "hallmark/v1"
LEVEL_ERROR: Final = "error"
LEVEL_WARNING: Final = "warning"
LEVEL_NOTE: Final = "note"
SCORE_RULE: Final = "score-below-minimum"

_DEFAULT_LEVELS: Final = {Severity.ERROR.value: LEVEL_ERROR, Severity.WARNING.value: LEVEL_WARNING}
_RANK: Final = {Severity.ERROR.value: 0, Severity.WARNING.value: 1}
_SCORE_DESCRIPTOR: Final[Mapping[str, Any]] = {
    "id": SCORE_RULE,
    "name": "ScoreBelowMinimum",
    "shortDescription": {"text": "A score is below --fail-under, or there is too little evidence for one"},
    "fullDescription": {"text": "The quality gate demands a minimum of every selected methodology."},
    "help": {
        "text": "`hallmark scan` prints what costs points.",
        "markdown": "`hallmark scan` prints what costs points.",
    },
    "defaultConfiguration": {"level": LEVEL_ERROR},
}
_KINDS: Final = {"tools": "function", "prompts": "function", "resources": "resource"}

MAX_RESULTS: Final = 5_000
"""As many as GitHub shows of one run; a file may hold 25,000.

https://docs.github.com/en/code-security/reference/code-scanning/sarif-support-for-code-scanning
"""

MAX_TEXT: Final = 1_000
"""Characters of a description or message, of which GitHub reads 1,024."""

SOURCE_ROOT: Final = "%SRCROOT%"
_SECURITY: Final = "security"
_SECURITY_SEVERITIES: Final = {FindingGrade.HIGH: "8.5", FindingGrade.MEDIUM: "5.5", FindingGrade.LOW: "3.0"}
"""In the bands of GitHub with the same names."""

_PROBLEM_SEVERITIES: Final = {Severity.ERROR: "error", Severity.WARNING: "warning"}


def render_sarif(
    dossier: Dossier,
    cards: Sequence[Scorecard],
    decision: GateDecision,
    *,
    code: str,
    location: str = "",
    findings: Sequence[ScanFinding] | None = None,
    folder: str | None = None,
) -> dict[str, Any]:
    """The log of one scan. `location` is the file that was scanned; without one, the server's reference stands for it.

    `folder` is the path of a scanned project in its repository, from which the paths of files start; None when the
    files are not on this machine. A place that several rubrics charge for is one result; its properties have the points
    of each rubric.
    """
    found = list_scan_findings(dossier, cards, decision.violated) if findings is None else findings
    shown = sorted(found, key=lambda one: one.rank)[:MAX_RESULTS] if len(found) > MAX_RESULTS else found
    rules = sorted({one.rule for one in shown} & discover_rules().keys())
    refused = [score for score in decision.scores if score.why and not score.is_our_failure]
    places = _Places(quote(location or dossier.server.ref, safe=":/@#?&=+,;~%!$'()*"), folder)
    descriptors = [_rule(discover_rules()[rule]) for rule in rules]
    if refused:
        rules.append(SCORE_RULE)
        descriptors.append(dict(_SCORE_DESCRIPTOR))
    results = [*_results(shown, decision.list_refused(), rules, places)]
    results += [_score_result(dossier, score, len(rules) - 1, places) for score in refused]
    driver = {
        "name": "Hallmark",
        "semanticVersion": code,
        "rules": descriptors,
    }
    roots = {"originalUriBaseIds": {SOURCE_ROOT: {"description": {"text": "The root of the repository."}}}}
    return redact_json(
        {
            "version": VERSION,
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "runs": [
                {
                    "tool": {"driver": driver},
                    "columnKind": "unicodeCodePoints",
                    "automationDetails": {"id": f"hallmark/{quote(dossier.server.ref, safe=':@')}/"},
                    **(roots if folder is not None else {}),
                    "invocations": [_invocation(dossier, cards, decision, len(found) - len(shown))],
                    "results": results,
                    "properties": {
                        "server": make_visible(dossier.server.ref),
                        "scores": {_name(card): _score(card) for card in cards},
                    },
                }
            ],
        }
    )


class _Places(Struct, frozen=True):
    """Writes places as URIs. `server` stands for what is in no file."""

    server: str
    folder: str | None

    def write(self, at: str, place: FilePlace | None) -> dict[str, Any]:
        """The file of the finding when it is in one, and what it is about in the words of our evidence."""
        parts = at.split("/") if at else ["server"]
        kind = "parameter" if parts[0] == "tools" and len(parts) > 2 else _KINDS.get(parts[0], "module")
        logical = {
            "name": evidence_path.unescape_segment(parts[-1]) or parts[-1],
            "fullyQualifiedName": at or "server",
            "kind": kind,
        }
        return {
            "physicalLocation": self._write_file(place) if place else {"artifactLocation": {"uri": self.server}},
            "logicalLocations": [{name: make_visible(text) for name, text in logical.items()}],
        }

    def _write_file(self, place: FilePlace) -> dict[str, Any]:
        region = {"region": {"startLine": place.line}} if place.line else {}
        if self.folder is None:
            return {"artifactLocation": {"uri": quote(place.path.lstrip("/"))}, **region}
        path = place.path[1:] if place.path.startswith("/") else f"{self.folder}/{place.path}".lstrip("/")
        artifact = {"uri": quote(path), "uriBaseId": SOURCE_ROOT}
        return {"artifactLocation": artifact, "region": {"startLine": place.line or 1}}


@cache
def _list_security_rules() -> frozenset[str]:
    """The rules that the security of the default score consists of, and those that cap it."""
    parts = (part for part in DIMENSIONS if part.name == _SECURITY)
    criteria = (one for part in parts for component in part.components for one in component.criteria)
    return frozenset(one.rule for one in (*criteria, *adaptive_gates.CRITERIA))


def _rule(rule: Rule) -> dict[str, Any]:
    cited = [f"{rubric.name} as {criterion.cites}" for rubric, criterion in list_citations(rule)]
    fix, why = f"How to fix it: {rule.remedy}", f"{rule.rationale}\n\nCited by {', '.join(cited) or 'no rubric'}."
    snippet = make_snippet(rule)
    shown = [f"**{rule.title}.** {fix}", *([render_snippet(snippet)] if snippet else []), why]
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.id.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": clip_text(rule.rationale, MAX_TEXT)},
        "help": {"text": f"{fix}\n\n{why}", "markdown": "\n\n".join(shown)},
        "defaultConfiguration": {"level": _DEFAULT_LEVELS.get(rule.severity.value, LEVEL_NOTE)},
        "properties": _rule_properties(rule),
        **({"helpUri": rule.spec} if rule.spec and rule.spec.startswith("https://") else {}),
    }


def _rule_properties(rule: Rule) -> dict[str, Any]:
    if rule.id in _list_security_rules():
        severity = {"security-severity": _SECURITY_SEVERITIES[grade_rule(rule.id)]}
        return {"tags": [rule.family, _SECURITY], "version": rule.version, **severity}
    return {
        "tags": [rule.family],
        "version": rule.version,
        "problem.severity": _PROBLEM_SEVERITIES.get(rule.severity, "recommendation"),
    }


def _results(
    findings: Sequence[ScanFinding], refused: Collection[FindingKey], rules: Sequence[str], places: _Places
) -> Iterator[dict[str, Any]]:
    """One result per rule, place and message."""
    index = {rule: place for place, rule in enumerate(rules)}
    for one in findings:
        severities = [line.severity for _, line in one.charged] or [discover_rules()[one.rule].severity.value]
        severity = min(severities, key=lambda text: _RANK.get(text, len(_RANK)))
        is_refused = one.key in refused and not one.accepted
        accepted = {"kind": "external", "status": "accepted", "justification": make_visible(one.accepted)}
        yield {
            "ruleId": one.rule,
            **({"ruleIndex": index[one.rule]} if one.rule in index else {}),
            "level": LEVEL_ERROR if is_refused else LEVEL_WARNING if severity in _RANK else LEVEL_NOTE,
            "message": {"text": clip_text(make_visible(one.message), MAX_TEXT)},
            "locations": [places.write(one.at, one.place)],
            "partialFingerprints": _fingerprints(one.fingerprint),
            **({"suppressions": [accepted]} if one.accepted else {}),
            "properties": {"severity": severity, "points": _points(one.charged)},
        }


def _score_result(dossier: Dossier, score: ScoreDemand, index: int, places: _Places) -> dict[str, Any]:
    return {
        "ruleId": SCORE_RULE,
        "ruleIndex": index,
        "level": LEVEL_ERROR,
        "message": {"text": make_visible(score.why)},
        "locations": [places.write("", None)],
        "partialFingerprints": _fingerprints(compute_fingerprint(dossier, SCORE_RULE, score.rubric, 0)),
    }


def _fingerprints(fingerprint: str) -> dict[str, str]:
    """Ours, and the only one that GitHub reads; it would compute one of the line, which several findings share."""
    return {FINGERPRINT: fingerprint, "primaryLocationLineHash": f"{fingerprint[:16]}:1"}


def _points(charged: Sequence[tuple[Scorecard, Line]]) -> dict[str, str]:
    """What each rubric takes, summed: one rubric may cite a rule twice."""
    names = dict.fromkeys(_name(card) for card, _ in charged)
    return {name: format(sum(line.points for card, line in charged if _name(card) == name), "f") for name in names}


def _invocation(
    dossier: Dossier, cards: Sequence[Scorecard], decision: GateDecision, left_out: int
) -> Mapping[str, Any]:
    """What could not be collected or examined, so that a missing result is not mistaken for "no finding"."""
    absent = [(kind, record.content) for kind, record in sorted(dossier.records.items())]
    notifications = [
        _notification(f"{kind} could not be collected: {content.reason.value} {content.detail}".strip(), LEVEL_WARNING)
        for kind, content in absent
        if isinstance(content, Absent)
    ]
    for card in cards:
        if isinstance(card.score, NotMeasured):
            notifications.append(
                _notification(f"{_name(card)} has no score: {card.score.detail or card.score.reason}", LEVEL_WARNING)
            )
        notifications += [_notification(f"{_name(card)}: {caveat}", LEVEL_NOTE) for caveat in card.caveats]
    for why, ids in _group_unexamined(decision):
        notifications.append(_notification(f"not examined ({why}): {', '.join(ids)}", LEVEL_WARNING))
    if left_out:
        text = f"{left_out} findings of the lowest severities are left out: one run holds {MAX_RESULTS}"
        notifications.append(_notification(text, LEVEL_WARNING))
    failures = [score.why for score in decision.scores if score.is_our_failure]
    if decision.untested:
        failures.append(f"the server could not be tested: {decision.untested}")
    notifications += [_notification(why, LEVEL_ERROR) for why in failures]
    return {"executionSuccessful": not failures, "toolExecutionNotifications": notifications}


def _group_unexamined(decision: GateDecision) -> Iterable[tuple[str, Sequence[str]]]:
    grouped: dict[str, list[str]] = {}
    for result in decision.not_examined:
        grouped.setdefault(result.why.replace("_", " "), []).append(result.check.requirement.id)
    return grouped.items()


def _notification(text: str, level: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": make_visible(text)}}


def _score(card: Scorecard) -> str | None:
    return None if isinstance(card.score, NotMeasured) else format(card.score, "f")


def _name(card: Scorecard) -> str:
    return f"{card.rubric}@{card.version}"
