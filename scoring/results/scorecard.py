"""The receipt: a score with its lines and dimensions, and the versions and evidence that it is based on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from msgspec import Struct, field
from msgspec.structs import force_setattr

from scoring.results.outcome import NotMeasured

_NOTHING = Decimal(0)
_TOP_OF_PART = Decimal(10)
_TOP = Decimal(100)


class Line(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """One reason for points gained or lost. `cites` is the published id; `points` is signed.

    `checked` is the number of things that the check judged; 0 when the methodology does not state it.
    """

    cites: str
    points: Decimal
    why: str
    rule: str | None = None
    at: str = ""
    severity: str = ""
    evidence: str = ""
    checked: int = 0


class ComponentScore(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One named part of a dimension, on the dimension's scale.

    `floor` and `ceiling` are the result with everything unmeasured counted as 0 or as full; the default is the result,
    or 0 and full when it is NotMeasured.
    """

    name: str
    base_weight: Decimal
    effective_weight: Decimal
    result: Decimal | NotMeasured
    checked: int = 0
    lines: tuple[Line, ...] = ()
    floor: Decimal = None  # type: ignore[assignment]  # None only until __post_init__
    ceiling: Decimal = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        _fill_bounds(self, self.result, _TOP_OF_PART)


class DimensionScore(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One weighted part of a score. Effective weights of measured dimensions sum to 1; NotMeasured ones are 0.

    `status` is `measured`, `partial` or `not_testable`, derived from the components.
    """

    name: str
    base_weight: Decimal
    effective_weight: Decimal
    result: Decimal | NotMeasured
    status: str
    components: tuple[ComponentScore, ...] = ()
    lines: tuple[Line, ...] = ()


class Scorecard(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The receipt of one server under one version of one rubric.

    `coverage` is the share of the rubric's base weight that was measured (0 to 1). `versions` pins rubric, source
    version and ruleset; `evidence` maps each kind to the digest of its content. `floor` and `ceiling` bound the score
    that complete evidence could give: everything unmeasured at 0, or at full. Their default is the score, or 0 and 100
    when there is no score. Rankings use them through `scoring.ranking`.
    """

    server: str
    rubric: str
    version: int
    source_version: str
    score: Decimal | NotMeasured
    grade: str | None
    as_of: datetime
    coverage: Decimal
    lines: tuple[Line, ...] = ()
    dimensions: tuple[DimensionScore, ...] = ()
    caveats: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    evidence: Mapping[str, str] = field(default_factory=dict)
    floor: Decimal = None  # type: ignore[assignment]  # None only until __post_init__
    ceiling: Decimal = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        _fill_bounds(self, self.score, _TOP)


def _fill_bounds(part: ComponentScore | Scorecard, result: Decimal | NotMeasured, top: Decimal) -> None:
    for name, unknown in (("floor", _NOTHING), ("ceiling", top)):
        if getattr(part, name) is None:
            force_setattr(part, name, result if isinstance(result, Decimal) else unknown)
