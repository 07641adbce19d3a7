"""Findings of one server as SARIF 2.1.0, which editors and code hosts show next to the code.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from evidence.canonical import canonical_json, sha256
from evidence.model import Absent, Dossier
from publish.text.display import make_visible
from publish.text.redaction import redact_json
from publish.views.server_summary import receipt_lines
from scoring.engine.rule import Rule, discover_rules
from scoring.explain import list_citations
from scoring.results.outcome import NotMeasured, Severity
from scoring.results.scorecard import Line, Scorecard
from scoring.text import evidence_path

VERSION: Final = "2.1.0"
FINGERPRINT: Final = "hallmark/v1"
LEVELS: Final = {Severity.ERROR.value: "error", Severity.WARNING.value: "warning"}
LEVEL_NOTE: Final = "note"

_RANK: Final = {"error": 0, "warning": 1, LEVEL_NOTE: 2}
_KINDS: Final = {"tools": "function", "prompts": "function", "resources": "resource"}

SarifLocation = tuple[str, str]
"""A rule and the path of what it found."""


def render_sarif(dossier: Dossier, cards: Sequence[Scorecard], *, code: str, location: str = "") -> dict[str, Any]:
    """The log of one scan. `location` is the file that was scanned; without one, the server's reference stands for it.

    A place that several rubrics charge for is one result; its properties have the points of each rubric.
    """
    found = list(_ruled_lines(cards))
    rules = sorted({line.rule or "" for _, line in found} & discover_rules().keys())
    uri = quote(location or dossier.server.ref, safe=":/@#?&=+,;~%!$'()*")
    driver = {
        "name": "Hallmark",
        "semanticVersion": code,
        "rules": [_rule(discover_rules()[rule]) for rule in rules],
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
                    "invocations": [_invocation(dossier, cards)],
                    "results": list(_results(dossier, found, rules, uri)),
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
    help_text = f"{rule.rationale}\n\nCited by {', '.join(cited) or 'no rubric'}."
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.id.split("-")),
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.rationale},
        "help": {"text": help_text, "markdown": f"**{rule.title}.** {help_text}"},
        "defaultConfiguration": {"level": LEVELS.get(rule.severity.value, LEVEL_NOTE)},
        "properties": {"tags": [rule.family], "version": rule.version},
        **({"helpUri": rule.spec} if rule.spec and rule.spec.startswith("https://") else {}),
    }


def _results(
    dossier: Dossier, found: Sequence[tuple[Scorecard, Line]], rules: Sequence[str], uri: str
) -> Iterator[dict[str, Any]]:
    """One result per rule, place and message; its fingerprint needs neither the message nor the time."""
    merged: dict[tuple[str, str, str], list[tuple[Scorecard, Line]]] = {}
    for card, line in found:
        merged.setdefault((line.rule or "", line.at, line.why), []).append((card, line))
    seen: Counter[SarifLocation] = Counter()
    for (rule, at, why), charged in merged.items():
        levels = [LEVELS.get(line.severity, LEVEL_NOTE) for _, line in charged]
        nth = seen[rule, at]
        seen[rule, at] += 1
        yield {
            "ruleId": rule,
            **({"ruleIndex": rules.index(rule)} if rule in rules else {}),
            "level": min(levels, key=_RANK.__getitem__),
            "message": {"text": make_visible(why)},
            "locations": [_location(at, uri)],
            "partialFingerprints": {FINGERPRINT: _fingerprint(dossier, rule, at, nth)},
            "properties": {"points": _points(charged)},
        }


def _points(charged: Sequence[tuple[Scorecard, Line]]) -> dict[str, str]:
    """What each rubric takes, summed: one rubric may cite a rule twice."""
    names = dict.fromkeys(_name(card) for card, _ in charged)
    return {name: format(sum(line.points for card, line in charged if _name(card) == name), "f") for name in names}


def _location(at: str, uri: str) -> dict[str, Any]:
    parts = at.split("/") if at else ["server"]
    kind = "parameter" if parts[0] == "tools" and len(parts) > 2 else _KINDS.get(parts[0], "module")
    logical = {
        "name": evidence_path.unescape_segment(parts[-1]) or parts[-1],
        "fullyQualifiedName": at or "server",
        "kind": kind,
    }
    return {
        "physicalLocation": {"artifactLocation": {"uri": uri}},
        "logicalLocations": [{name: make_visible(text) for name, text in logical.items()}],
    }


def _fingerprint(dossier: Dossier, rule: str, at: str, nth: int) -> str:
    return sha256(canonical_json([dossier.server.ref, rule, at, nth]))


def _invocation(dossier: Dossier, cards: Sequence[Scorecard]) -> Mapping[str, Any]:
    """Evidence that could not be collected, so that a missing result is not mistaken for "no finding"."""
    absent = [(kind, record.content) for kind, record in sorted(dossier.records.items())]
    notifications = [
        _notification(f"{kind} could not be collected: {content.reason.value} {content.detail}".strip(), "warning")
        for kind, content in absent
        if isinstance(content, Absent)
    ]
    for card in cards:
        if isinstance(card.score, NotMeasured):
            notifications.append(
                _notification(f"{_name(card)} has no score: {card.score.detail or card.score.reason}", "warning")
            )
        notifications += [_notification(f"{_name(card)}: {caveat}", LEVEL_NOTE) for caveat in card.caveats]
    return {"executionSuccessful": True, "toolExecutionNotifications": notifications}


def _notification(text: str, level: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": make_visible(text)}}


def _score(card: Scorecard) -> str | None:
    return None if isinstance(card.score, NotMeasured) else format(card.score, "f")


def _name(card: Scorecard) -> str:
    return f"{card.rubric}@{card.version}"
