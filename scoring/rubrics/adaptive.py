"""`adaptive`: six weighted dimensions; the weight of what could not be measured is shared by what was measured.

Version 1 is the methodology published as version 2.1. The text gives the dimensions, their weights and the formula of
redistribution, and names the components of each dimension; how a component is measured is our decision (`settled`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from evidence.kinds import listing, samples
from evidence.kinds.samples import Samples
from evidence.model import Absent, Reason
from scoring.engine.assessment import Assessment
from scoring.engine.reuse import NOTHING_KEPT, KeptParts, find_kept_parts
from scoring.engine.rubric import Dimension, Rubric
from scoring.results import arithmetic, weighting
from scoring.results.outcome import Measured, NotMeasured, Skipped
from scoring.results.scorecard import ComponentScore, DimensionScore, Line, Scorecard
from scoring.rubrics.adaptive_dimensions import DIMENSIONS, ERROR_HANDLING, RELIABILITY, STABILITY
from scoring.rubrics.component_scores import score_component
from scoring.rubrics.protocol_checks import LATER, describe_unfinished
from scoring.scopes.samples import TOO_FEW

THIN: Final = Decimal("0.25")
"""Below this coverage a scorecard gets a caveat about thin evidence; the methodology keeps the score."""

NOTHING_MEASURED: Final = "nothing_measured"

_DOWN: Final = frozenset({Reason.UNREACHABLE, Reason.TIMEOUT, Reason.TLS_ERROR})

_OUR_FAILURE: Final = frozenset({Reason.COLLECTOR_ERROR, Reason.COLLECTOR_OFFLINE, Reason.QUARANTINED})
"""Reasons for which the server was not contacted and that are our failure."""

_SETTLED: Final = (
    "A dimension is on 0 to 10 and the overall score is ten times their weighted mean, rounded once, half up.",
    "A dimension is measured when at least one of its components is; components redistribute likewise.",
    "Components weigh the same, except in security: poisoning 4; dependencies, secrets and authentication 2 each.",
    "A component is ten points less the share of checked things with a finding, check by check.",
    "Protocol conformance is the share of MUST and SHOULD checks that pass, a MUST weighing three times a SHOULD.",
    "HTTP-02 and HTTP-03, which most servers in the field do not keep, weigh as much as a SHOULD.",
    "Dependencies: nine points for known flaws by severity, reach, scope and age of the fix, one for a lockfile.",
    "Secrets: one credential in a provider's format that counts costs 8 of 10 points, a second the rest.",
    "Changes since an approval, weak signs, and instructions in results of tools are reported and cost nothing.",
    "README and setup guides are read from the source; every part of a missing README is missing.",
    "Tool descriptions and parameters are read from the source when nothing is listed; the bounds stay open then.",
    "Package: one check for existing as declared, one for being current and linked back, one for install scripts.",
    "Activity, releases and answers are points by age, where larger projects are given less time; archived is 0.",
    "A release is the newest of repository and package; without a repository the package alone counts.",
    "Project files weigh the same, a licence and the share of one person twice; a package shows only its own files.",
    "A declared repository that does not exist on its host is a finding; one that could not be requested is not.",
    "In authentication a declared address or setting weighs 4, a MUST of authorization 2 (1 on the way to metadata).",
    "Checks weigh the same elsewhere, but grave signs of poisoning weigh nine tenths and the light ones share one.",
    "Connection stability is the share of attempts of 30 days that succeeded; fewer than three are not judged.",
    "Error handling is measured in calls of reading tools, and in our sandbox of all tools, as published.",
    "In error handling, valid calls weigh twice as much as invalid calls and texts.",
    "Only stability counts for a server that is down. One that is protected or not run here is not testable.",
    "Partial counts as measured, with a caveat. A measured 0 stays in. When nothing is measured there is no score.",
    "There is none either when we failed to measure the server: a failure of ours never changes a score.",
    "Coverage, the share of the base weight that was measured, is published with every score; below 25 % it is thin.",
    "Floor and ceiling are the score with everything unmeasured at 0 and at 10; rankings go by the floor.",
)


_FEW_SAMPLES: Final = "There were too few attempts to connect within 30 days to judge the stability of the connection."


def _score(assessment: Assessment) -> Scorecard:
    return _assemble(assessment, NOTHING_KEPT, tuple(_list_evidence_caveats(assessment)))


def _revise(earlier: Scorecard, assessment: Assessment) -> Scorecard:
    """The scorecard with the assessed components scored again; stability is always one of them."""
    own = len(list(_list_part_caveats(earlier.dimensions, earlier.coverage)))
    caveats = tuple(caveat for caveat in earlier.caveats[own:] if caveat != _FEW_SAMPLES)
    return _assemble(assessment, find_kept_parts(earlier, ADAPTIVE_1, assessment), caveats)


def _assemble(assessment: Assessment, kept: KeptParts, caveats: tuple[str, ...]) -> Scorecard:
    dimensions = weighting.with_effective_weights([_dimension(part, assessment, kept) for part in DIMENSIONS])
    score = weighting.compute_overall(dimensions)
    coverage = weighting.compute_coverage(dimensions)
    floor, ceiling = weighting.compute_bounds(dimensions)
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
        caveats=(
            *_list_part_caveats(dimensions, coverage),
            *caveats,
            *((_FEW_SAMPLES,) if Skipped(samples.KIND, TOO_FEW) in _find_skipped(assessment) else ()),
        ),
        facts={"evidence": "thin" if coverage < THIN else "sufficient", **_count_samples(assessment)},
        versions=assessment.versions,
        evidence=assessment.evidence,
    )


def _dimension(dimension: Dimension, assessment: Assessment, kept: KeptParts) -> DimensionScore:
    if dimension.name in kept.dimensions:
        return kept.dimensions[dimension.name]
    parts = [
        kept.components.get(f"{dimension.name}.{part.name}")
        or score_component(part, assessment, dimension=dimension.name)
        for part in dimension.components
    ]
    if _is_our_failure(assessment):
        parts = [_as_not_measured(part, assessment) for part in parts]
    elif dimension.name == RELIABILITY.name and not _is_tested(parts, assessment):
        parts = [_as_not_measured(part, assessment) if part.name == STABILITY else part for part in parts]
    components = weighting.with_effective_weights(parts)
    return DimensionScore(
        name=dimension.name,
        base_weight=dimension.weight,
        effective_weight=Decimal(0),
        result=weighting.compute_dimension_result(components),
        status=weighting.derive_status(components),
        components=components,
    )


def _is_our_failure(assessment: Assessment) -> bool:
    content = assessment.dossier.read(listing.KIND)
    return isinstance(content, Absent) and content.reason in _OUR_FAILURE


def _is_tested(parts: Sequence[ComponentScore], assessment: Assessment) -> bool:
    """Whether stability counts: another component was measured too, or the server is down."""
    content = assessment.dossier.read(listing.KIND)
    is_down = isinstance(content, Absent) and content.reason in _DOWN
    return is_down or any(isinstance(part.result, Decimal) for part in parts if part.name != STABILITY)


def _as_not_measured(part: ComponentScore, assessment: Assessment) -> ComponentScore:
    content = assessment.dossier.read(listing.KIND)
    reason = (
        NotMeasured(content.reason.value, content.detail) if isinstance(content, Absent) else NotMeasured("untested")
    )
    return replace(part, result=reason, checked=0, lines=(), floor=Decimal(0), ceiling=weighting.FULL_POINTS)


def _count_samples(assessment: Assessment) -> dict[str, str]:
    """The number of availability samples as a fact of the scorecard; empty without samples."""
    content = assessment.dossier.read(samples.KIND)
    return {} if isinstance(content, Absent) else {"samples": str(Samples.parse(content.body).samples)}


def _contributions(dimensions: tuple[DimensionScore, ...], score: Decimal | None) -> Iterator[Line]:
    """One line for each measured dimension and one for rounding; their points sum to the score."""
    total = Decimal(0)
    for part in dimensions:
        if score is not None and isinstance(part.result, Decimal):
            points = arithmetic.round_to_quantum(part.effective_weight * part.result * weighting.FULL_POINTS)
            total += points
            yield Line(
                cites=part.name, points=points, why=f"{part.result:.2f} of 10, {part.effective_weight:.1%} weight"
            )
    if score is not None and total != score:
        yield Line(cites="rounding", points=score - total, why="Rounded once, half up")


def _list_part_caveats(dimensions: tuple[DimensionScore, ...], coverage: Decimal) -> Iterator[str]:
    if coverage < THIN:
        yield f"Thin evidence: {coverage:.0%} of the base weight was measured; compare only scores of similar coverage."
    for part in dimensions:
        if isinstance(part.result, NotMeasured):
            yield f"{part.name} could not be tested ({part.result.reason}); its weight went to the other dimensions."
        elif part.name == RELIABILITY.name and part.status == weighting.PARTIAL:
            yield f"reliability is partial: {_describe_unmeasured(part)}."


def _list_evidence_caveats(assessment: Assessment) -> Iterator[str]:
    yield from describe_unfinished(assessment, "are left out of reliability", without=LATER)
    if assessment.tools_in_source:
        yield "Nothing was listed; descriptions and parameters of the tools were read from the source."
    for skip in sorted(_find_skipped(assessment), key=lambda skip: (skip.at, skip.reason)):
        if skip.at in listing.LISTS:
            yield f"{skip.at} could not be listed to the end ({skip.reason}); only the part that was read is scored."


def _find_skipped(assessment: Assessment) -> set[Skipped]:
    outcomes = assessment.outcomes.values()
    return {skip for outcome in outcomes if isinstance(outcome, Measured) for skip in outcome.skipped}


def _describe_unmeasured(dimension: DimensionScore) -> str:
    """Names the components of a partially measured dimension that were not measured."""
    missing = {part.name: part.result for part in dimension.components if isinstance(part.result, NotMeasured)}
    if reason := missing.get(ERROR_HANDLING):
        return f"the server was reached, but none of its tools was called ({reason.reason})"
    return f"{', '.join(sorted(missing))} could not be measured"


ADAPTIVE_1: Final = Rubric(
    id="adaptive",
    version=1,
    source_version="2.1",
    title="Adaptive score",
    summary="Six dimensions weighted 25/25/15/15/10/10; the weight of what could not be measured is redistributed.",
    source="https://www.mcprated.com",
    criteria=tuple(
        criterion for dimension in DIMENSIONS for component in dimension.components for criterion in component.criteria
    ),
    settled=_SETTLED,
    judge=_score,
    dimensions=DIMENSIONS,
    dated=True,
    revise=_revise,
)
