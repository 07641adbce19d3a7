"""`lint`: 100 points less 15, 5 or 1 for every error, warning or info, as MCP Playground's linter counts them.

Version 1 follows the published implementation to the letter, its undocumented parts included; `settled` names them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from operator import itemgetter
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.kinds import listing
from scoring.engine.assessment import Assessment
from scoring.engine.rubric import NO_PARAMS, Criterion, Rubric
from scoring.engine.rule import ParamValue
from scoring.engine.walk import Pages, Walk
from scoring.receipt import START_FACT
from scoring.results import arithmetic
from scoring.results.outcome import LIST_FAILED, Finding, Measured, NotMeasured, Severity
from scoring.results.scorecard import Line, Scorecard
from scoring.rubrics.line_folding import fold_lines
from scoring.scopes import base
from scoring.text import javascript

FULL: Final = Decimal(100)
POINTS: Final = {Severity.ERROR: Decimal(15), Severity.WARNING: Decimal(5), Severity.INFO: Decimal(1)}
BONUS: Final = Decimal(5)
BONUS_ID: Final = "bonus"
BANDS: Final = ((Decimal(90), "A"), (Decimal(75), "B"), (Decimal(60), "C"), (Decimal(40), "D"))
FAILED: Final = "F"
CHARACTERS_PER_TOKEN: Final = Decimal("3.5")
MAX_LINES: Final = 1000
"""Findings of one criterion that get a line each; the rest share one line."""

LISTS: Final = ("tools", "resources", "prompts")


def lint_criterion(
    cites: str, rule: str, severity: Severity, params: Mapping[str, ParamValue] = NO_PARAMS, *, pages: Pages = Pages.ALL
) -> Criterion:
    """A rule under its published id with the points of its severity; the bonus has no points."""
    points = POINTS[severity] if cites != BONUS_ID else Decimal(0)
    return Criterion(cites=cites, rule=rule, severity=severity, points=points, params=params, pages=pages)


def _criterion(cites: str, rule: str, severity: Severity, params: Mapping[str, ParamValue] = NO_PARAMS) -> Criterion:
    return lint_criterion(cites, rule, severity, params, pages=Pages.FIRST)


CRITERIA: Final = (
    _criterion("server-empty", "server-offers-nothing", Severity.ERROR),
    _criterion("server-no-name", "server-name-missing", Severity.WARNING),
    _criterion("server-no-version", "server-version-missing", Severity.WARNING),
    _criterion("server-duplicate-tools", "tool-names-duplicated", Severity.ERROR),
    _criterion("tool-no-description", "tool-description-missing", Severity.ERROR),
    _criterion("tool-short-description", "tool-description-short", Severity.WARNING, {"minimum": 10}),
    _criterion("tool-long-description", "tool-description-long", Severity.WARNING, {"maximum": 500}),
    _criterion("tool-description-is-name", "tool-description-repeats-name", Severity.WARNING),
    _criterion("tool-no-schema", "tool-input-schema-missing", Severity.WARNING),
    _criterion("tool-schema-not-object", "tool-input-schema-not-object", Severity.INFO),
    _criterion("prop-no-description", "param-description-missing", Severity.WARNING),
    _criterion("prop-no-type", "param-type-missing", Severity.WARNING),
    _criterion("tool-no-required", "tool-required-missing", Severity.INFO),
    _criterion("required-not-in-properties", "tool-required-undeclared", Severity.ERROR),
    _criterion("tool-empty-schema", "tool-properties-missing", Severity.INFO),
    _criterion("tool-name-convention", "tool-name-unconventional", Severity.INFO),
    _criterion("resource-no-name", "resource-name-missing", Severity.WARNING),
    _criterion("resource-no-description", "resource-description-missing", Severity.WARNING),
    _criterion("resource-no-mimetype", "resource-mime-type-missing", Severity.INFO),
    _criterion("prompt-no-description", "prompt-description-missing", Severity.ERROR),
    _criterion("prompt-arg-no-description", "prompt-argument-description-missing", Severity.WARNING),
)

BONUS_CRITERIA: Final = (
    _criterion(BONUS_ID, "tool-description-missing", Severity.INFO),
    _criterion(BONUS_ID, "tool-description-short", Severity.INFO, {"minimum": 20}),
)

_SETTLED: Final = (
    "server-grade-f is in the implementation only: an F without any error adds an error that costs no points.",
    "The bonus is added before the score is clamped, so it offsets up to five points, and it needs at least one tool.",
    "Only the first page of each declared list is read; resource templates and annotations are not judged.",
    "Lengths are UTF-16 code units, trimming is JavaScript's, and tool-empty-schema does not fire on `properties: {}`.",
    "The implementation fails on a tool without a name; here the name counts as empty.",
    "A list that answered an error counts as empty, with a caveat: 0 and F when that leaves nothing.",
)


class LintVersion(Struct, frozen=True):
    """The differences between the versions apart from their criteria."""

    unread_counts_as_empty: bool
    error_for_grade_f: bool


def judge_lint(assessment: Assessment, rubric: Rubric, reading: LintVersion) -> Scorecard:
    walk = assessment.walks[rubric.criteria[0].pages]
    absent = walk.absent(listing.KIND)
    if absent:
        return _card(assessment, rubric, NotMeasured(absent.reason.value, absent.detail))
    declared, unread = _declared(walk), _unread(walk)
    empty = walk.server.tools + walk.server.resources + walk.server.prompts == 0
    if empty and unread and not reading.unread_counts_as_empty:
        return _card(assessment, rubric, NotMeasured(LIST_FAILED, f"{', '.join(unread)} could not be listed"))
    skip = frozenset() if reading.unread_counts_as_empty else frozenset(unread)
    lines = [*_deductions(assessment, rubric, skip)]
    adjusted = arithmetic.add_points(FULL, (line.points for line in lines))
    lines += _adjustments(assessment, rubric, adjusted, empty=empty)
    score = arithmetic.normalize_decimal(arithmetic.add_points(FULL, (line.points for line in lines)))
    grade = arithmetic.find_band(score, BANDS, FAILED)
    if reading.error_for_grade_f and grade == FAILED and not any(line.severity == Severity.ERROR for line in lines):
        lines.append(Line(cites="server-grade-f", points=Decimal(0), why="Grade F without an error", severity="error"))
    card = _card(assessment, rubric, score, grade=grade, lines=lines)
    return _with_caveats(card, declared, unread, skip)


def _with_caveats(card: Scorecard, declared: list[str], unread: list[str], skip: frozenset[str]) -> Scorecard:
    if not skip:
        caveats = tuple(f"{name} could not be listed; this version counts the list as empty." for name in unread)
        return replace(card, caveats=caveats)
    caveats = tuple(f"{name} could not be listed and are not in the score." for name in unread)
    coverage = arithmetic.round_to_quantum(1 - Decimal(len(skip)) / len(declared))
    return replace(card, caveats=caveats, coverage=coverage, floor=Decimal(0))


def _deductions(assessment: Assessment, rubric: Rubric, skip: frozenset[str]) -> Iterator[Line]:
    """A line for every finding in the order of the reference: server, tools, resources, prompts."""
    located: list[tuple[tuple[int, ...], Criterion, Finding]] = []
    scored = [part for part in rubric.criteria if part.cites != BONUS_ID]
    scopes = [part.declared.scope for part in scored]
    for order, (part, judged) in enumerate(zip(scored, scopes, strict=True)):
        outcome = assessment.outcome(part.question)
        if isinstance(outcome, Measured) and outcome.findings and not (skip and _about(judged) in skip):
            place, run = _place(judged), scopes.index(judged)
            located += [(_key(place, run, order, finding), part, finding) for finding in outcome.findings]
    located.sort(key=itemgetter(0))
    located.reverse()
    while located:  # each key is released at once: those of ten thousand tools take 4 MiB
        _, part, finding = located.pop()
        yield _line(part, finding)


def _adjustments(assessment: Assessment, rubric: Rubric, score: Decimal, *, empty: bool) -> Iterator[Line]:
    """The lines that are not findings: bonus, clamp to 0..100, and the 0 of an empty server."""
    if _deserves_bonus(assessment, rubric):
        gained = min(FULL, score + BONUS) - score
        score += gained
        yield Line(cites=BONUS_ID, points=gained, why="Every tool has a description of at least 20 characters")
    clamped = arithmetic.clamp_value(score, Decimal(0), FULL)
    if clamped != score:
        yield Line(cites="clamp", points=clamped - score, why="A score is at least 0")
    if empty and clamped:
        yield Line(cites="empty", points=-clamped, why="A server without tools, resources and prompts scores 0")


def _deserves_bonus(assessment: Assessment, rubric: Rubric) -> bool:
    outcomes = [assessment.outcome(part.question) for part in rubric.criteria if part.cites == BONUS_ID]
    return all(isinstance(outcome, Measured) and outcome.checked and not outcome.findings for outcome in outcomes)


def _place(judged: type[base.Scope]) -> int:
    if issubclass(judged, (base.Tool, base.Param)):
        return 1
    if issubclass(judged, base.Resource):
        return 2
    return 3 if issubclass(judged, (base.Prompt, base.PromptArg)) else 0


def _about(judged: type[base.Scope]) -> str:
    """The name of the list of a scope; empty for the server itself."""
    if issubclass(judged, base.Toolset):
        return "tools"
    return ("", *LISTS)[_place(judged)]


def _key(place: int, run: int, order: int, finding: Finding) -> tuple[int, ...]:
    """Place, item, then either the criterion or, for parts of an item, the run of criteria part by part."""
    item, *part = finding.position or (0,)
    return (place, item, run if part else order, *part, order)


def _line(criterion: Criterion, finding: Finding) -> Line:
    return Line(
        cites=criterion.cites,
        points=-criterion.points,
        why=finding.message,
        rule=finding.rule,
        at=finding.at,
        severity=criterion.severity_word,
        evidence=finding.evidence,
    )


def _declared(walk: Walk) -> list[str]:
    return [name for name in LISTS if walk.is_declared(name)]


def _unread(walk: Walk) -> list[str]:
    return [name for name in _declared(walk) if walk.incomplete_end(name) and not walk.listing.list_of(name).pages]


def _card(
    assessment: Assessment,
    rubric: Rubric,
    score: Decimal | NotMeasured,
    *,
    grade: str | None = None,
    lines: Sequence[Line] = (),
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
        lines=fold_lines(lines, MAX_LINES),
        facts=_facts(assessment.walks[rubric.criteria[0].pages], lines) if measured else {},
        versions=assessment.versions,
        evidence=assessment.evidence,
    )


def _facts(walk: Walk, lines: Sequence[Line]) -> dict[str, str]:
    severities = [line.severity for line in lines]
    tokens = {tool.at: _tokens(tool) for tool in walk.tools}
    counts = {
        START_FACT: int(FULL),
        "errors": severities.count(Severity.ERROR),
        "warnings": severities.count(Severity.WARNING),
        "infos": severities.count(Severity.INFO),
        "tools": walk.server.tools,
        "resources": walk.server.resources,
        "prompts": walk.server.prompts,
        "tokens": sum(tokens.values()),
        **{f"tokens/{at}": count for at, count in tokens.items()},
    }
    return {name: str(count) for name, count in counts.items()}


def _tokens(tool: base.Tool) -> int:
    """Tokens of a tool in a model's context: characters of name, description and schema divided by 3.5."""
    length = javascript.utf16_length(f"{tool.name} {tool.item.description} ")
    length += javascript.stringified_length(tool.input_schema)
    return math.ceil(length / CHARACTERS_PER_TOKEN)


def _score(assessment: Assessment) -> Scorecard:
    return judge_lint(assessment, LINT_1, LintVersion(unread_counts_as_empty=True, error_for_grade_f=True))


LINT_1: Final = Rubric(
    id="lint",
    version=1,
    source_version="fa77cd1",
    title="MCP Playground lint grade",
    summary="100 points less 15 an error, 5 a warning and 1 an info, plus 5 when every tool is well described.",
    source="https://github.com/sameenchand/mcp-playground",
    criteria=(*CRITERIA, *BONUS_CRITERIA),
    settled=_SETTLED,
    judge=_score,
    bands=(*BANDS, (Decimal(0), FAILED)),
)
