"""Rates a flaw: the CVSS base score of its newest vector, or a database's own severity (docs/decisions/0019)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final

from cvss import CVSS2, CVSS3, CVSS4  # type: ignore[import-untyped]
from cvss.exceptions import CVSSError  # type: ignore[import-untyped]
from msgspec import Struct

from evidence.advisories.osv_record import Advisory, Vector
from evidence.kinds.advisories import Severity

_READERS: Final = {"CVSS_V4": CVSS4, "CVSS_V3": CVSS3, "CVSS_V2": CVSS2}
_NEWEST_FIRST: Final = tuple(_READERS)
_WORDS: Final = {
    "critical": Severity.CRITICAL,
    "high": Severity.HIGH,
    "important": Severity.HIGH,
    "moderate": Severity.MEDIUM,
    "medium": Severity.MEDIUM,
    "low": Severity.LOW,
}
_WORST_FIRST: Final = tuple(Severity)


class Rating(Struct, frozen=True):
    """A severity with its score and vector, both empty when it comes from a word or a class."""

    severity: Severity = Severity.UNKNOWN
    cvss: str = ""
    vector: str = ""


def rate_flaw(advisories: Sequence[Advisory]) -> Rating:
    """The rating of one flaw from all advisories about it; their order does not matter.

    Malware is critical. Otherwise the highest score of the newest CVSS version counts, else the worst severity word of
    a
    database; a record that is not a vulnerability by itself is low.
    """
    scored = _highest(vector for advisory in advisories for vector in advisory.vectors)
    if any(advisory.malicious for advisory in advisories):
        return Rating(Severity.CRITICAL, scored.cvss, scored.vector)
    if scored.vector:
        return scored
    words = {_WORDS[advisory.word] for advisory in advisories if advisory.word in _WORDS}
    if words:
        return Rating(min(words, key=_WORST_FIRST.index))
    if advisories and all(advisory.informational for advisory in advisories):
        return Rating(Severity.LOW)
    return Rating()


def rank_severity(severity: Severity) -> int:
    """The rank of a severity, 0 for the worst; unknown ranks last."""
    return _WORST_FIRST.index(severity)


def _highest(vectors: Iterable[Vector]) -> Rating:
    scored = sorted(
        (_NEWEST_FIRST.index(vector.type), -score, vector.score)
        for vector in set(vectors)
        if (score := _score(vector)) is not None
    )
    if not scored:
        return Rating()
    version, negative, text = scored[0]
    return Rating(_severity(-negative, old=_NEWEST_FIRST[version] == "CVSS_V2"), f"{-negative:.1f}", text)


@lru_cache(maxsize=16_384)
def _score(vector: Vector) -> Decimal | None:
    """The base score; None for a vector that the specification does not define."""
    reader = _READERS.get(vector.type)
    if reader is None:
        return None
    try:
        return Decimal(str(reader(vector.score).base_score))
    except CVSSError:
        return None


def _severity(score: Decimal, *, old: bool) -> Severity:
    """CVSS 3.1 section 5 and 4.0 section 6; for version 2 the scale of NVD, which has no critical. 0.0 is low."""
    if score >= 9 and not old:
        return Severity.CRITICAL
    if score >= 7:
        return Severity.HIGH
    return Severity.MEDIUM if score >= 4 else Severity.LOW
