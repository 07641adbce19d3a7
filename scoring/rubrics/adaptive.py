"""`adaptive`: six dimensions by weight, where what could not be measured hands its weight to what could.

Version 1 is the methodology published as version 2.1. The text gives the dimensions, their weights and the formula of
redistribution; the components inside a dimension are named in it, and how each is measured is ours (`settled`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from evidence.kinds import listing, samples
from evidence.kinds.samples import Samples
from evidence.model import Absent, Reason
from scoring import arithmetic, weighing
from scoring.assessment import Assessment
from scoring.components import score_component
from scoring.outcome import Measured, NotMeasured, Skipped
from scoring.requirements import access_checks, protocol_checks
from scoring.rubric import Check, Component, Criterion, Dimension, Rubric
from scoring.rule import ParamValue, discover
from scoring.samples_scope import TOO_FEW
from scoring.scorecard import ComponentScore, DimensionScore, Line, Scorecard

THIN: Final = Decimal("0.25")
"""Below this coverage a card says that it rests on thin evidence. The score stays, as the text has it."""

NOTHING_MEASURED: Final = "nothing_measured"


def _check(*rules: str, weight: int = 1, **params: ParamValue) -> Check:
    """Rules about one scope that are judged together; parameters go to every rule that has them."""
    known = discover()
    criteria = (
        Criterion(
            cites=rule,
            rule=rule,
            severity=known[rule].severity,
            params={name: value for name, value in params.items() if name in known[rule].params},
        )
        for rule in rules
    )
    return Check(criteria=tuple(criteria), weight=Decimal(weight))


def _component(name: str, title: str, *checks: Check, awaits: str = "", weight: int = 1) -> Component:
    return Component(name=name, title=title, checks=checks, awaits=awaits, weight=Decimal(weight))


STABILITY: Final = "stability"
ERROR_HANDLING: Final = "error_handling"

_DOWN: Final = frozenset({Reason.UNREACHABLE, Reason.TIMEOUT, Reason.TLS_ERROR})


RELIABILITY: Final = Dimension(
    name="reliability",
    title="Reliability",
    weight=Decimal(25),
    components=(
        _component(
            "conformance",
            "Protocol conformance",
            *protocol_checks(),
        ),
        _component(STABILITY, "Connection stability", _check("connection-unstable")),
        _component(
            "schema_validity",
            "Schema validity",
            _check(
                "tool-schema-invalid",
                "tool-input-schema-missing",
                "tool-input-schema-not-object",
                "tool-required-undeclared",
            ),
        ),
        _component(
            ERROR_HANDLING,
            "Error handling",
            _check("trial-call-failed", weight=2),
            _check("trial-output-breaks-schema", weight=2),
            _check("trial-invalid-type-accepted"),
            _check("trial-missing-required-accepted"),
            _check("trial-error-unexplained"),
        ),
    ),
)

SECURITY: Final = Dimension(
    name="security",
    title="Security",
    weight=Decimal(25),
    components=(
        _component(
            "poisoning",
            "Poisoning detection",
            _check(
                "text-injects-instructions",
                "text-commands-other-tools",
                "text-exfiltrates",
                "text-hides-characters",
                "text-reveals-secret",
                weight=27,
            ),
            _check("text-carries-encoded-payload", "text-claims-preference"),
            _check("tool-documents-undeclared-parameter"),
            _check("tool-destruction-unannotated"),
            weight=4,
        ),
        _component("dependencies", "Dependency audit", awaits="advisories", weight=2),
        _component("secrets", "Secret scanning", awaits="secrets", weight=2),
        _component(
            "authentication",
            "Authentication appropriateness",
            _check("remote-not-encrypted", "remote-secret-in-url", weight=4),
            _check("setting-secret-unmarked", weight=4),
            *access_checks(),
            weight=2,
        ),
    ),
)

SETUP: Final = Dimension(
    name="setup",
    title="Setup",
    weight=Decimal(15),
    components=(
        _component("readme", "README", awaits="repository"),
        _component("guides", "Setup guides", awaits="repository"),
        _component("configuration", "Explained configuration", _check("setting-description-missing")),
        _component(
            "transport_dx",
            "Transport developer experience",
            _check("registration-not-installable"),
            _check("package-transport-undeclared", "package-version-floating"),
            _check("remote-variable-undeclared"),
        ),
    ),
)

DOCUMENTATION: Final = Dimension(
    name="documentation",
    title="Documentation",
    weight=Decimal(15),
    components=(
        _component(
            "descriptions",
            "Descriptions",
            _check(
                "tool-description-missing",
                "tool-description-short",
                "tool-description-repeats-name",
                minimum=20,
            ),
            _check("prompt-description-missing"),
            _check("resource-name-missing", "resource-description-missing"),
        ),
        _component(
            "schemas",
            "Documented schemas",
            _check("param-description-missing"),
            _check("prompt-argument-description-missing"),
            _check("param-type-missing"),
        ),
        _component(
            "metadata",
            "Categories and metadata",
            _check("registration-description-missing"),
            _check("registration-title-missing"),
            _check("registration-version-missing"),
            _check("registration-repository-missing"),
            _check("registration-website-missing"),
        ),
    ),
)

COMPATIBILITY: Final = Dimension(
    name="compatibility",
    title="Compatibility",
    weight=Decimal(10),
    components=(
        _component(
            "transport_support",
            "Transport support",
            _check("registration-transport-unsupported"),
            _check("remote-transport-deprecated"),
            _check("server-protocol-version-old"),
            _check("server-modern-era-unanswered"),
        ),
        _component(
            "schema_completeness",
            "Schema completeness",
            _check(
                "tool-input-schema-missing",
                "tool-input-schema-not-object",
                "tool-properties-missing",
                "tool-schema-dialect-unknown",
            ),
            _check("param-type-missing", "param-items-missing"),
        ),
        _component(
            "integration_depth",
            "Tool integration depth",
            _check("tool-annotations-missing"),
            _check("tool-title-missing"),
            _check("tool-output-schema-missing"),
            _check("server-instructions-missing"),
            _check("server-offers-tools-only"),
        ),
    ),
)

MAINTENANCE: Final = Dimension(
    name="maintenance",
    title="Maintenance",
    weight=Decimal(10),
    components=(
        _component("activity", "Recent activity", awaits="repository"),
        _component("releases", "Release cadence", awaits="repository"),
        _component("responsiveness", "Issue responsiveness", awaits="repository"),
        _component("community", "Contributors and project files", awaits="repository"),
    ),
)

DIMENSIONS: Final = (RELIABILITY, SECURITY, SETUP, DOCUMENTATION, COMPATIBILITY, MAINTENANCE)

_SETTLED: Final = (
    "A dimension is on 0 to 10 and the overall score is ten times their weighted mean, rounded once, half up.",
    "A dimension is measured when at least one of its components is; components redistribute alike.",
    "Components weigh the same, except in security: poisoning 4; dependencies, secrets and authentication 2 each.",
    "A component is ten points less the share of checked things with a finding, check by check.",
    "Protocol conformance is the share of MUST and SHOULD checks that pass, a MUST weighing three times a SHOULD.",
    "HTTP-02 and HTTP-03, which most servers in the field do not keep, weigh as much as a SHOULD.",
    "In authentication a declared address or setting weighs 4, a MUST of authorization 2 (1 on the way to metadata).",
    "Checks weigh the same elsewhere, but grave signs of poisoning weigh nine tenths and the light ones share one.",
    "Connection stability is the share of attempts of 30 days that succeeded; fewer than three say nothing.",
    "Error handling is seen in calls of reading tools; calls that fit weigh twice what mistakes and texts do.",
    "Stability alone counts for a server that is down. One that is locked or not run here stays not testable.",
    "Partial counts as measured, with a caveat. A measured 0 stays in. When nothing is measured there is no score.",
    "Coverage, the share of the base weight that was measured, is published with every score; below 25 % it is thin.",
    "Floor and ceiling are the score with everything unmeasured at 0 and at 10; rankings go by the floor.",
)


def _score(assessment: Assessment) -> Scorecard:
    dimensions = weighing.with_effective_weights([_dimension(part, assessment) for part in DIMENSIONS])
    score = weighing.overall(dimensions)
    coverage = weighing.coverage(dimensions)
    floor, ceiling = weighing.bounds(dimensions)
    return Scorecard(
        server=assessment.server,
        rubric=ADAPTIVE_1.id,
        version=ADAPTIVE_1.version,
        source_version=ADAPTIVE_1.source_version,
        score=NotMeasured(NOTHING_MEASURED, "no dimension could be measured") if score is None else score,
        grade=None,
        as_of=assessment.as_of,
        coverage=coverage,
        floor=floor,
        ceiling=ceiling,
        lines=tuple(_contributions(dimensions, score)),
        dimensions=dimensions,
        caveats=tuple(_caveats(assessment, dimensions, coverage)),
        facts={"evidence": "thin" if coverage < THIN else "sufficient", **_samples(assessment)},
        versions=assessment.versions,
        evidence=assessment.evidence,
    )


def _dimension(dimension: Dimension, assessment: Assessment) -> DimensionScore:
    parts = [score_component(part, assessment, dimension=dimension.name) for part in dimension.components]
    if dimension.name == RELIABILITY.name and not _is_tested(parts, assessment):
        parts = [_set_aside(part, assessment) if part.name == STABILITY else part for part in parts]
    components = weighing.with_effective_parts(parts)
    return DimensionScore(
        name=dimension.name,
        base_weight=dimension.weight,
        effective_weight=Decimal(0),
        result=weighing.dimension_result(components),
        status=weighing.status(components),
        components=components,
    )


def _is_tested(parts: Sequence[ComponentScore], assessment: Assessment) -> bool:
    """Whether stability may count: something else was measured too, or the server is down."""
    content = assessment.dossier.read(listing.KIND)
    is_down = isinstance(content, Absent) and content.reason in _DOWN
    return is_down or any(isinstance(part.result, Decimal) for part in parts if part.name != STABILITY)


def _set_aside(part: ComponentScore, assessment: Assessment) -> ComponentScore:
    content = assessment.dossier.read(listing.KIND)
    why = NotMeasured(content.reason.value, content.detail) if isinstance(content, Absent) else NotMeasured("untested")
    return replace(part, result=why, checked=0, lines=(), floor=Decimal(0), ceiling=weighing.FULL)


def _samples(assessment: Assessment) -> dict[str, str]:
    """How many attempts to connect the card knows of, when there are any."""
    content = assessment.dossier.read(samples.KIND)
    return {} if isinstance(content, Absent) else {"samples": str(Samples.parse(content.body).samples)}


def _contributions(dimensions: tuple[DimensionScore, ...], score: Decimal | None) -> Iterator[Line]:
    """What each measured dimension brings to the score, and what rounding does; the points sum to the score."""
    total = Decimal(0)
    for part in dimensions:
        if score is not None and isinstance(part.result, Decimal):
            points = arithmetic.on_quantum(part.effective_weight * part.result * weighing.FULL)
            total += points
            yield Line(
                cites=part.name, points=points, why=f"{part.result:.2f} of 10, {part.effective_weight:.1%} weight"
            )
    if score is not None and total != score:
        yield Line(cites="rounding", points=score - total, why="Rounded once, half up")


def _caveats(assessment: Assessment, dimensions: tuple[DimensionScore, ...], coverage: Decimal) -> Iterator[str]:
    if coverage < THIN:
        yield f"Thin evidence: {coverage:.0%} of the base weight was measured; compare like coverage only."
    for part in dimensions:
        if isinstance(part.result, NotMeasured):
            yield f"{part.name} could not be tested ({part.result.reason}); its weight went to the other dimensions."
        elif part.name == RELIABILITY.name and part.status == weighing.PARTIAL:
            yield f"reliability is partial: {_untested(part)}."
    outcomes = assessment.outcomes.values()
    skipped = {skip for outcome in outcomes if isinstance(outcome, Measured) for skip in outcome.skipped}
    for skip in sorted(skipped, key=lambda skip: (skip.at, skip.reason)):
        if skip.at in listing.LISTS:
            yield f"{skip.at} could not be listed to the end ({skip.reason}); what was read is scored."
    if Skipped(samples.KIND, TOO_FEW) in skipped:
        yield "Too few attempts to connect within 30 days to say how stable the connection is."


def _untested(dimension: DimensionScore) -> str:
    """What of a dimension that was measured in part was not."""
    missing = {part.name: part.result for part in dimension.components if isinstance(part.result, NotMeasured)}
    if why := missing.get(ERROR_HANDLING):
        return f"the server was reached, and none of its tools was called ({why.reason})"
    return f"{', '.join(sorted(missing))} could not be measured"


ADAPTIVE_1: Final = Rubric(
    id="adaptive",
    version=1,
    source_version="2.1",
    title="Adaptive score",
    summary="Six dimensions weighted 25/25/15/15/10/10; the weight of what could not be measured is redistributed.",
    source="https://www.mcprated.com",
    criteria=tuple(
        criterion
        for dimension in DIMENSIONS
        for component in dimension.components
        for check in component.checks
        for criterion in check.criteria
    ),
    settled=_SETTLED,
    judge=_score,
    dimensions=DIMENSIONS,
    default=True,
)
