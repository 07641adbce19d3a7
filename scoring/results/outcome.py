"""What a rule answers: Measured with findings, or NotMeasured with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final, TypeAlias

from evidence.kinds.exchanges import Exchange


class Severity(StrEnum):
    """How bad a finding is; rubrics map it to points."""

    ERROR = "error"
    WARNING = "warning"
    SUGGESTION = "suggestion"
    INFO = "info"


class Level(StrEnum):
    """Requirement level of a conformance rule (RFC 2119)."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"
    INFO = "info"  # no requirement, or one that cannot be checked reliably from outside: shown, counts for nothing


WHOLE_SHARE: Final = Decimal(1)
"""The share of a finding by which its thing fails as a whole."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where the answer is bad. `at` is a path such as `tools/search/query`.

    `position` is the place of the thing in the order of the evidence, which receipts follow. `tolerated`: a deviation
    that is shown and costs nothing, since the specification or practice lets clients live with it. `share` is how much
    of the thing fails by it, above 0 and at most WHOLE; only weighted methodologies read it.
    """

    rule: str
    at: str
    message: str
    evidence: str
    position: tuple[int, ...] = ()
    tolerated: bool = False
    share: Decimal = WHOLE_SHARE


@dataclass(frozen=True, slots=True)
class Skipped:
    """One thing that could not be examined, and why."""

    at: str
    reason: str


@dataclass(frozen=True, slots=True)
class Tolerated:
    """An answer of a rule that is worth saying and costs nothing, about an exchange or a part of the thing judged."""

    message: str
    at: str | Exchange = ""


@dataclass(frozen=True, slots=True)
class PartialFailure:
    """An answer of a rule by which a thing fails in part: `share` of it. Shares of one thing add up to at most 1.

    `at` are the segments of the place inside the thing.
    """

    message: str
    share: Decimal
    at: tuple[str, ...] = ()


class Inapplicable(Exception):
    """Raised by a rule: the question does not arise for this thing, so nothing was checked."""


class Undecided(Exception):
    """Raised by a rule: the evidence does not settle the question; the message says why in a few stable words."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The rule looked at `checked` things. `checked == 0` means there was nothing to check."""

    checked: int
    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """The rule could not look. `reason` is an evidence Reason's value or a rubric's own word."""

    reason: str
    detail: str = ""


Outcome: TypeAlias = Measured | NotMeasured
