"""`sdk_tier`: a tier from the share of MUST and SHOULD checks that pass, as mcptest publishes it.

The table of tiers is mcptest's own, although its page names SEP-2484. That proposal is about conformance tests for new
proposals; the specification's tiers (SEP-1730) rate SDKs, by other thresholds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from enum import Enum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.kinds.exchanges import Exchange, Exchanges
from evidence.model import Absent, Reason
from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Criterion, Rubric
from scoring.engine.rule import discover_rules
from scoring.engine.walk import Pages
from scoring.protocol import conformance
from scoring.protocol.conformance import CheckResult, Verdict
from scoring.protocol.streamable_http import STREAMABLE
from scoring.receipt import START_FACT
from scoring.results import arithmetic
from scoring.results.outcome import Level, Measured, NotMeasured, Severity
from scoring.results.scorecard import Line, Scorecard
from scoring.rubrics.line_folding import fold_lines
from scoring.scopes.conversation import CORE, LEFT_OUT, NOT_ASKED

KIND: Final = "exchanges"
TIER1_SHOULD: Final = 95
TIER2_SHOULD: Final = 70
"""Per cent of SHOULD checks. Compared in integers: `100 * passed >= 95 * total`."""

VACUOUS: Final = "vacuous"
FAILED_IN_PROBE: Final = "failed_in_probe"
UNFINISHED: Final = "unfinished"
TOLERATED: Final = "tolerated"
FULL: Final = Decimal(100)
MAX_LINES: Final = 100

_LEFT_OUT: Final = NotMeasured(
    UNFINISHED, "the server fell after a question, or looks like a version that falls, so checks could not be finished"
)
"""The same words for both, since a fall is private until it is disclosed; no words for the question."""

_MADE: Final = frozenset({Verdict.PASS, Verdict.WARN, Verdict.FAIL})
_UNREADABLE: Final = "JSON-03"
_REQUIRED: Final = frozenset({Level.MUST, Level.SHOULD})


class Tier(Enum):
    """The tier; its value is the text of the badge."""

    TIER1 = "T1"
    TIER2 = "T2"
    TIER3 = "T3"
    FAIL = "F"


class TierInput(Struct, frozen=True, kw_only=True):
    """Counts of one run; raise ValueError for impossible counts."""

    must_passed: int
    must_total: int
    should_passed: int
    should_total: int

    def __post_init__(self) -> None:
        for passed, total in ((self.must_passed, self.must_total), (self.should_passed, self.should_total)):
            if not 0 <= passed <= total:
                raise ValueError(f"0 <= passed <= total expected, found {passed} of {total}")

    @property
    def vacuous(self) -> bool:
        """Whether no MUST check was made; such a tier is never published."""
        return self.must_total == 0

    @property
    def percentage(self) -> int:
        """Share of the checks that passed in whole per cent, rounded down; 100 without checks."""
        total = self.must_total + self.should_total
        return 100 * (self.must_passed + self.should_passed) // total if total else 100


def score_tier(counts: TierInput) -> Tier:
    """The published rule with its edge cases: no MUST checks, or no SHOULD checks, is Tier 1."""
    if counts.must_total == 0:
        return Tier.TIER1
    if counts.must_passed < counts.must_total:
        return Tier.FAIL
    if counts.should_total == 0 or 100 * counts.should_passed >= TIER1_SHOULD * counts.should_total:
        return Tier.TIER1
    return Tier.TIER2 if 100 * counts.should_passed >= TIER2_SHOULD * counts.should_total else Tier.TIER3


FELL_OVER: Final = "server-fell-over"
CRITERIA: Final = (
    *(check.criterion for check in conformance.list_checks()),
    Criterion(cites=FELL_OVER, rule=FELL_OVER, severity=discover_rules()[FELL_OVER].severity),
)
"""Every check of the protocol, by its published id, and the rule of falls, under which there is no tier. Checks that
are only informational count for nothing.
"""

_SETTLED: Final = (
    "A server with which nothing was exchanged has no tier, nor has one for which no MUST check could be made.",
    "Checks that did not apply are left out, and JSON-03 without an answer over stdio or SSE; unfinished ones fail.",
    "Coverage is the share of the checks that apply which could be made.",
    "A server that answered and then failed (500, 502, 503, 504, or no connection) has no tier.",
    "A core probe, one that stopped early, and one of a server that fell or may fall give no tier.",
    "An unfinished MUST gives none either, unless another one failed.",
    "A deviation that the specification did not forbid before 2026-07-28 is shown as tolerated and costs nothing.",
    "The percentage is that of all MUST and SHOULD checks, rounded down; the tier is the grade.",
)


def count_checks(results: Iterable[CheckResult]) -> TierInput:
    """Number of MUST and SHOULD checks that apply and that passed; a tolerated deviation from a MUST passes.

    A check that could not be finished applies and did not pass.
    """
    made: Counter[tuple[Level, bool]] = Counter()
    for result in results:
        if result.verdict is not Verdict.NOT_APPLICABLE:
            made[result.check.requirement.level, _passed(result)] += 1
    return TierInput(
        must_passed=made[Level.MUST, True],
        must_total=made[Level.MUST, True] + made[Level.MUST, False],
        should_passed=made[Level.SHOULD, True],
        should_total=made[Level.SHOULD, True] + made[Level.SHOULD, False],
    )


def _passed(result: CheckResult) -> bool:
    return result.verdict in _MADE and all(finding.tolerated for finding in result.findings)


def _score(assessment: Assessment) -> Scorecard:
    falls = tuple(_list_falls(assessment))
    found = _judge(assessment, has_fallen=bool(falls))
    return replace(found, lines=(*falls, *found.lines)) if falls else found


def _judge(assessment: Assessment, *, has_fallen: bool) -> Scorecard:
    content = assessment.dossier.read(KIND)
    if isinstance(content, Absent):
        return _card(assessment, NotMeasured(content.reason.value, content.detail))
    recorded = assessment.walks[Pages.ALL].conversation.recorded
    results = [one for one in conformance.evaluate_checks(assessment) if not _needs_no_answer(one, recorded.exchanges)]
    counts = count_checks(results)
    unfinished = [result for result in results if _is_required(result) and result.verdict is Verdict.INCONCLUSIVE]
    is_left_out = has_fallen or any(result.why == LEFT_OUT for result in unfinished)
    if missing := _LEFT_OUT if is_left_out else _find_stop(recorded):
        return _card(assessment, missing)
    if counts.vacuous or counts.must_total == _count_musts(unfinished):
        return _card(assessment, NotMeasured(VACUOUS, "no MUST check could be made"))
    total = counts.must_total + counts.should_total
    score = Decimal(counts.percentage)
    lines = list(_lines(results, unfinished, total))
    lines += _rounding(score - arithmetic.add_points(FULL, (line.points for line in lines)))
    is_open = 0 < counts.must_total - counts.must_passed == _count_musts(unfinished)
    tier = None if is_open else score_tier(counts).value
    card = _card(assessment, score, tier, counts, fold_lines(lines, MAX_LINES))
    return replace(
        card,
        coverage=arithmetic.normalize_decimal(arithmetic.round_to_quantum(Decimal(total - len(unfinished)) / total)),
        ceiling=Decimal(100 * (counts.must_passed + counts.should_passed + len(unfinished)) // total),
        caveats=(_describe_unfinished(unfinished),) if unfinished else (),
    )


def _list_falls(assessment: Assessment) -> Iterator[Line]:
    """A line without points for each fall. The place and the message are private until they are disclosed."""
    criterion = CRITERIA[-1]
    outcome = assessment.outcome(criterion.question)
    for finding in outcome.findings if isinstance(outcome, Measured) else ():
        yield Line(
            cites=criterion.cites,
            points=Decimal(0),
            why=finding.message,
            rule=finding.rule,
            at=finding.at,
            severity=criterion.severity.value,
            evidence=finding.evidence,
        )


def _needs_no_answer(result: CheckResult, exchanges: Iterable[Exchange]) -> bool:
    """Whether a check is open only since a text that is no message was not answered where answers share a channel."""
    is_open = result.check.requirement.id == _UNREADABLE and result.verdict is Verdict.INCONCLUSIVE
    return is_open and not any(one.step == "malformed" and one.connection.transport == STREAMABLE for one in exchanges)


def _find_stop(recorded: Exchanges) -> NotMeasured | None:
    """Why a probe was too short for a tier, if it was."""
    if recorded.depth == CORE:
        return NotMeasured(NOT_ASKED, "a tier needs a full probe, and only a core probe was made")
    if failure := _find_failure(recorded.exchanges):
        return NotMeasured(FAILED_IN_PROBE, failure)
    if stop := recorded.stopped_at or _find_unasked(recorded.exchanges):
        why = stop.failure or f"HTTP {stop.status}"
        return NotMeasured(UNFINISHED, f"the probe was not finished: {stop.at}: {why}")
    return None


def _find_failure(exchanges: Iterable[Exchange]) -> str:
    """The first exchange after an answer in which the server failed, in words; empty when it never did."""
    answered = False
    for exchange in exchanges:
        if answered and exchange.is_server_failure:
            return f"{exchange.at}: {exchange.unclear}"
        answered = answered or exchange.answer is not None
    return ""


def _find_unasked(exchanges: Iterable[Exchange]) -> Exchange | None:
    return next((one for one in exchanges if one.failure == Reason.NOT_COLLECTED), None)


def _is_required(result: CheckResult) -> bool:
    return result.check.requirement.level in _REQUIRED


def _count_musts(results: Iterable[CheckResult]) -> int:
    return sum(result.check.requirement.level is Level.MUST for result in results)


def _describe_unfinished(unfinished: Sequence[CheckResult]) -> str:
    ids = ", ".join(result.check.requirement.id for result in unfinished)
    return f"not finished, so not counted as passed: {ids}"


def _lines(results: Iterable[CheckResult], unfinished: Sequence[CheckResult], total: int) -> Iterator[Line]:
    each = arithmetic.round_to_quantum(FULL / total)
    for result in results:
        level = result.check.requirement.level
        costs = not _passed(result) and level in _REQUIRED
        for finding in result.findings:
            charged = costs and not finding.tolerated
            costs = costs and not charged
            yield Line(
                cites=result.check.requirement.id,
                points=-each if charged else Decimal(0),
                why=f"{TOLERATED if finding.tolerated else level}: {finding.message}",
                rule=finding.rule,
                at=finding.at,
                severity=(Severity.INFO if finding.tolerated else result.check.rule.severity).value,
                evidence=finding.evidence,
            )
    if unfinished:
        yield Line(cites=UNFINISHED, points=-each * len(unfinished), why=_describe_unfinished(unfinished))


def _rounding(points: Decimal) -> Iterator[Line]:
    if points:
        yield Line(cites="rounding", points=points, why="Rounded down to a whole per cent")


def _card(
    assessment: Assessment,
    score: Decimal | NotMeasured,
    grade: str | None = None,
    counts: TierInput | None = None,
    lines: tuple[Line, ...] = (),
) -> Scorecard:
    return Scorecard(
        server=assessment.server,
        rubric=SDK_TIER_1.id,
        version=SDK_TIER_1.version,
        source_version=SDK_TIER_1.source_version,
        score=score,
        grade=grade,
        as_of=assessment.as_of,
        coverage=Decimal(0),
        lines=lines,
        facts={} if counts is None else _facts(counts),
        versions=assessment.versions,
        evidence=assessment.evidence,
    )


def _facts(counts: TierInput) -> dict[str, str]:
    return {
        START_FACT: str(FULL),
        "must": f"{counts.must_passed} of {counts.must_total}",
        "should": f"{counts.should_passed} of {counts.should_total}",
    }


SDK_TIER_1: Final = Rubric(
    id="sdk_tier",
    version=1,
    source_version="2026-07",
    title="Conformance tier (mcptest-style)",
    summary="Every MUST check, and 95 % or 70 % of SHOULD checks, for tier 1 or 2. The table is mcptest's, not MCP's.",
    source="https://mcptest.sh/docs/conformance-tier",
    criteria=CRITERIA,
    settled=_SETTLED,
    judge=_score,
    bands=(),
)
