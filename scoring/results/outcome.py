"""Outcomes of rules: Measured with findings, or NotMeasured with the reason."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from evidence.kinds.exchanges import Exchange
from evidence.model import describe_reason
from scoring.scopes.base import Scope


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
    INFO = "info"  # no requirement, or one that cannot be checked reliably from outside: shown, costs no points


WHOLE_SHARE: Final = Decimal(1)
"""The share of a finding that makes the whole thing fail."""


class Finding(Struct, frozen=True, gc=False):
    """One place that breaks a rule. `at` is a path such as `tools/search/query`.

    `position` is the place of the thing in the order of the evidence, which receipts follow. A `tolerated` deviation
    is shown and costs no points, because the specification allows it or clients cope with it. `share` is the part of
    the thing that fails, above 0 and at most WHOLE_SHARE; only weighted methodologies read it.
    """

    rule: str
    at: str
    message: str
    evidence: str
    position: tuple[int, ...] = ()
    tolerated: bool = False
    share: Decimal = WHOLE_SHARE


class Skipped(Struct, frozen=True, gc=False):
    """One thing that could not be examined, and why."""

    at: str
    reason: str


class Tolerated(Struct, frozen=True):
    """An answer of a rule that is shown and costs no points, about an exchange or a part of the thing judged."""

    message: str
    at: str | Scope | Exchange = ""


class PartialFailure(Struct, frozen=True):
    """An answer of a rule: the part `share` of the thing fails. Shares of one thing add up to at most 1.

    `at` holds the path segments of the place inside the thing.
    """

    message: str
    share: Decimal
    at: tuple[str, ...] = ()


class Inapplicable(Exception):
    """Raised by a rule that does not apply to this thing: the thing does not count as checked."""


class Undecided(Exception):
    """Raised by a rule when the evidence is not conclusive; the message gives the reason in a few stable words."""


class Measured(Struct, frozen=True):
    """The rule checked `checked` things; 0 means that there was nothing to check."""

    checked: int
    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()


LIST_FAILED: Final = "list_failed"
"""Reason of a score that a declared list prevents, which could not be read; the detail begins with the list."""


class NotMeasured(Struct, frozen=True, rename={"reason": "not_measured"}, forbid_unknown_fields=True):
    """The rule could not be asked. `reason` is the value of an evidence `Reason` or a word of the rubric.

    `detail` is never empty: without one, it has the words of the reason. Receipts name the reason `not_measured`.
    """

    reason: str
    detail: str = ""

    def __post_init__(self) -> None:
        if not self.detail.strip():
            force_setattr(self, "detail", describe_reason(self.reason))


Outcome: TypeAlias = Measured | NotMeasured
