"""One line about the security of a server, read from a receipt that judges tool texts, secrets and advisories."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from enum import StrEnum
from typing import Final

from msgspec import Struct

from publish.disclosure import NOT_DISCLOSED, UNDER_DISCLOSURE, WITHHELD, WITHHELD_CAP
from publish.views.server_summary import receipt_lines
from scoring.engine.rule import discover_rules
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


_HIDDEN: Final = frozenset({WITHHELD, WITHHELD_CAP})
_UNDISCLOSED: Final = frozenset({NOT_DISCLOSED, UNDER_DISCLOSURE})
_TITLES: Final = 3


class SecurityStatus(StrEnum):
    """The worst that is known; `clean` only when everything that a server has was searched."""

    FOUND = "found"
    WITHHELD = "withheld"
    CLEAN = "clean"
    PARTLY_EXAMINED = "partly examined"
    NOT_EXAMINED = "not examined"


class SecuritySummary(Struct, frozen=True):
    """The status and its sentence, which names what was found, what was searched, and what was not examined."""

    status: SecurityStatus
    text: str


def summarize_security(card: Scorecard) -> SecuritySummary | None:
    """None for a methodology without these components."""
    parts = {part.name: part for one in card.dimensions if one.name == _DIMENSION for part in one.components}
    if not _SUBJECTS.keys() <= parts.keys():
        return None
    titles = [title for name in _SUBJECTS for title in _list_titles(parts[name])]
    has_withheld = any(line.cites in _HIDDEN and line.why in _UNDISCLOSED for line in receipt_lines(card))
    clean = [subject for name, subject in _SUBJECTS.items() if _is_clean(parts[name])]
    unseen = [subject for name, subject in _SUBJECTS.items() if _is_unexamined(parts[name])]
    sentences = titles[:_TITLES] + [f"{len(titles) - _TITLES} more kinds of findings"] * (len(titles) > _TITLES)
    if has_withheld:
        sentences.append("findings are under disclosure")
    if clean:
        sentences.append(f"no {' or '.join(clean)} found")
    if titles:
        status = SecurityStatus.FOUND
    elif has_withheld:
        status = SecurityStatus.WITHHELD
    elif not unseen:
        status = SecurityStatus.CLEAN
    else:
        status = SecurityStatus.PARTLY_EXAMINED if clean else SecurityStatus.NOT_EXAMINED
    if unseen:
        prefix = "" if status is SecurityStatus.NOT_EXAMINED else "not fully examined: "
        sentences.append(f"{prefix}{', '.join(unseen)}")
    return SecuritySummary(status, "; ".join(sentences))


def _list_titles(part: ComponentScore) -> list[str]:
    """The titles of the rules that were broken, each with the number of its findings."""
    found = Counter(line.rule for line in part.lines if line.points < 0 and line.rule not in (None, WITHHELD))
    known = discover_rules()
    return [f"{known[rule].title if rule in known else rule} ({many})" for rule, many in found.items() if rule]


def _is_clean(part: ComponentScore) -> bool:
    """Whether all that there is was examined and nothing was found, not even something that is withheld."""
    return isinstance(part.result, Decimal) and part.floor == part.ceiling and not _has_findings(part)


def _has_findings(part: ComponentScore) -> bool:
    return any(line.points < 0 or line.cites == WITHHELD for line in part.lines)


def _is_unexamined(part: ComponentScore) -> bool:
    """Whether something was not examined: source that could not be read, or that we failed to read, or a list.

    On a public receipt the result of a component without weight is withheld, whether or not anything was found.
    """
    if isinstance(part.result, NotMeasured):
        return part.result.reason not in (WITHHELD, weighting.NOT_APPLICABLE)
    return part.floor != part.ceiling
