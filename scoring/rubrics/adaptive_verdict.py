"""`adaptive@2`: what the evidence guarantees, on a published scale, under caps for certain harm, with a letter.

The six dimensions and their weights are those of the publication. Weight is redistributed over what applies to a
server; what applies and could not be seen counts nothing until it is seen. Below a published coverage there is no
score. A value is made in four steps that can be checked by hand: the guaranteed points of each dimension, the scale,
the caps, and one rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from evidence.kinds import listing, source
from evidence.model import Absent, Reason
from scoring.engine.assess import assess_dossier
from scoring.engine.assessment import Assessment
from scoring.engine.reuse import NOTHING_KEPT, KeptParts, find_kept_parts
from scoring.engine.rubric import Cap, Dimension, Rubric, VerdictMethod, VerdictParts
from scoring.engine.rule import discover_rules
from scoring.engine.walk import Pages
from scoring.results import arithmetic, weighting
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import DimensionScore, Line, Scorecard
from scoring.results.verdict import CAP, COLLECTOR_FAILED, NOT_ENOUGH_EVIDENCE
from scoring.rubrics import adaptive_gates
from scoring.rubrics.adaptive_verdict_dimensions import DIMENSIONS
from scoring.rubrics.guaranteed_scores import score_component
from scoring.rubrics.protocol_checks import describe_unfinished

MIN_COVERAGE: Final = Decimal("0.25")
"""Below this share of the applicable weight there is no score."""

SCALE: Final = tuple((Decimal(raw), Decimal(value)) for raw, value in ((0, 0), (40, 15), (80, 85), (100, 100)))
"""Guaranteed points and the value that is published for them, joined by straight lines."""

BANDS: Final = tuple(
    (Decimal(bound), name) for bound, name in ((95, "A+"), (85, "A"), (70, "B"), (58, "C"), (45, "D"), (30, "E"))
)
LOWEST: Final = "F"

SCALE_LINE: Final = "scale"
ROUNDING_LINE: Final = "rounding"

_FROM_SOURCE: Final = "descriptions and parameters of the tools were read from the source."

_OUR_FAILURE: Final = frozenset({Reason.COLLECTOR_ERROR, Reason.COLLECTOR_OFFLINE})

_WEIGHTS: Final = "/".join(str(part.weight) for part in DIMENSIONS)
_SETTLED: Final = (
    "Dimensions and their weights are published; components, the scale, caps, grades and minimum coverage are ours.",
    "A component that does not apply gives its weight to the others of its dimension; a dimension likewise.",
    "Evidence that this installation could not collect without a network gives its weight away too.",
    "What applies and was not observed counts 0 in the value and in full in the ceiling: the value is the floor.",
    "A check loses half by the share of the things that fail it, and half by their number n as n / (n + 1).",
    "Parameters are judged by tool: one bad parameter damages half of its tool, the rest is the share of them.",
    "Protocol checks saturate together, in units of a MUST; a check that was not decided counts as failed.",
    "Stability, answers to calls and answered issues guarantee n / (n + k) of their points after n observations.",
    "Poisoning and secrets have weight 0: their absence earns no points, and a finding caps the grade.",
    "Poisoning, a credential, unsearched code and unlisted tools take documentation, compatibility and 3 points.",
    "Where a gate could not be examined although there is something to examine, the cap is at least as low.",
    "There is no score without a complete tool list or readable source, without anything offered, or if we failed.",
)


def _highest_of_each_grade() -> dict[str, Decimal]:
    bounds = [(Decimal(101), ""), *BANDS, (Decimal(0), LOWEST)]
    return {name: above - 1 for (above, _), (_, name) in pairwise(bounds)}


CEILINGS: Final = _highest_of_each_grade()
"""The highest value of each grade, in whole points."""


def _score(assessment: Assessment) -> Scorecard:
    return _assemble(_examine(assessment), assessment)


def _examine(assessment: Assessment) -> VerdictParts:
    judged = _judge_unlisted(assessment) if _is_replaced_by_source(assessment) else assessment
    caps = tuple(adaptive_gates.list_caps(judged, CEILINGS))
    if judged is not assessment:  # harm in what was read of the list counts
        caps = adaptive_gates.merge_caps(adaptive_gates.list_caps(assessment, CEILINGS), caps)
    return VerdictParts(
        dimensions=tuple(_score_dimension(part, judged, NOTHING_KEPT) for part in DIMENSIONS),
        caps=caps,
        unscorable=_explain_no_score(judged),
        caveats=tuple(_list_evidence_caveats(assessment)),
    )


def _revise(earlier: Scorecard, assessment: Assessment) -> Scorecard | None:
    """The scorecard with the assessed components scored again, where the earlier one and the assessment suffice.

    A receipt without a score does not hold its caps, so it is revised only to one without a score. Where the source
    replaces the listing, the questions about the listing would need an assessment of their own. The listing is that of
    the earlier scorecard, so it is not read where that has a score of it.
    """
    is_listed = not isinstance(earlier.score, NotMeasured) and not _names_source(earlier)
    if not is_listed and _is_replaced_by_source(assessment):
        return None
    kept = find_kept_parts(earlier, ADAPTIVE_2, assessment)
    revised = _assemble(
        VerdictParts(
            dimensions=tuple(_score_dimension(part, assessment, kept) for part in DIMENSIONS),
            caps=tuple(map(_read_cap, (line for line in earlier.lines if line.cites.startswith(CAP)))),
            unscorable=None if is_listed else _explain_no_score(assessment),
            caveats=earlier.caveats[len(list(_list_part_caveats(earlier.dimensions))) :],
        ),
        assessment,
    )
    has_gained_score = isinstance(earlier.score, NotMeasured) and not isinstance(revised.score, NotMeasured)
    return None if has_gained_score else revised


def _read_cap(line: Line) -> Cap:
    (terms,) = (one for one in adaptive_gates.CAPS if one.cites == line.cites)
    return adaptive_gates.build_cap(terms, replace(line, points=Decimal(0)), CEILINGS)


def _names_source(card: Scorecard) -> bool:
    """Whether tools were judged from the source."""
    return any(caveat.endswith(_FROM_SOURCE) for caveat in card.caveats)


def _is_replaced_by_source(assessment: Assessment) -> bool:
    """Whether the listing is unusable and the source names tools.

    Such a server is worth what it would be without any listing: an error in the middle of a list is not worth less
    than a server that does not answer, and not more.
    """
    walk = assessment.walks[Pages.SOURCE]
    if walk.absent(listing.KIND) or _explain_no_score(assessment) is None:
        return False
    return not walk.absent(source.KIND) and bool(walk.tools)


def _judge_unlisted(assessment: Assessment) -> Assessment:
    """The assessment without the listing; outcomes of rules that read other evidence are kept."""
    dossier = assessment.dossier
    absent = Absent(Reason.NOT_MCP, "a declared list could not be read to its end, or all lists are empty")
    record = replace(dossier.records[listing.KIND], content=absent)
    unlisted = assess_dossier(replace(dossier, records={**dossier.records, listing.KIND: record}), [ADAPTIVE_2])
    kept = {
        question: outcome
        for question, outcome in assessment.outcomes.items()
        if discover_rules()[question.rule].reads != listing.KIND
    }
    return replace(unlisted, outcomes={**unlisted.outcomes, **kept})


def _assemble(parts: VerdictParts, assessment: Assessment) -> Scorecard:
    """The scorecard: value, grade, bounds and coverage follow from the dimensions and the caps alone."""
    dimensions = weighting.with_effective_weights(parts.dimensions)
    bounded = weighting.list_bounds(dimensions)
    low, high = weighting.combine_bounds(bounded)
    coverage = weighting.compute_guaranteed_coverage(dimensions)
    missing = parts.unscorable or _explain_low_coverage(coverage)
    lines = () if missing else tuple(_build_lines(bounded, low, parts.caps))
    value = arithmetic.normalize_decimal(sum((line.points for line in lines), Decimal(0)))
    return Scorecard(
        server=assessment.server,
        rubric=ADAPTIVE_2.id,
        version=ADAPTIVE_2.version,
        source_version=ADAPTIVE_2.source_version,
        score=missing or value,
        grade=None if missing else arithmetic.find_band(value, BANDS, LOWEST),
        as_of=assessment.as_of,
        coverage=coverage,
        floor=value,
        ceiling=arithmetic.round_half_up(arithmetic.interpolate(high, SCALE)),
        lines=lines,
        dimensions=dimensions,
        caveats=(*_list_part_caveats(dimensions), *parts.caveats),
        facts={"formula": weighting.GUARANTEED},
        versions=assessment.versions,
        evidence=assessment.evidence,
    )


def _score_dimension(dimension: Dimension, assessment: Assessment, kept: KeptParts) -> DimensionScore:
    if dimension.name in kept.dimensions:
        return kept.dimensions[dimension.name]
    parts = [
        kept.components.get(f"{dimension.name}.{part.name}")
        or score_component(part, assessment, dimension=dimension.name)
        for part in dimension.components
    ]
    components = weighting.with_effective_weights(parts)
    return DimensionScore(
        name=dimension.name,
        base_weight=dimension.weight,
        effective_weight=Decimal(0),
        result=weighting.compute_dimension_result(components),
        status=weighting.derive_status([part for part in components if not weighting.is_inapplicable(part)]),
        components=components,
    )


def _explain_no_score(assessment: Assessment) -> NotMeasured | None:
    """Why there is no score whatever was measured; None when coverage decides."""
    content = assessment.dossier.read(listing.KIND)
    walk = assessment.walks[Pages.ALL]
    if isinstance(content, Absent):
        if content.reason in _OUR_FAILURE:
            return NotMeasured(
                COLLECTOR_FAILED, "this installation failed to collect the evidence; no score changes because of it"
            )
        if content.reason is Reason.NOT_COLLECTED:
            return NotMeasured(NOT_ENOUGH_EVIDENCE, "the server was not tested in this run")
        if not assessment.tools_in_source:
            return NotMeasured(NOT_ENOUGH_EVIDENCE, f"nothing was listed ({content.reason})")
    elif why := next((f"{name} ({end})" for name in listing.LISTS if (end := walk.incomplete_end(name))), ""):
        return NotMeasured(NOT_ENOUGH_EVIDENCE, f"a declared list could not be read to its end: {why}")
    elif not (walk.server.tools or walk.server.resources or walk.server.prompts):
        return NotMeasured(NOT_ENOUGH_EVIDENCE, "the server offers no tool, resource or prompt")
    return None


def _explain_low_coverage(coverage: Decimal) -> NotMeasured | None:
    if coverage >= MIN_COVERAGE:
        return None
    return NotMeasured(
        NOT_ENOUGH_EVIDENCE, f"{coverage:.0%} of the weight was measured, at least {MIN_COVERAGE:.0%} expected"
    )


def _build_lines(bounded: Sequence[weighting.Bounded], low: Decimal, caps: Sequence[Cap]) -> Iterator[Line]:
    """What each dimension brings, what the scale, the lowest cap and rounding do; the points sum to the score."""
    contributions = {line.cites: line for line in _list_contributions(bounded)}
    yield from contributions.values()
    total = sum((line.points for line in contributions.values()), Decimal(0))
    scaled = _scale(low)
    yield Line(cites=SCALE_LINE, points=scaled - total, why=f"{low:.1f} guaranteed points on the published scale")
    withheld = {name for cap in caps for name in cap.withholds} & contributions.keys()
    cost = max((cap.cost for cap in caps), default=Decimal(0))
    cost += scaled - _scale(low - sum((contributions[name].points for name in withheld), Decimal(0)))
    for cap in caps:
        left = max(Decimal(0), scaled - (cost if cap.cost else 0))
        cost = Decimal(0) if cap.cost else cost
        points = min(left, cap.ceiling) - scaled if min(left, cap.ceiling) < scaled else Decimal(0)
        scaled += points
        yield replace(cap.line, points=points)
    if rounding := arithmetic.round_half_up(scaled) - scaled:
        yield Line(cites=ROUNDING_LINE, points=rounding, why="Rounded once, half up")


def _scale(points: Decimal) -> Decimal:
    return arithmetic.round_to_quantum(arithmetic.interpolate(max(Decimal(0), points), SCALE))


def _list_contributions(bounded: Sequence[weighting.Bounded]) -> Iterator[Line]:
    whole = sum((part.base_weight for part, _, _ in bounded), Decimal(0))
    for part, low, high in bounded:
        weight = part.base_weight * 100 / whole
        unseen = f", {weight * (high - low) / 10:.1f} not observed" if high > low else ""
        yield Line(
            cites=part.name,
            points=arithmetic.round_to_quantum(weight * low / weighting.FULL_POINTS),
            why=f"{low:.2f} of 10 guaranteed, weight {weight:.1f} of 100{unseen}",
        )


def _list_part_caveats(dimensions: Sequence[DimensionScore]) -> Iterator[str]:
    for part in dimensions:
        if not weighting.is_applicable(part):
            yield f"{part.name} does not apply or could not be collected here; its weight went to the other dimensions."
        elif isinstance(part.result, NotMeasured):
            yield f"{part.name} could not be tested ({part.result.reason}) and counts 0 until it is tested."


def _list_evidence_caveats(assessment: Assessment) -> Iterator[str]:
    yield from describe_unfinished(assessment, "count as failed until they are")
    if assessment.tools_in_source or _is_replaced_by_source(assessment):
        what = "Nothing was listed" if assessment.tools_in_source else "No complete list was read"
        yield f"{what}; {_FROM_SOURCE}"


ADAPTIVE_2: Final = Rubric(
    id="adaptive",
    version=2,
    source_version="2.1",
    title="Adaptive score",
    summary=f"Six dimensions weighted {_WEIGHTS}: points that the evidence guarantees, capped by certain harm.",
    source="https://www.mcprated.com",
    criteria=(
        *(part for dimension in DIMENSIONS for component in dimension.components for part in component.criteria),
        *adaptive_gates.CRITERIA,
    ),
    settled=_SETTLED,
    judge=_score,
    method=VerdictMethod(examine=_examine, assemble=_assemble, caps=adaptive_gates.CAPS, scale=SCALE),
    dimensions=DIMENSIONS,
    bands=(*BANDS, (Decimal(0), LOWEST)),
    default=True,
    dated=True,
    revise=_revise,
)
