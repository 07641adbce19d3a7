"""What the gate of one scan decides. The exit code and every report state this one decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from evidence.kinds import listing
from evidence.model import Absent, Dossier, Reason
from publish.views.evidence.check_verdicts import CheckVerdicts
from scoring.protocol.conformance import CheckResult, Verdict
from scoring.results.outcome import Finding, Level, NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.results.verdict import COLLECTOR_FAILED

OUR_FAILURES: Final = frozenset({COLLECTOR_FAILED, Reason.COLLECTOR_ERROR.value, Reason.COLLECTOR_OFFLINE.value})


class GateStatus(StrEnum):
    """How a scan ended: exit codes 0, 4 and 3."""

    PASSED = "passed"
    REFUSED = "refused"
    NOT_MEASURED = "not_measured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What is demanded: the least score of the judged rubrics, and the levels of checks that must not be violated."""

    minimum: Decimal | None = None
    levels: frozenset[Level] = frozenset()


@dataclass(frozen=True, slots=True)
class ScoreDemand:
    """One judged rubric under a minimum. `why` says what is wrong; empty when the score suffices."""

    rubric: str
    why: str = ""
    is_our_failure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecision:
    """`untested` is why nothing could be listed, in words; empty when the server was tested."""

    gate: Gate
    violated: tuple[CheckResult, ...] = ()
    scores: tuple[ScoreDemand, ...] = ()
    untested: str = ""
    not_examined: tuple[CheckResult, ...] = ()

    @property
    def status(self) -> GateStatus:
        if self.violated or any(score.why and not score.is_our_failure for score in self.scores):
            return GateStatus.REFUSED
        is_unmeasured = self.untested or any(score.is_our_failure for score in self.scores)
        return GateStatus.NOT_MEASURED if is_unmeasured else GateStatus.PASSED

    @property
    def findings(self) -> Iterator[Finding]:
        """The findings that refuse the server; tolerated ones do not."""
        return (finding for result in self.violated for finding in list_untolerated(result))


def list_untolerated(result: CheckResult) -> tuple[Finding, ...]:
    return tuple(finding for finding in result.findings if not finding.tolerated)


def decide_gate(gate: Gate, dossier: Dossier, judged: Sequence[Scorecard], checks: CheckVerdicts) -> GateDecision:
    """The decision about one server. Too little evidence fails as a low score does; a failure of ours does not."""
    content = dossier.read(listing.KIND)
    violated = (
        result
        for result in checks.results
        if result.check.requirement.level in gate.levels and list_untolerated(result)
    )
    return GateDecision(
        gate=gate,
        violated=tuple(violated),
        scores=() if gate.minimum is None else tuple(_demand_score(card, gate.minimum) for card in judged),
        untested=_describe_absence(content) if isinstance(content, Absent) else "",
        not_examined=tuple(result for result in checks.results if result.verdict is Verdict.INCONCLUSIVE),
    )


def decision_as_json(decision: GateDecision) -> dict[str, Any]:
    """The decision as one JSON object, described in `publish.scan_reports.schema`."""
    checks = [
        {"kind": "check", "id": result.check.requirement.id, "why": list_untolerated(result)[0].message}
        for result in decision.violated
    ]
    scores = [{"kind": "score", "id": score.rubric, "why": score.why} for score in decision.scores if score.why]
    untested = [{"kind": "server", "id": listing.KIND, "why": decision.untested}] if decision.untested else []
    return {
        "status": decision.status.value,
        "failures": [*checks, *scores, *untested],
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


def _describe_absence(content: Absent) -> str:
    reason = content.reason.value.replace("_", " ")
    return f"{reason}: {content.detail}" if content.detail else reason
