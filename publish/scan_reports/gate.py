"""What the gate of one scan decides. The exit code and every report state this one decision."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from evidence.kinds import listing, source
from evidence.kinds.listing import LISTS, End, Listing
from evidence.model import Absent, Dossier, Observed, Reason
from publish.scan_reports.findings import FindingGrade, FindingKey, ScanFinding, list_untolerated, list_violated
from publish.views.evidence.check_verdicts import CheckVerdicts
from scoring.protocol.conformance import CheckResult, Verdict
from scoring.results.outcome import Level, NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.results.verdict import COLLECTOR_FAILED
from scoring.rubrics.sdk_tier import FELL_OVER

OUR_FAILURES: Final = frozenset({COLLECTOR_FAILED, Reason.COLLECTOR_ERROR.value, Reason.COLLECTOR_OFFLINE.value})


class GateStatus(StrEnum):
    """How a scan ended: exit codes 0, 4 and 3."""

    PASSED = "passed"
    REFUSED = "refused"
    NOT_MEASURED = "not_measured"


class Gate(Struct, frozen=True, kw_only=True):
    """What is demanded: the least score of the judged rubrics, the levels of checks that must not be violated, and the
    severities that no finding may have.
    """

    minimum: Decimal | None = None
    levels: frozenset[Level] = frozenset()
    grades: frozenset[FindingGrade] = frozenset()

    @property
    def is_open(self) -> bool:
        """Whether nothing is demanded."""
        return self.minimum is None and not self.levels and not self.grades


class ScoreDemand(Struct, frozen=True):
    """One judged rubric under a minimum. `why` says what is wrong; empty when the score suffices."""

    rubric: str
    why: str = ""
    is_our_failure: bool = False


class GateDecision(Struct, frozen=True, kw_only=True):
    """`untested` is why nothing could be listed, in words, or under a demand not everything that the server declares;
    empty when the server was tested.

    `found` are the findings of a refused severity, and a fall where checks are demanded. `is_read`: the files of the
    project were read, so that the scan of a server that was not started measured something.
    """

    gate: Gate
    violated: tuple[CheckResult, ...] = ()
    found: tuple[ScanFinding, ...] = ()
    is_read: bool = False
    scores: tuple[ScoreDemand, ...] = ()
    untested: str = ""
    not_examined: tuple[CheckResult, ...] = ()

    @property
    def status(self) -> GateStatus:
        if self.violated or self.found or any(score.why and not score.is_our_failure for score in self.scores):
            return GateStatus.REFUSED
        needs_server = self.gate.levels or self.scores or not self.is_read
        is_unmeasured = (self.untested and needs_server) or any(score.is_our_failure for score in self.scores)
        return GateStatus.NOT_MEASURED if is_unmeasured else GateStatus.PASSED

    def list_refused(self) -> frozenset[FindingKey]:
        """The findings for which the server is refused; tolerated ones are none."""
        violations = ((one.rule, one.at, one.message) for result in self.violated for one in list_untolerated(result))
        return frozenset({*violations, *(one.key for one in self.found)})


def decide_gate(
    gate: Gate,
    dossier: Dossier,
    judged: Sequence[Scorecard],
    checks: CheckVerdicts,
    findings: Sequence[ScanFinding] = (),
    *,
    is_project: bool = False,
) -> GateDecision:
    """The decision about one server. Too little evidence fails as a low score does; a failure of ours does not."""
    content = dossier.read(listing.KIND)
    accepted = {one.key for one in findings if one.accepted}
    violated = (
        result
        for result in list_violated(checks, gate.levels)
        if any((one.rule, one.at, one.message) not in accepted for one in list_untolerated(result))
    )
    # Checks that a server that fell was not asked must not pass for it.
    refused = (one for one in findings if one.grade in gate.grades or (gate.levels and one.rule == FELL_OVER))
    return GateDecision(
        gate=gate,
        violated=tuple(violated),
        found=tuple(one for one in refused if one.can_refuse and not one.accepted),
        is_read=is_project and isinstance(dossier.read(source.KIND), Observed),
        scores=() if gate.minimum is None else tuple(_demand_score(card, gate.minimum) for card in judged),
        untested=_describe_absence(content) if isinstance(content, Absent) else _describe_unanswered(gate, content),
        not_examined=tuple(result for result in checks.results if result.verdict is Verdict.INCONCLUSIVE),
    )


def decision_as_json(decision: GateDecision) -> dict[str, Any]:
    """The decision as one JSON object, described in `publish.scan_reports.schema`."""
    checks = [
        {"kind": "check", "id": result.check.requirement.id, "why": list_untolerated(result)[0].message}
        for result in decision.violated
    ]
    scores = [{"kind": "score", "id": score.rubric, "why": score.why} for score in decision.scores if score.why]
    found = [{"kind": "finding", "id": one.rule, "why": one.message} for one in decision.found]
    untested = [{"kind": "server", "id": listing.KIND, "why": decision.untested}] if decision.untested else []
    return {
        "status": decision.status.value,
        "failures": [*checks, *scores, *found, *untested],
        "not_examined": [result.check.requirement.id for result in decision.not_examined],
    }


def _demand_score(card: Scorecard, minimum: Decimal) -> ScoreDemand:
    name = f"{card.rubric}@{card.version}"
    match card.score:
        case NotMeasured(reason, detail):
            why, ours = detail or reason.replace("_", " "), reason in OUR_FAILURES
            words = "could not be measured" if ours else "has not enough evidence for a score"
            return ScoreDemand(name, f"{name} {words}: {why}; expected at least {minimum}", ours)
        case score if score < minimum:
            return ScoreDemand(name, f"{name} is {score}, expected at least {minimum}")
    return ScoreDemand(name)


def _describe_unanswered(gate: Gate, content: Observed) -> str:
    """The declared lists to which there was no usable answer: a server that ends early must not pass a gate."""
    if gate.is_open:
        return ""
    found = Listing.parse(content.body)
    names = [name for name in LISTS if found.list_of(name).declared and found.list_of(name).end is End.FAILED]
    return f"no usable answer to the request for its {' and '.join(names)}" if names else ""


def _describe_absence(content: Absent) -> str:
    reason = content.reason.value.replace("_", " ")
    return f"{reason}: {content.detail}" if content.detail else reason
