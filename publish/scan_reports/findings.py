"""The findings of one scan: each place that breaks a rule once, with its file, its severity and a fingerprint.

The fingerprint needs neither the message nor the line nor the time, so it stays when code moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from itertools import chain
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.canonical import canonical_json, sha256
from evidence.kinds import advisories
from evidence.model import Dossier, Observed
from publish.scan_reports.file_places import FilePlace, FilePlaces, list_file_places
from publish.views.evidence.check_verdicts import CheckVerdicts
from publish.views.server_summary import finding_lines
from scoring.analysis.poisoning_findings import list_messages
from scoring.engine.rule import discover_rules
from scoring.protocol.conformance import CheckResult
from scoring.results.outcome import Finding, Level, Severity
from scoring.results.scorecard import Line, Scorecard
from scoring.rubrics import adaptive_gates
from scoring.rubrics.sdk_tier import FELL_OVER, TOLERATED
from scoring.text import evidence_path

_LEVELS: Final = frozenset({TOLERATED, *(level.value for level in Level)})


class FindingGrade(StrEnum):
    """How severe a finding is.

    `high`: certain harm that caps the default grade, a violated MUST of the protocol, and an advisory of high severity
    in what runs with the server. `medium`: other errors and warnings of rules. `low`: suggestions.
    """

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


_WHOLE: Final = frozenset({"", "server"})
_TOOLS: Final = "tools/"  # with which a message about the texts of the whole server begins
_SERIOUS: Final = frozenset({Severity.ERROR, Severity.WARNING})
_ADVISORY_GRADES: Final = {
    advisories.Severity.CRITICAL: FindingGrade.HIGH,
    advisories.Severity.HIGH: FindingGrade.HIGH,
    advisories.Severity.LOW: FindingGrade.LOW,
}
_ADVISORY_RULE: Final = "dependency-vulnerable"
_ORDER: Final = tuple(FindingGrade)

FindingKey = tuple[str, str, str]
"""Rule, place in our evidence, and message."""


class ScanFinding(Struct, frozen=True, kw_only=True):
    """One place that breaks a rule. `charged` are the lines of receipts that it costs points in.

    `is_judged`: a rubric that decides about the exit code charges for it, or it is a fall: without a score there is no
    cap that charges for it. `is_violation`: it violates a check that is demanded. `accepted` is the reason in the
    baseline.
    """

    rule: str
    at: str
    message: str
    grade: FindingGrade
    fingerprint: str
    charged: tuple[tuple[Scorecard, Line], ...] = ()
    place: FilePlace | None = None
    is_judged: bool = False
    is_violation: bool = False
    is_tolerated: bool = False
    accepted: str = ""

    @property
    def key(self) -> FindingKey:
        return self.rule, self.at, self.message

    @property
    def can_refuse(self) -> bool:
        """Whether an option of the command can make it decide about the exit code."""
        return (self.is_judged or self.is_violation) and not self.is_tolerated

    @property
    def rank(self) -> tuple[int, str, str, int]:
        """The order in lists: the severest first, then by place."""
        place = self.place or FilePlace("")
        return _ORDER.index(self.grade), self.rule, place.path or self.at, place.line


def list_scan_findings(
    dossier: Dossier,
    cards: Sequence[Scorecard],
    violated: Iterable[CheckResult] = (),
    *,
    judged: Sequence[Scorecard] = (),
    tolerated: frozenset[FindingKey] = frozenset(),
    places: FilePlaces | None = None,
) -> tuple[ScanFinding, ...]:
    """What the receipts charge for, and what the violated checks found, each rule, place and message once.

    `tolerated` are deviations that cost nothing.
    """
    merged: dict[FindingKey, list[tuple[Scorecard, Line]]] = {}
    for card, line in _list_ruled_lines(cards):
        merged.setdefault((line.rule or "", line.at, _message(line)), []).append((card, line))
    violations = chain.from_iterable(map(list_untolerated, violated))
    demanded = frozenset((finding.rule, finding.at, finding.message) for finding in violations)
    merged |= {key: [] for key in sorted(demanded - merged.keys())}
    found = _build(dossier, merged, judged, places or list_file_places(dossier))
    return tuple(
        replace(one, is_violation=one.key in demanded, is_tolerated=one.key in tolerated - demanded) for one in found
    )


def accept_findings(findings: Iterable[ScanFinding], reasons: Mapping[str, str]) -> tuple[ScanFinding, ...]:
    """The findings with the reasons of a baseline, by fingerprint."""
    return tuple(replace(one, accepted=reasons.get(one.fingerprint, "")) for one in findings)


def finding_as_json(finding: ScanFinding) -> dict[str, Any]:
    """One finding as JSON, described in `publish.scan_reports.schema`."""
    place = finding.place
    return {
        "rule": finding.rule,
        "severity": finding.grade.value,
        "at": finding.at,
        "message": finding.message,
        "file": place.path if place else None,
        "line": (place.line or None) if place else None,
        "fingerprint": finding.fingerprint,
        "accepted": finding.accepted or None,
    }


def list_violated(checks: CheckVerdicts, levels: Collection[Level]) -> tuple[CheckResult, ...]:
    """The checks of these levels that are violated; a tolerated deviation is no violation."""
    return tuple(one for one in checks.results if one.check.requirement.level in levels and list_untolerated(one))


def list_tolerated(checks: CheckVerdicts) -> frozenset[FindingKey]:
    """The deviations that the specification allows or clients cope with."""
    found = chain.from_iterable(one.findings for one in checks.results)
    return frozenset((one.rule, one.at, one.message) for one in found if one.tolerated)


def list_untolerated(result: CheckResult) -> tuple[Finding, ...]:
    return tuple(finding for finding in result.findings if not finding.tolerated)


def _list_ruled_lines(cards: Sequence[Scorecard]) -> Iterator[tuple[Scorecard, Line]]:
    """Every line of a finding: bonus, clamp and rounding have no rule."""
    for card in cards:
        for line in finding_lines(card):
            if line.rule is not None:
                yield card, line


def _build(
    dossier: Dossier,
    merged: Mapping[FindingKey, Sequence[tuple[Scorecard, Line]]],
    judged: Sequence[Scorecard],
    places: FilePlaces,
) -> Iterator[ScanFinding]:
    flaws = _grade_advisories(dossier)
    doubtful = list_messages(dossier, certain=False) - list_messages(dossier, certain=True)
    seen: Counter[tuple[str, str]] = Counter()
    for (rule, at, message), charged in merged.items():
        place = places.find(message.partition(": ")[0] if at in _WHOLE and message.startswith(_TOOLS) else at)
        stable = _without_line(at, place)
        nth = seen[rule, stable]
        seen[rule, stable] += 1
        yield ScanFinding(
            rule=rule,
            at=at,
            message=message,
            grade=_grade_finding(rule, at, message, flaws, doubtful),
            fingerprint=compute_fingerprint(dossier, rule, stable, nth),
            charged=tuple(charged),
            place=place,
            is_judged=rule == FELL_OVER or any(card is one for card, _ in charged for one in judged),
        )


def _grade_finding(
    rule: str, at: str, message: str, flaws: Mapping[str, FindingGrade], doubtful: Collection[str]
) -> FindingGrade:
    """The severity of one finding: a poisoned text that caps no grade is no certain harm."""
    if at in flaws and rule == _ADVISORY_RULE:
        return flaws[at]
    return FindingGrade.MEDIUM if message in doubtful else grade_rule(rule)


@cache
def grade_rule(rule: str) -> FindingGrade:
    """The severity of the findings of a rule; advisories have their own."""
    known = discover_rules().get(rule)
    if known is None:
        return FindingGrade.LOW
    is_certain = any(criterion.rule == rule for criterion in adaptive_gates.CRITERIA)
    is_violation = known.severity is Severity.ERROR and any(check.level is Level.MUST for check in known.checks)
    if is_certain or is_violation:
        return FindingGrade.HIGH
    return FindingGrade.MEDIUM if known.severity in _SERIOUS else FindingGrade.LOW


def _grade_advisories(dossier: Dossier) -> Mapping[str, FindingGrade]:
    """The severity of each flaw by the path of its finding; low when the package does not run with the server."""
    content = dossier.read(advisories.KIND)
    if not isinstance(content, Observed):
        return {}
    grades = {}
    for group in advisories.Advisories.parse(content.body).groups:
        parts = (group.ecosystem, f"{group.package} {group.version}", group.id)
        at = evidence_path.join_segments(advisories.KIND, *map(evidence_path.escape_segment, parts))
        graded = _ADVISORY_GRADES.get(group.severity, FindingGrade.MEDIUM)
        grades[at] = graded if group.is_at_runtime else FindingGrade.LOW
    return grades


def compute_fingerprint(dossier: Dossier, rule: str, at: str, nth: int) -> str:
    """The digest of the `nth` finding of a rule at a place."""
    return sha256(canonical_json([dossier.server.ref, rule, at, nth]))


def _without_line(at: str, place: FilePlace | None) -> str:
    """The place without the line that it ends with, since lines move; for a credential with its pattern instead."""
    if place is None or not place.line or not at.endswith(f"/{place.line}"):
        return at
    return f"{at.rpartition('/')[0]}/{place.what}"


def _message(line: Line) -> str:
    """What was found, without the level that `sdk_tier` writes before it."""
    level, mark, message = line.why.partition(": ")
    return message if mark and level in _LEVELS else line.why
