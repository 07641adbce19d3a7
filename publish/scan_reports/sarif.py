"""Findings of one server as SARIF 2.1.0, which editors and code hosts show next to the code.

The level `error` is for what the gate refuses; `severity` among the properties is the rule's. What was not examined is
a notification.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from evidence.canonical import canonical_json, sha256
from evidence.model import Absent, Dossier
from publish.scan_reports.file_places import FilePlace, list_file_places
from publish.scan_reports.gate import GateDecision, ScoreDemand
from publish.text.display import make_visible
from publish.text.redaction import redact_json
from publish.text.snippets import render_snippet
from publish.views.server_summary import receipt_lines
from scoring.engine.rule import Rule, discover_rules
from scoring.explain import list_citations
from scoring.results.outcome import Level, NotMeasured, Severity
from scoring.results.scorecard import Line, Scorecard
from scoring.rubrics.sdk_tier import TOLERATED
from scoring.rule_snippets import make_snippet
from scoring.text import evidence_path

VERSION: Final = "2.1.0"
FINGERPRINT: Final = "hallmark/v1"
LEVEL_ERROR: Final = "error"
LEVEL_WARNING: Final = "warning"
LEVEL_NOTE: Final = "note"
SCORE_RULE: Final = "score-below-minimum"

_DEFAULT_LEVELS: Final = {Severity.ERROR.value: LEVEL_ERROR, Severity.WARNING.value: LEVEL_WARNING}
_RANK: Final = {Severity.ERROR.value: 0, Severity.WARNING.value: 1}
_LEVELS: Final = frozenset({TOLERATED, *(level.value for level in Level)})
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

SarifLocation = tuple[str, str]
"""A rule and the path of what it found."""


def render_sarif(
    dossier: Dossier, cards: Sequence[Scorecard], decision: GateDecision, *, code: str, location: str = ""
) -> dict[str, Any]:
    """The log of one scan. `location` is the file that was scanned; without one, the server's reference stands for it.

    A place that several rubrics charge for is one result; its properties have the points of each rubric.
    """
    found = list(_ruled_lines(cards))
    named = {line.rule or "" for _, line in found} | {finding.rule for finding in decision.findings}
    rules = sorted(named & discover_rules().keys())
    refused = [score for score in decision.scores if score.why and not score.is_our_failure]
    uri = quote(location or dossier.server.ref, safe=":/@#?&=+,;~%!$'()*")
    descriptors = [_rule(discover_rules()[rule]) for rule in rules]
    if refused:
        rules.append(SCORE_RULE)
        descriptors.append(dict(_SCORE_DESCRIPTOR))
    results = [*_results(dossier, found, decision, rules, uri)]
    results += [_score_result(dossier, score, len(rules) - 1, uri) for score in refused]
    driver = {
        "name": "Hallmark",
        "semanticVersion": code,
        "rules": descriptors,
    }
    return redact_json(
        {
            "version": VERSION,
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "runs": [
                {
                    "tool": {"driver": driver},
                    "columnKind": "unicodeCodePoints",
                    "automationDetails": {"id": f"hallmark/{quote(dossier.server.ref, safe=':@')}/"},
                    "invocations": [_invocation(dossier, cards, decision)],
                    "results": results,
                    "properties": {
                        "server": make_visible(dossier.server.ref),
                        "scores": {_name(card): _score(card) for card in cards},
                    },
                }
            ],
        }
    )


def _ruled_lines(cards: Sequence[Scorecard]) -> Iterator[tuple[Scorecard, Line]]:
    """Every line with a rule: bonus, clamp and rounding have no location."""
    for card in cards:
        for line in receipt_lines(card):
            if line.rule is not None:
                yield card, line


def _rule(rule: Rule) -> dict[str, Any]:
    cited = [f"{rubric.name} as {criterion.cites}" for rubric, criterion in list_citations(rule)]
    fix, why = f"How to fix it: {rule.remedy}", f"{rule.rationale}\n\nCited by {', '.join(cited) or 'no rubric'}."
    snippet = make_snippet(rule)
    shown = [f"**{rule.title}.** {fix}", *([render_snippet(snippet)] if snippet else []), why]
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.id.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.rationale},
        "help": {"text": f"{fix}\n\n{why}", "markdown": "\n\n".join(shown)},
        "defaultConfiguration": {"level": _DEFAULT_LEVELS.get(rule.severity.value, LEVEL_NOTE)},
        "properties": {"tags": [rule.family], "version": rule.version},
        **({"helpUri": rule.spec} if rule.spec and rule.spec.startswith("https://") else {}),
    }


def _results(
    dossier: Dossier,
    found: Sequence[tuple[Scorecard, Line]],
    decision: GateDecision,
    rules: Sequence[str],
    uri: str,
) -> Iterator[dict[str, Any]]:
    """One result per rule, place and message; its fingerprint needs neither the message nor the time."""
    merged: dict[tuple[str, str, str], list[tuple[Scorecard, Line]]] = {}
    for card, line in found:
        merged.setdefault((line.rule or "", line.at, _message(line)), []).append((card, line))
    refused = {(finding.rule, finding.at, finding.message) for finding in decision.findings}
    for key in sorted(refused - merged.keys()):
        merged[key] = []
    places = list_file_places(dossier)
    seen: Counter[SarifLocation] = Counter()
    for key, charged in merged.items():
        rule, at, why = key
        severities = [line.severity for _, line in charged] or [discover_rules()[rule].severity.value]
        severity = min(severities, key=lambda one: _RANK.get(one, len(_RANK)))
        nth = seen[rule, at]
        seen[rule, at] += 1
        yield {
            "ruleId": rule,
            **({"ruleIndex": rules.index(rule)} if rule in rules else {}),
            "level": LEVEL_ERROR if key in refused else LEVEL_WARNING if severity in _RANK else LEVEL_NOTE,
            "message": {"text": make_visible(why)},
            "locations": [_location(at, uri, places.get(at))],
            "partialFingerprints": {FINGERPRINT: _fingerprint(dossier, rule, at, nth)},
            "properties": {"severity": severity, "points": _points(charged)},
        }


def _message(line: Line) -> str:
    """What was found, without the level that `sdk_tier` writes before it."""
    level, mark, message = line.why.partition(": ")
    return message if mark and level in _LEVELS else line.why


def _score_result(dossier: Dossier, score: ScoreDemand, index: int, uri: str) -> dict[str, Any]:
    return {
        "ruleId": SCORE_RULE,
        "ruleIndex": index,
        "level": LEVEL_ERROR,
        "message": {"text": make_visible(score.why)},
        "locations": [_location("", uri, None)],
        "partialFingerprints": {FINGERPRINT: _fingerprint(dossier, SCORE_RULE, score.rubric, 0)},
    }


def _points(charged: Sequence[tuple[Scorecard, Line]]) -> dict[str, str]:
    """What each rubric takes, summed: one rubric may cite a rule twice."""
    names = dict.fromkeys(_name(card) for card, _ in charged)
    return {name: format(sum(line.points for card, line in charged if _name(card) == name), "f") for name in names}


def _location(at: str, uri: str, place: FilePlace | None) -> dict[str, Any]:
    """The file of the finding when it is in one, and what it is about in the words of our evidence."""
    parts = at.split("/") if at else ["server"]
    kind = "parameter" if parts[0] == "tools" and len(parts) > 2 else _KINDS.get(parts[0], "module")
    logical = {
        "name": evidence_path.unescape_segment(parts[-1]) or parts[-1],
        "fullyQualifiedName": at or "server",
        "kind": kind,
    }
    region = {"region": {"startLine": place.line}} if place and place.line else {}
    return {
        "physicalLocation": {"artifactLocation": {"uri": quote(place.path.lstrip("/")) if place else uri}, **region},
        "logicalLocations": [{name: make_visible(text) for name, text in logical.items()}],
    }


def _fingerprint(dossier: Dossier, rule: str, at: str, nth: int) -> str:
    return sha256(canonical_json([dossier.server.ref, rule, at, nth]))


def _invocation(dossier: Dossier, cards: Sequence[Scorecard], decision: GateDecision) -> Mapping[str, Any]:
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
