"""Requirements of the quality gate and of the badges. Pure; the thresholds are Hallmark's own.

Every requirement is a number that evidence guarantees: what was not seen counts as 0, as in a score's floor. So a
server cannot pass the gate or earn a badge by hiding evidence (docs/decisions/0034).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from msgspec import Struct

from evidence.model import Dossier
from publish.badges import evidence_agreement, publisher_proofs
from publish.badges.evidence_agreement import EvidenceReader
from publish.views.public_servers import PublicServer
from scoring.results import weighting
from scoring.results.scorecard import DimensionScore, Scorecard
from scoring.results.verdict import read_verdict
from scoring.rubrics.adaptive_dimensions import RELIABILITY, SECURITY

GATE_VERSION: Final = 2
"""Version of all requirements together; a new number anywhere below is a new version."""

GATE_RUBRIC: Final = "adaptive"
"""The rubric whose coverage and dimensions are required."""

GATE_ID: Final = "indexed"
LAB_TESTED: Final = "lab-tested"
VENDOR_VERIFIED: Final = "vendor-verified"
SECURITY_SCANNED: Final = "security-scanned"


class Requirement(Struct, frozen=True, kw_only=True):
    """One number that is needed. `unit` is `share` (0 to 1), `of 10`, `of 100` or `count`; at least `needs` is enough.

    `looks_at` describes what is counted.
    """

    id: str
    title: str
    unit: str
    needs: Decimal
    looks_at: str


class Criterion(Struct, frozen=True, kw_only=True):
    """What one server has of a requirement; None where nothing could be counted."""

    requirement: Requirement
    has: Decimal | None
    detail: str = ""

    @property
    def met(self) -> bool:
        return self.has is not None and self.has >= self.requirement.needs


class Award(Struct, frozen=True):
    """The gate or one badge, with all its criteria."""

    id: str
    title: str
    meaning: str
    criteria: tuple[Criterion, ...]

    @property
    def met(self) -> bool:
        return all(criterion.met for criterion in self.criteria)

    @property
    def tested(self) -> bool:
        """Whether anything that it counts was observed; otherwise the badge is "not measured", not "no"."""
        return any(criterion.has is not None for criterion in self.criteria)


class Judgement(Struct, frozen=True):
    """The gate and all badges of one server in one run, under one version of the requirements."""

    gate: Award
    badges: tuple[Award, ...]
    version: int = GATE_VERSION

    @property
    def indexed(self) -> bool:
        """Whether search engines may list the page."""
        return self.gate.met

    @property
    def earned(self) -> tuple[str, ...]:
        return tuple(award.id for award in self.badges if award.met)


class _Seen(Struct, frozen=True):
    """The input of one server's criteria."""

    look: EvidenceReader
    main: Scorecard | None
    cards: Sequence[Scorecard]
    controlled: bool

    def part(self, name: str) -> DimensionScore | None:
        return next((part for part in self.main.dimensions if part.name == name), None) if self.main else None


_Count = Callable[[_Seen], tuple[Decimal | None, str]]


class BadgeRule(Struct, frozen=True):
    """The declaration of the gate or of a badge."""

    id: str
    title: str
    meaning: str
    requirements: tuple[tuple[Requirement, _Count], ...]


def judge_server(
    published: PublicServer, cards: Sequence[Scorecard] | None = None, *, controlled: bool = False
) -> Judgement:
    """Judge the gate and the badges from a server's public evidence; `controlled` states that control of it was proved.

    `cards` are its decoded receipts, if the caller has them.
    """
    known = published.scorecards if cards is None else cards
    seen = _see(published.dossier, known, controlled=controlled)
    gate, *badges = (_award(rule, seen) for rule in BADGE_RULES)
    return Judgement(gate, tuple(badges))


def find_met(dossier: Dossier, cards: Sequence[Scorecard], *, controlled: bool = False) -> tuple[str, ...]:
    """The ids of the gate and the badges that `judge_server` finds met, in its order.

    Requirements after one that is not met are not evaluated.
    """
    seen = _see(dossier, cards, controlled=controlled)
    return tuple(rule.id for rule in BADGE_RULES if all(criterion.met for criterion in _criteria(rule, seen)))


def _see(dossier: Dossier, cards: Sequence[Scorecard], *, controlled: bool) -> _Seen:
    mains = [card for card in cards if card.rubric == GATE_RUBRIC]
    return _Seen(EvidenceReader(dossier), max(mains, key=lambda card: card.version, default=None), cards, controlled)


def _award(rule: BadgeRule, seen: _Seen) -> Award:
    return Award(rule.id, rule.title, rule.meaning, tuple(_criteria(rule, seen)))


def _criteria(rule: BadgeRule, seen: _Seen) -> Iterator[Criterion]:
    for requirement, counted in rule.requirements:
        has, detail = counted(seen)
        yield Criterion(requirement=requirement, has=has, detail=detail)


def _coverage(seen: _Seen) -> tuple[Decimal | None, str]:
    if seen.main is None or not isinstance(seen.main.score, Decimal):
        return None, "there is no score"
    return seen.main.coverage, ""


def _floor(seen: _Seen) -> tuple[Decimal | None, str]:
    if seen.main is None or not isinstance(seen.main.score, Decimal):
        return None, "there is no score"
    return seen.main.floor, ""


def _uncapped(seen: _Seen) -> tuple[Decimal | None, str]:
    if seen.main is None or not isinstance(seen.main.score, Decimal):
        return None, "there is no score"
    caps = read_verdict(seen.main).caps
    return Decimal(not caps), "; ".join(caps)


def _dimension_floor(name: str) -> _Count:
    def counted(seen: _Seen) -> tuple[Decimal | None, str]:
        part = seen.part(name)
        if part is None or not isinstance(part.result, Decimal):
            return None, f"{name} could not be tested"
        return _proven(part), ""

    return counted


def _dimension_coverage(name: str) -> _Count:
    def counted(seen: _Seen) -> tuple[Decimal | None, str]:
        part = seen.part(name)
        if part is None or not isinstance(part.result, Decimal):
            return None, f"{name} could not be tested"
        low, high = weighting.bound_dimension(part) or (Decimal(0), weighting.FULL_POINTS)
        return 1 - (high - low) / weighting.FULL_POINTS, ""

    return counted


def _proven(part: DimensionScore) -> Decimal | None:
    """The floor of a dimension: the mean of its components that apply, with unmeasured ones at 0."""
    if not part.components:
        return part.result if isinstance(part.result, Decimal) else None
    bounds = weighting.bound_dimension(part)
    return None if bounds is None else bounds[0]


def _completeness(seen: _Seen) -> tuple[Decimal | None, str]:
    known, missing = evidence_agreement.measure_known_parts(seen.look)
    return (known or None), f"missing: {', '.join(missing)}" if missing else ""


def _consistency(seen: _Seen) -> tuple[Decimal | None, str]:
    checks = tuple(evidence_agreement.check_agreement(seen.look, seen.cards))
    failed = [check.name for check in checks if not check.agrees]
    return Decimal(len(checks) - len(failed)) / len(checks), f"not so: {'; '.join(failed)}" if failed else ""


def _called(seen: _Seen) -> tuple[Decimal | None, str]:
    return evidence_agreement.share_of_safe_tools_called(seen.look)


def _identity(seen: _Seen) -> tuple[Decimal | None, str]:
    ties = publisher_proofs.find_publisher_proofs(seen.look, controlled=seen.controlled)
    return (Decimal(len(ties)) if ties else None), "; ".join(ties) or "nothing ties the publisher to the server"


def _share(name: str, title: str, needs: str, looks_at: str) -> Requirement:
    return Requirement(id=name, title=title, unit="share", needs=Decimal(needs), looks_at=looks_at)


def _points(part: str, needs: int) -> Requirement:
    looks_at = f"points of {part} if everything that was not measured counts as 0"
    title = f"{part.capitalize()} proven"
    return Requirement(id=f"{part}-floor", title=title, unit="of 10", needs=Decimal(needs), looks_at=looks_at)


_COVERAGE: Final = "share of the adaptive score's base weight that was measured"
_FLOOR: Final = Requirement(
    id="floor",
    title="Score proven",
    unit="of 100",
    needs=Decimal(50),
    looks_at="floor of the adaptive score: the score if everything that was not measured counts as 0",
)
_OF_SECURITY: Final = "share of the base weight of security that was measured: texts, dependencies, code and access"
_CALLED: Final = _share("tools-called", "Safe tools called", "0.5", "share of the read-only tools that were called")
_TIED: Final = Requirement(
    id="identity",
    title="Publisher tied to the server",
    unit="count",
    needs=Decimal(1),
    looks_at=publisher_proofs.PROOF_DESCRIPTION,
)

_UNCAPPED: Final = Requirement(
    id="uncapped",
    title="Grade not capped",
    unit="count",
    needs=Decimal(1),
    looks_at="1 if no cap limits the grade of the adaptive score, else 0",
)

_COMPLETENESS: Final = _share("completeness", "Data completeness", "1", evidence_agreement.PARTS)
_CONSISTENCY: Final = _share("consistency", "Scoring consistency", "1", evidence_agreement.CHECKS)

BADGE_RULES: Final = (
    BadgeRule(
        GATE_ID,
        "Quality gate",
        "Search engines may list the page.",
        (
            (_share("coverage", "Test coverage", "0.4", _COVERAGE), _coverage),
            (_COMPLETENESS, _completeness),
            (_CONSISTENCY, _consistency),  # the last, since it costs most
        ),
    ),
    BadgeRule(
        LAB_TESTED,
        "Lab Tested",
        "Enough of its parts were tested, its safe tools were called, and half of all points are proven.",
        (
            (_share("coverage", "Test coverage", "0.5", _COVERAGE), _coverage),
            (_FLOOR, _floor),
            (_CALLED, _called),
        ),
    ),
    BadgeRule(
        VENDOR_VERIFIED,
        "Vendor Verified",
        "Its publisher is proven, and it is highly reliable and secure.",
        (
            (_TIED, _identity),
            (_points(RELIABILITY.name, 8), _dimension_floor(RELIABILITY.name)),
            (_points(SECURITY.name, 8), _dimension_floor(SECURITY.name)),
            (_UNCAPPED, _uncapped),
        ),
    ),
    BadgeRule(
        SECURITY_SCANNED,
        "Security Scanned",
        "Its texts and most of its code, dependencies and access were examined, and few faults were found.",
        (
            (_share("security-coverage", "Security coverage", "0.7", _OF_SECURITY), _dimension_coverage(SECURITY.name)),
            (_points(SECURITY.name, 7), _dimension_floor(SECURITY.name)),
            (_UNCAPPED, _uncapped),
        ),
    ),
)
"""The gate, then the badges."""

BADGES: Final = tuple(rule.id for rule in BADGE_RULES[1:])
