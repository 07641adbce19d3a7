"""One line about the security of a server, read from a receipt that judges tool texts, secrets and advisories."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final

from publish.disclosure import WITHHELD, WITHHELD_CAP
from publish.text.numbers import format_number
from publish.views.server_summary import receipt_lines
from scoring.results import weighting
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, Scorecard

_DIMENSION: Final = "security"
_SUBJECTS: Final = {
    "poisoning": "instructions to models in tool texts",
    "secrets": "secrets in the source",
    "dependencies": "advisories about dependencies",
}
"""The components that search for certain harm, and what they search for."""


class SecurityStatus(StrEnum):
    """The worst that is known; `clean` only when everything that a server has was searched."""

    FOUND = "found"
    WITHHELD = "withheld"
    CLEAN = "clean"
    PARTLY_EXAMINED = "partly examined"
    NOT_EXAMINED = "not examined"


@dataclass(frozen=True, slots=True)
class SecuritySummary:
    """The status and its sentence, which names what was found, what was searched, and what was not examined."""

    status: SecurityStatus
    text: str


def summarize_security(card: Scorecard) -> SecuritySummary | None:
    """None for a methodology without these components."""
    parts = {part.name: part for one in card.dimensions if one.name == _DIMENSION for part in one.components}
    if not _SUBJECTS.keys() <= parts.keys():
        return None
    found = [(subject, len(_charged(parts[name]))) for name, subject in _SUBJECTS.items()]
    withheld = [line for line in receipt_lines(card) if line.cites in (WITHHELD, WITHHELD_CAP)]
    examined = [subject for name, subject in _SUBJECTS.items() if not isinstance(parts[name].result, NotMeasured)]
    unseen = [subject for name, subject in _SUBJECTS.items() if _is_unexamined(parts[name])]
    sentences = [f"{_count(many)}: {subject}" for subject, many in found if many]
    if withheld:
        points = format_number(-sum((line.points for line in withheld), Decimal(0)))
        sentences.append(f"{points} points under disclosure" if points != "0" else "a cap under disclosure")
    if searched := [subject for subject, many in found if not many and subject in examined]:
        sentences.append(f"no {' or '.join(searched)} found")
    if any(many for _, many in found):
        status = SecurityStatus.FOUND
    elif withheld:
        status = SecurityStatus.WITHHELD
    elif not unseen:
        status = SecurityStatus.CLEAN
    else:
        status = SecurityStatus.PARTLY_EXAMINED if examined else SecurityStatus.NOT_EXAMINED
    if unseen:
        prefix = "" if status is SecurityStatus.NOT_EXAMINED else "not examined: "
        sentences.append(f"{prefix}{', '.join(unseen)}")
    return SecuritySummary(status, "; ".join(sentences))


def _charged(part: ComponentScore) -> list[str]:
    return [line.at for line in part.lines if line.points < 0 and line.cites != WITHHELD]


def _is_unexamined(part: ComponentScore) -> bool:
    """Whether there is a subject that was not examined: source that could not be read, or that we failed to read.

    On a public receipt the result of a component without weight is withheld, whether or not anything was found.
    """
    return isinstance(part.result, NotMeasured) and part.result.reason not in (WITHHELD, weighting.NOT_APPLICABLE)


def _count(many: int) -> str:
    return f"{many} finding" if many == 1 else f"{many} findings"
