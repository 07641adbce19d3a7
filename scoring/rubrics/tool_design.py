"""`tool_design`: each tool starts at 100 and loses 5, 2 or 1 a finding; the score is the mean over the tools.

Version 1 follows mcp_tool_description_validator at commit ab4daaa to the letter; `settled` names its oddities.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_DOWN, Decimal
from itertools import islice
from typing import Final, TypeAlias

from msgspec import Struct

from evidence.kinds import listing
from scoring.engine.assessment import Assessment
from scoring.engine.rubric import NO_PARAMS, Criterion, Rubric
from scoring.engine.rule import ParamValue
from scoring.engine.walk import Pages
from scoring.receipt import START_FACT
from scoring.results import arithmetic
from scoring.results.outcome import LIST_FAILED, Finding, Measured, NotMeasured, Severity
from scoring.results.scorecard import Line, Scorecard
from scoring.rubrics.line_folding import fold_lines
from scoring.scopes.base import Tool
from scoring.text import evidence_path

FULL: Final = Decimal(100)
POINTS: Final = {Severity.ERROR: Decimal(5), Severity.WARNING: Decimal(2), Severity.SUGGESTION: Decimal(1)}
LEVELS: Final = ((Decimal(91), "exemplary"), (Decimal(71), "mature"), (Decimal(41), "moderate"))
LOWEST: Final = "immature"
MAX_LINES: Final = 300
"""Findings of one published id that get a line each; the rest share one line."""

TOOLS: Final = "tools"
"""Fact that holds the name and the score of every tool, in their order, as a JSON list of objects."""

MAX_NAME: Final = 300
_TOGETHER: Final = 500  # rows
_SHARE: Final = Decimal("1E-12")
"""Lines are shares of the mean on this grid, so that their sum is exact."""

E, W, S = Severity.ERROR, Severity.WARNING, Severity.SUGGESTION
_LITERAL: Final[Mapping[str, ParamValue]] = {"literal": True}


def tool_design_criterion(
    cites: str,
    rule: str,
    severity: Severity,
    params: Mapping[str, ParamValue] = NO_PARAMS,
    *,
    pages: Pages = Pages.ALL,
    charged: bool = True,
) -> Criterion:
    """A rule under its published id with the points of its severity, or 0 when another id charges for it."""
    points = POINTS[severity] if charged else Decimal(0)
    return Criterion(cites=cites, rule=rule, severity=severity, points=points, params=params, pages=pages)


def _literally(cites: str, rule: str, severity: Severity, params: Mapping[str, ParamValue] = NO_PARAMS) -> Criterion:
    return tool_design_criterion(cites, rule, severity, params, pages=Pages.SENT)


CRITERIA: Final = (
    _literally("SCH-001", "tool-name-missing", E, {"blank": True}),
    _literally("SCH-002", "tool-description-missing", E),
    _literally("SCH-003", "tool-input-schema-missing", E),
    _literally("SCH-004", "tool-input-schema-uncompilable", E, {"reading": "ajv"}),
    _literally("SCH-005", "tool-input-schema-not-object", E),
    _literally("SCH-006", "tool-parameters-none", W),
    _literally("SCH-007", "tool-required-missing", W, {"allow_none": True}),
    _literally("SCH-008", "tool-required-undeclared", E, {"without_properties": True}),
    _literally("NAM-001", "tool-name-missing", E, {"blank": True}),
    _literally("NAM-002", "tool-name-not-kebab-case", E),
    _literally("NAM-003", "tool-name-length-unusual", W),
    _literally("NAM-004", "tool-name-starts-with-digit", W),
    _literally("NAM-005", "tool-name-without-verb", W, _LITERAL),
    _literally("NAM-006", "param-casing-inconsistent", W, _LITERAL),
    _literally("SEC-001", "param-string-unbounded", E, _LITERAL),
    _literally("SEC-002", "param-array-unbounded", E, _LITERAL),
    _literally("SEC-003", "param-number-unbounded", W, _LITERAL),
    _literally("SEC-004", "param-path-unchecked", E, _LITERAL),
    _literally("SEC-005", "param-address-unchecked", E, _LITERAL),
    _literally("SEC-006", "param-choice-open", W, _LITERAL),
    _literally("SEC-007", "param-sensitive", W, _LITERAL),
    _literally("SEC-008", "param-sensitive-default", E, _LITERAL),
    _literally("SEC-009", "param-object-open", W, _LITERAL),
    _literally("SEC-010", "param-code-unmarked", W, _LITERAL),
    _literally("LLM-001", "tool-description-missing", E),
    _literally("LLM-002", "tool-description-short", W, {"minimum": 20}),
    _literally("LLM-002", "tool-description-long", W, {"maximum": 500}),
    _literally("LLM-003", "tool-description-without-verb", W),
    _literally("LLM-004", "tool-description-without-when", W, _LITERAL),
    _literally("LLM-005", "tool-description-without-example", S, _LITERAL),
    _literally("LLM-006", "param-description-missing", E, {"objects_only": True}),
    _literally("LLM-007", "param-description-length-unusual", W),
    _literally("LLM-008", "param-term-vague", W, _LITERAL),
    _literally("LLM-009", "param-constraint-undescribed", S, _LITERAL),
    _literally("LLM-010", "param-abbreviation-unexplained", W, _LITERAL),
    _literally("LLM-011", "tool-effect-undescribed", S, _LITERAL),
    _literally("LLM-012", "tool-description-unlike-siblings", W),
    _literally("LLM-013", "tool-workflow-unguided", S, _LITERAL),
    _literally("BP-001", "tool-title-missing", S, _LITERAL),
    _literally("BP-002", "tool-hint-missing", S, {"hint": "readOnlyHint", **_LITERAL}),
    _literally("BP-003", "tool-destructive-hint-missing", S, _LITERAL),
    _literally("BP-004", "tool-hint-missing", S, {"hint": "idempotentHint", **_LITERAL}),
    _literally("BP-005", "tool-parameters-many", W),
    _literally("BP-006", "schema-pattern-repeated", S),
    _literally("BP-007", "tool-schema-deep", W),
    _literally("BP-008", "param-examples-missing", S, _LITERAL),
    _literally("BP-009", "tool-output-schema-missing", S),
    _literally("BP-009", "tool-output-schema-undescribed", S),
)

_SETTLED: Final = (
    "The text gives no formula. The implementation takes the mean over the tools, each at least 0, half rounded up.",
    "An empty list of tools scores 100, as published, and so does one that could not be read, with a caveat.",
    "The implementation fails on a parameter whose schema is null; here such a parameter is not judged.",
    "The implementation fails on a tool with a description and no name, and on a name or description that is not text.",
    "Here such a name or description counts as missing.",
    "A missing description costs 10 (SCH-002 and LLM-001), and so does a missing name (SCH-001 and NAM-001).",
    "SCH-004 reads every schema as draft-07, whatever dialect it declares, and an $id may occur only once on a server.",
    "Only top-level parameters are examined, and a union of types counts as no type.",
    "All pages of the list of tools count, also when the server does not declare the capability.",
    "LLM-012: neither the 58 verb forms nor the words for when and example are published; ours agree on all captures.",
)


Found: TypeAlias = tuple[Criterion, Finding]
"""One finding under the criterion that prices it."""


class Correction(Struct, frozen=True, kw_only=True):
    """Points that a version adds to or takes from what the findings about one tool cost."""

    cites: str
    points: Decimal
    why: str


Correct: TypeAlias = Callable[[Tool, Sequence[Found]], tuple[Correction, ...]]


def _correct_nothing(_: Tool, __: Sequence[Found]) -> tuple[Correction, ...]:
    return ()


def judge_tool_design(
    assessment: Assessment,
    rubric: Rubric,
    *,
    unread_counts_as_empty: bool = False,
    correct: Correct = _correct_nothing,
) -> Scorecard:
    pages = rubric.criteria[0].pages
    walk = assessment.walks[pages]
    absent = walk.absent(listing.KIND)
    if absent:
        return _card(assessment, rubric, NotMeasured(absent.reason.value, absent.detail))
    tools, unread = walk.tools, walk.incomplete_end("tools")
    if unread and not tools and not unread_counts_as_empty:
        return _card(assessment, rubric, NotMeasured(LIST_FAILED, f"tools: {unread}"))
    judged = _JudgedTools(tools, rubric, correct)
    lines = fold_lines(judged.list_lines(_list_found(assessment, rubric, tools)), MAX_LINES)
    caveats = (_caveat(unread, any_tools=bool(tools)),) if unread else ()
    grade = arithmetic.find_band(judged.score, LEVELS, LOWEST)
    facts = _facts(tools, judged)
    return _card(assessment, rubric, judged.score, grade=grade, lines=lines, caveats=caveats, facts=facts)


def _caveat(unread: str, *, any_tools: bool) -> str:
    if any_tools:
        return f"tools could not be listed to the end ({unread}); the rest is not in the score."
    return f"tools could not be listed ({unread}); this version counts the list as empty."


def _list_found(
    assessment: Assessment, rubric: Rubric, tools: Sequence[Tool]
) -> Iterator[tuple[Tool, Sequence[Found]]]:
    """The findings about each tool in the order of the criteria. One about the toolset counts for the first tool."""
    first = tools[0].position if tools else ()

    def place(finding: Finding) -> tuple[int, ...]:
        return finding.position[:1] or first

    left: list[tuple[Criterion, list[Finding]]] = []
    waiting: dict[tuple[int, ...], list[int]] = {}  # by place of a tool, the criteria whose next finding is about it
    for part in rubric.criteria:
        outcome = assessment.outcome(part.question)
        if isinstance(outcome, Measured) and outcome.findings:
            findings = sorted(outcome.findings, key=place)
            findings.reverse()
            waiting.setdefault(place(findings[-1]), []).append(len(left))
            left.append((part, findings))
    for tool in tools:
        about: list[Found] = []
        for number in sorted(waiting.pop(tool.position, ())):
            part, findings = left[number]
            while findings and (following := place(findings[-1])) == tool.position:
                about.append((part, findings.pop()))
            if findings:
                waiting.setdefault(following, []).append(number)
        yield tool, about
    if stray := [findings[-1].at for _, findings in left if findings]:
        raise ValueError(f"findings about no tool: {sorted(stray)}")


class _JudgedTools:
    """Judges one tool after the other: the lines about ten thousand tools at once would take 15 MiB.

    The scores of the tools and the severities of the findings are complete when all lines were listed.
    """

    def __init__(self, tools: Sequence[Tool], rubric: Rubric, correct: Correct) -> None:
        self.scores: list[Decimal] = []
        self.severities: Counter[Severity] = Counter()
        self._tools, self._correct = len(tools), correct
        charged = {part.points for part in rubric.criteria} if tools else ()
        self._charges = {points: self._share(-points) for points in charged}

    @property
    def score(self) -> Decimal:
        mean = sum(self.scores, Decimal(0)) / len(self.scores) if self.scores else FULL
        return arithmetic.normalize_decimal(arithmetic.round_half_up(mean))

    def list_lines(self, found: Iterable[tuple[Tool, Sequence[Found]]]) -> Iterator[Line]:
        """The lines about each tool, then one for the difference between the sum of their points and the score."""
        total = FULL
        for tool, about in found:
            for line in self._judge(tool, about):
                total += line.points
                yield line
        if rest := self.score - total:
            yield Line(cites="rounding", points=rest, why="The mean is rounded to a whole number, half up")

    def _judge(self, tool: Tool, about: Sequence[Found]) -> Iterator[Line]:
        corrected = self._correct(tool, about)
        cost = sum([part.points for part, _ in about], Decimal(0))
        cost -= sum([each.points for each in corrected], Decimal(0))
        self.scores.append(max(Decimal(0), FULL - cost))
        self.severities.update([part.severity for part, _ in about])
        for part, finding in about:
            yield Line(
                cites=part.cites,
                points=self._charges[part.points],
                why=finding.message,
                rule=finding.rule,
                at=finding.at,
                severity=part.severity_word,
                evidence=finding.evidence,
            )
        for each in corrected:
            yield Line(cites=each.cites, points=self._share(each.points), why=each.why, at=tool.at)
        if cost > FULL:
            yield Line(cites="floor", points=self._share(cost - FULL), why="A tool scores at least 0", at=tool.at)

    def _share(self, points: Decimal) -> Decimal:
        """What points of one tool are in the mean over all tools."""
        return arithmetic.normalize_decimal((points / self._tools).quantize(_SHARE, rounding=ROUND_DOWN))


def _facts(tools: Sequence[Tool], judged: _JudgedTools) -> dict[str, str]:
    severities = judged.severities
    named = (
        {"name": evidence_path.clip_text(tool.name, MAX_NAME), "score": int(score)}
        for tool, score in zip(tools, judged.scores, strict=True)
    )
    return {
        START_FACT: str(FULL),
        "errors": str(severities[E]),
        "warnings": str(severities[W]),
        "suggestions": str(severities[S]),
        TOOLS: _encode_rows(named),
    }


def _encode_rows(rows: Iterator[Mapping[str, object]]) -> str:
    """Rows as one JSON list. Of all rows at once, the encoder would take many times the memory of what it makes."""
    parts = []
    while some := list(islice(rows, _TOGETHER)):
        parts.append(json.dumps(some, ensure_ascii=False, separators=(",", ":"))[1:-1])
    return f"[{','.join(parts)}]"


def _card(
    assessment: Assessment,
    rubric: Rubric,
    score: Decimal | NotMeasured,
    *,
    grade: str | None = None,
    lines: tuple[Line, ...] = (),
    caveats: tuple[str, ...] = (),
    facts: Mapping[str, str] | None = None,
) -> Scorecard:
    measured = not isinstance(score, NotMeasured)
    return Scorecard(
        server=assessment.server,
        rubric=rubric.id,
        version=rubric.version,
        source_version=rubric.source_version,
        score=score,
        grade=grade,
        as_of=assessment.as_of,
        coverage=Decimal(1 if measured else 0),
        lines=lines,
        caveats=caveats,
        facts=facts or {},
        versions=assessment.versions,
        evidence=assessment.evidence,
    )


def _score(assessment: Assessment) -> Scorecard:
    return judge_tool_design(assessment, TOOL_DESIGN_1, unread_counts_as_empty=True)


TOOL_DESIGN_1: Final = Rubric(
    id="tool_design",
    version=1,
    source_version="ab4daaa",
    title="MCP tool design maturity",
    summary="Each tool: 100 points less 5 an error, 2 a warning and 1 a suggestion; the mean over all tools.",
    source="https://github.com/chief-builder/mcp_tool_description_validator",
    criteria=CRITERIA,
    settled=_SETTLED,
    judge=_score,
    bands=(*LEVELS, (Decimal(0), LOWEST)),
)
