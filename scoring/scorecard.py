"""The receipt: a score, its lines, its dimensions, and the versions and evidence it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from scoring.outcome import NotMeasured


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One reason for points gained or lost. `cites` is the published id; `points` is signed."""

    cites: str
    points: Decimal
    why: str
    rule: str | None = None
    at: str = ""
    severity: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentScore:
    """One named part of a dimension, on the dimension's scale."""

    name: str
    base_weight: Decimal
    effective_weight: Decimal
    result: Decimal | NotMeasured
    checked: int = 0
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DimensionScore:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """One server's receipt under one version of one rubric.

    `coverage` is the share of the rubric's base weight that was measured (0 to 1). `versions` pins rubric, source
    version, ruleset; `evidence` maps each kind read to the digest of its content.
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
