"""`enterprise`: six pots of 25, 25, 20, 15, 10 and 5 points, from which 17 checks deduct, each once per server.

Version 1 is the framework published as v2. How a check is decided is not published and is ours (`settled`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from evidence.kinds.source import SSE, STREAMABLE_HTTP
from evidence.model import Reason
from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Criterion, Rubric
from scoring.engine.walk import Pages
from scoring.receipt import START_FACT
from scoring.results import arithmetic, weighting
from scoring.results.outcome import Finding, Measured, NotMeasured, Severity
from scoring.results.scorecard import ComponentScore, DimensionScore, Line, Scorecard
from scoring.rubrics.check_results import build_line
from scoring.rubrics.line_folding import fold_lines
from scoring.scopes.server_access import Access
from scoring.scopes.source_files import Code

FULL: Final = Decimal(100)
BANDS: Final = ((Decimal(85), "A"), (Decimal(70), "B"), (Decimal(55), "C"), (Decimal(40), "D"))
FAILED: Final = "F"
WORDS: Final[Mapping[str, str]] = {
    "A": "Enterprise-ready",
    "B": "Good baseline",
    "C": "Significant gaps",
    "D": "Major concerns",
    "F": "Critical issues",
}
HTTP_TRANSPORTS: Final = frozenset({SSE, STREAMABLE_HTTP})
GRADE_LINE: Final = "grade"
"""The line of a receipt that says what the letter means; it has no points."""

MAX_LINES: Final = 20
"""Findings of one check that get a line each; the first carries the points."""


class Category(Struct, frozen=True):
    """One category with its points and the deductions of its checks."""

    name: str
    points: int
    checks: Mapping[str, int]


CATEGORIES: Final = (
    Category("authentication", 25, {"A1": 11, "A2": 7, "A3": 7}),
    Category("schema_quality", 25, {"S1": 2, "S2": 2, "S3": 4, "S4": 5}),
    Category("permission_granularity", 20, {"P1": 4, "P2": 5, "P3": 3}),
    Category("llm_safety", 15, {"L1": 1, "L2": 1, "L3": 5, "L4": 2}),
    Category("data_exposure", 10, {"D1": 3, "D2": 2}),
    Category("maintenance", 5, {"M1": 2}),
)
POINTS: Final[Mapping[str, int]] = {check: cost for pot in CATEGORIES for check, cost in pot.checks.items()}

_CITED: Final[Mapping[str, tuple[Severity, tuple[str, ...]]]] = {
    "A1": (Severity.ERROR, ("registration-stdio-only",)),
    "A2": (Severity.ERROR, ("registration-stdio-only", "oauth-not-offered")),
    "A3": (Severity.WARNING, ("registration-stdio-only", "setting-secret-at-start")),
    "S1": (Severity.WARNING, ("tool-input-schema-missing", "tool-input-schema-not-object")),
    "S2": (Severity.WARNING, ("tool-deed-without-required",)),
    "S3": (Severity.WARNING, ("tool-deed-unconstrained",)),
    "S4": (Severity.ERROR, ("tool-runs-code",)),
    "P1": (Severity.WARNING, ("tool-reads-and-writes",)),
    "P2": (Severity.WARNING, ("tool-destruction-not-isolated",)),
    "P3": (Severity.SUGGESTION, ("toolset-without-scope",)),
    "L1": (Severity.WARNING, ("tool-description-missing",)),
    "L2": (Severity.WARNING, ("tool-description-short",)),
    "L3": (
        Severity.ERROR,
        ("text-injects-instructions", "text-commands-other-tools", "text-exfiltrates", "text-hides-characters"),
    ),
    "L4": (Severity.WARNING, ("tool-descriptions-overlap",)),
    "D1": (Severity.WARNING, ("list-without-pagination",)),
    "D2": (Severity.SUGGESTION, ("toolset-without-field-selection",)),
    "M1": (Severity.SUGGESTION, ("publisher-not-vendor",)),
}
_STDIO_ONLY: Final = "code-stdio-only"
_CODE: Final[Mapping[str, tuple[str, ...]]] = {
    "A1": (_STDIO_ONLY,),
    "A2": ("code-without-oauth",),
    "A3": (_STDIO_ONLY, "code-takes-secret-at-start"),
}
"""What the code is asked about where registration and access are silent."""
INFORMATIONAL: Final = Criterion(cites="L3 (information)", rule="text-instructs-model", severity=Severity.INFO)

CRITERIA: Final = (
    *(
        Criterion(cites=check, rule=rule, severity=severity, points=Decimal(POINTS[check]))
        for check, (severity, rules) in _CITED.items()
        for rule in rules
    ),
    INFORMATIONAL,
)


def list_source_criteria(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """The criteria about tools, asked of the tools that can be read in the source."""
    return tuple(
        replace(part, pages=Pages.SOURCE) for part in criteria if part.cites in POINTS and part.cites[0] in "SPLD"
    )


_OF_CODE: Final = tuple(
    Criterion(cites=check, rule=rule, severity=_CITED[check][0], points=Decimal(POINTS[check]))
    for check, rules in _CODE.items()
    for rule in rules
)
IN_SOURCE: Final = (*_OF_CODE, *list_source_criteria(CRITERIA))
"""The same checks, asked of the source: its code for A, the tools that can be read in it for S, P, L and D."""

_SETTLED: Final = (
    "A check deducts once per server, however many tools it finds: the published averages fit nothing else.",
    "A1: no declared transport but stdio. A2: without an HTTP transport there can be no MCP OAuth.",
    "A2 on a server that was reached over HTTP: it neither demands OAuth nor publishes its metadata (RFC 9728, 8414).",
    "A3: a secret environment variable is declared, or A1. A server that demands OAuth takes neither A2 nor A3.",
    "S2 and S3 judge tools that write, delete or administer. S4: code, a command or SQL as free text.",
    "P1 and P2 judge tools with several actions. P3: more than half of the descriptions name no resource or limit.",
    "L3: overriding, concealing, redirecting or exfiltrating is a hit; a mere imperative is for information.",
    "L4: the same words, or three quarters of them in common. D1: a list without limit, cursor, page or offset.",
    "A1 to A3 judge the code where no transport is declared, access was not examined, or no variable is declared.",
    "Signs of MCP's OAuth in the code: no A2, and no A3 where A1 passes.",
    "S, P, L and D judge the tools in the source when none were listed.",
    "M1: a person's repository. Vendor: the name's or owner's domain is the remote's, or the server has its name.",
    "An unknown M1 deducts nothing. A pot without evidence leaves the server without score and grade.",
    "The grade is withheld, too, when a check that could not be made would change it.",
)


def compute_category_points(hits: Collection[str]) -> dict[str, int]:
    """The remaining points of each category after deducting each failed check once; they sum to the score."""
    return {
        pot.name: pot.points - sum(cost for check, cost in pot.checks.items() if check in hits) for pot in CATEGORIES
    }


def find_grade(score: Decimal) -> str:
    return arithmetic.find_band(score, BANDS, FAILED)


class EnterpriseVersion(Struct, frozen=True, kw_only=True, dict=True):
    """The differences between the versions apart from bands and points.

    `code_decides`: code that serves HTTP decides A1 to A3 also where the registration declares stdio only.
    `implied`: checks that fail when another one fails, by that other check. `sentences`: what each letter means.
    """

    criteria: Sequence[Criterion]
    code_decides: bool = False
    implied: Mapping[str, str] = field(default_factory=dict)
    sentences: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def criteria_in_source(self) -> tuple[Criterion, ...]:
        """The criteria about the source, which hold their questions: made once for all servers."""
        return (*_OF_CODE, *list_source_criteria(self.criteria))


def judge_enterprise(assessment: Assessment, rubric: Rubric, version: EnterpriseVersion) -> Scorecard:
    lines = {check: _found(check, assessment, version) for check in POINTS}
    for check, cause in version.implied.items():
        if _hit(lines[cause]) and not _hit(lines[check]):
            lines[check] = (_implied_line(check, cause),)
    dimensions = tuple(_pot(pot, lines) for pot in CATEGORIES)
    missing = [part for part in dimensions if isinstance(part.result, NotMeasured)]
    score = Decimal(sum(compute_category_points({check for check, found in lines.items() if _hit(found)}).values()))
    floor = ceiling = None
    if not missing:
        floor, ceiling = weighting.compute_bounds(dimensions)
    steady = not missing and floor is not None and find_grade(floor) == find_grade(score)
    grade = find_grade(score) if steady else None
    words = version.sentences or WORDS
    everything = [line for found in lines.values() if not isinstance(found, NotMeasured) for line in found]
    return Scorecard(
        server=assessment.server,
        rubric=rubric.id,
        version=rubric.version,
        source_version=rubric.source_version,
        score=_no_score(missing) if missing else score,
        grade=grade,
        as_of=assessment.as_of,
        coverage=weighting.compute_coverage(dimensions),
        lines=(*_explain_grade(grade, version), *everything, *_informational(assessment)),
        dimensions=dimensions,
        caveats=tuple(_caveats(assessment, lines, steady=steady)),
        facts={START_FACT: str(FULL), **({"meaning": words[grade]} if grade else {})},
        versions=assessment.versions,
        evidence=assessment.evidence,
        **({} if floor is None or ceiling is None else {"floor": floor, "ceiling": ceiling}),
    )


Found = tuple[Line, ...] | NotMeasured


def _explain_grade(grade: str | None, version: EnterpriseVersion) -> Iterator[Line]:
    if grade is not None and grade in version.sentences:
        yield Line(cites=GRADE_LINE, points=Decimal(0), why=f"{grade}: {version.sentences[grade]}", severity="info")


def _implied_line(check: str, cause: str) -> Line:
    severity = _CITED[check][0].value
    return Line(cites=check, points=-Decimal(POINTS[check]), why=f"{check} fails with {cause}", severity=severity)


def _found(check: str, assessment: Assessment, version: EnterpriseVersion) -> Found:
    """The lines of one check, the first with its points; empty when it passed, NotMeasured when it was not made."""
    if (check in {"A2", "A3"} and _demands_oauth(assessment)) or (check == "A2" and _offers_oauth(assessment)):
        return ()
    if version.code_decides and check[0] == "A" and _code_serves_http(assessment):
        return _found_in_code(check, assessment)
    found = _judged(check, version.criteria, assessment)
    if check == "A3" and _code_knows_oauth(assessment) and not _hit(_judged("A1", CRITERIA, assessment)):
        return ()
    if check == "M1" or (found and not isinstance(found, NotMeasured)) or not _is_silent(check, found, assessment):
        return found
    if check == "A2" and _code_knows_oauth(assessment):
        return ()
    registered = not _is_silent("A1", (), assessment)
    asked = [part for part in version.criteria_in_source if not (registered and part.rule == _STDIO_ONLY)]
    other = _judged(check, asked, assessment)
    return found if isinstance(other, NotMeasured) else other


def _found_in_code(check: str, assessment: Assessment) -> Found:
    """A1 to A3 of a server whose code serves HTTP, whatever transport its registration declares."""
    if check == "A1" or _code_knows_oauth(assessment):
        return ()
    rules = {"oauth-not-offered", "code-without-oauth"}
    if check == "A3":
        rules = {"code-takes-secret-at-start" if _is_silent(check, (), assessment) else "setting-secret-at-start"}
    asked = [part for part in (*CRITERIA, *IN_SOURCE) if part.cites == check and part.rule in rules]
    found = [_judged(check, [part], assessment) for part in asked]
    known = [each for each in found if not isinstance(each, NotMeasured)]
    return known[-1] if known else found[-1]


def _code_serves_http(assessment: Assessment) -> bool:
    walk = assessment.walks[CRITERIA[0].pages]
    if walk.absent("source"):
        return False
    codes = [thing for thing in walk.list_things(Code) if isinstance(thing, Code)]
    return any(HTTP_TRANSPORTS & code.seen.transports.keys() for code in codes)


def _judged(check: str, criteria: Sequence[Criterion], assessment: Assessment) -> Found:
    outcomes = [(part, assessment.outcome(part.question)) for part in criteria if part.cites == check]
    findings = [
        (part, finding) for part, outcome in outcomes if isinstance(outcome, Measured) for finding in outcome.findings
    ]
    if findings:
        findings.sort(key=lambda pair: pair[1].position)
        lines = (_line(part, finding, first=index == 0) for index, (part, finding) in enumerate(findings))
        return fold_lines(lines, MAX_LINES)
    for part, outcome in outcomes:
        if isinstance(outcome, NotMeasured):
            return outcome
        if outcome.skipped:
            reason = "list_failed" if part.cites[0] in "SPLD" else "inconclusive"
            return NotMeasured(reason, f"{outcome.skipped[0].at}: {outcome.skipped[0].reason}")
    if check[0] in "SPLD" and not assessment.walks[outcomes[0][0].pages].tools:
        return NotMeasured("nothing_to_check", "the server lists no tools")
    return ()


def _is_silent(check: str, found: Found, assessment: Assessment) -> bool:
    """Whether the evidence other than the source does not answer a check: no listing, transport or variable."""
    walk = assessment.walks[CRITERIA[0].pages]
    if check[0] in "SPLD":
        return walk.absent("listing") is not None
    if check == "A2":
        return isinstance(found, NotMeasured)
    if walk.absent("registration"):
        return True
    entry = walk.registration
    return not (entry.packages or entry.remotes) if check == "A1" else not entry.settings


def _code_knows_oauth(assessment: Assessment) -> bool:
    walk = assessment.walks[CRITERIA[0].pages]
    if walk.absent("source"):
        return False
    return any(thing.seen.oauth for thing in walk.list_things(Code) if isinstance(thing, Code))


def _demands_oauth(assessment: Assessment) -> bool:
    """Whether the server requires OAuth: then nothing is listed, or only with the configured credentials."""
    walk = assessment.walks[CRITERIA[0].pages]
    absent = walk.absent("listing")
    if absent is not None or walk.absent("access"):
        return absent is not None and absent.reason is Reason.OAUTH_REQUIRED
    gates = [thing.seen.gate for thing in walk.list_things(Access) if isinstance(thing, Access)]
    return any(gate is not None and gate.reason == Reason.OAUTH_REQUIRED for gate in gates)


def _offers_oauth(assessment: Assessment) -> bool:
    """Whether the access evidence shows OAuth; then the registry is not needed."""
    part = next(part for part in CRITERIA if part.rule == "oauth-not-offered")
    outcome = assessment.outcome(part.question)
    return isinstance(outcome, Measured) and outcome.checked > 0 and not outcome.findings


def _hit(found: Found) -> bool:
    return not isinstance(found, NotMeasured) and bool(found)


def _line(part: Criterion, finding: Finding, *, first: bool) -> Line:
    return build_line(part, finding, -part.points if first else Decimal(0), part.cites)


def _pot(pot: Category, lines: Mapping[str, Found]) -> DimensionScore:
    """The category as a dimension on the scale of 0 to 10, weighted by its points."""
    per_point = weighting.FULL_POINTS / pot.points
    unknown = {check: found for check in pot.checks if isinstance(found := lines[check], NotMeasured)}
    hits = {check: cost for check, cost in pot.checks.items() if _hit(lines[check])}
    scaled = tuple(
        Line(cites=check, points=arithmetic.round_to_quantum(-cost * per_point), why=f"{cost} of {pot.points} points")
        for check, cost in hits.items()
    )
    result = weighting.compute_component_result(scaled)
    hidden = sum(cost for check, cost in pot.checks.items() if check in unknown and check != "M1")
    part = ComponentScore(
        name="checks",
        base_weight=Decimal(1),
        effective_weight=Decimal(1),
        result=result,
        checked=len(pot.checks) - len(unknown),
        lines=scaled,
        floor=arithmetic.normalize_decimal(arithmetic.round_to_quantum(result - hidden * per_point)),
        ceiling=result,
    )
    blind = (
        next(iter(unknown.values()), None) if len(unknown) == len(pot.checks) and pot.name != "maintenance" else None
    )
    if blind is not None:
        part = ComponentScore(name="checks", base_weight=Decimal(1), effective_weight=Decimal(0), result=blind)
    return DimensionScore(
        name=pot.name,
        base_weight=Decimal(pot.points),
        effective_weight=Decimal(pot.points) / FULL if blind is None else Decimal(0),
        result=part.result,
        status=weighting.NOT_TESTABLE if blind else weighting.PARTIAL if unknown else weighting.MEASURED,
        components=(part,),
    )


def _no_score(missing: list[DimensionScore]) -> NotMeasured:
    reason = missing[0].result
    names = ", ".join(part.name.replace("_", " ") for part in missing)
    known = reason if isinstance(reason, NotMeasured) else NotMeasured("not_collected")
    return NotMeasured(known.reason, f"there is no evidence of {names}" + (f": {known.detail}" if known.detail else ""))


def _informational(assessment: Assessment) -> Iterator[Line]:
    outcome = assessment.outcome(INFORMATIONAL.question)
    found = outcome.findings if isinstance(outcome, Measured) else ()
    yield from fold_lines((_line(INFORMATIONAL, finding, first=False) for finding in found), MAX_LINES)


def _caveats(assessment: Assessment, lines: Mapping[str, Found], *, steady: bool) -> Iterator[str]:
    if assessment.tools_in_source:
        yield "Nothing was listed; the tools were read from the source."
    for check, found in lines.items():
        if isinstance(found, NotMeasured):
            yield f"{check} could not be decided and costs nothing ({found.reason}: {found.detail})."
    if not steady:
        yield "The grade is withheld, because a check that could not be decided may change it."


_VERSION: Final = EnterpriseVersion(criteria=CRITERIA)


def _score(assessment: Assessment) -> Scorecard:
    return judge_enterprise(assessment, ENTERPRISE_1, _VERSION)


ENTERPRISE_1: Final = Rubric(
    id="enterprise",
    version=1,
    source_version="v2",
    title="Enterprise readiness",
    summary="100 points in six pots; each of 17 checks deducts once per server.",
    source="https://www.mcpgrade.com",
    criteria=(*CRITERIA, *IN_SOURCE),
    settled=_SETTLED,
    judge=_score,
    bands=(*BANDS, (Decimal(0), FAILED)),
)
