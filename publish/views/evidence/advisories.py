"""Views published advisories of a server. Findings of Hallmark's own scans are not included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from evidence.kinds import advisories, repository
from evidence.kinds.advisories import Advisories, Group, Reach, Severity
from evidence.kinds.repository import PublishedAdvisory, Repository
from evidence.model import Absent, Dossier
from publish.views.evidence.observations import EvidenceSection
from publish.views.evidence.project import FactPair, format_count, view_section
from scoring.analysis.upgrades import describe_upgrade

MAX_ADVISORIES: Final = 200

ADVISORY_PAGES: Final = "https://osv.dev/vulnerability"
"""Address of an advisory's page, to which any of its ids is appended."""

_ID: Final = re.compile(r"[A-Z][A-Za-z0-9]{1,20}-[A-Za-z0-9.:_-]{1,60}")
_TONES: Final = {Severity.CRITICAL: "bad", Severity.HIGH: "bad", Severity.MEDIUM: "warned"}
_REACHES: Final = {Reach.ITSELF: "the server's own package", Reach.DIRECT: "direct", Reach.TRANSITIVE: "transitive"}


class AdvisoryView(Struct, frozen=True):
    """One published advisory. `url` is empty for an id that has no page, `fixed` when no version is named."""

    id: str
    url: str
    aliases: tuple[str, ...]
    package: str
    version: str
    relation: str
    severity: str
    tone: str
    fixed: str
    summary: str = ""
    upgrade: str = ""
    """The shortest upgrade in words; empty for what the repository published itself."""


class AdvisoriesView(Struct, frozen=True):
    """Advisories about what the server is built from, the worst first, and those that its repository published."""

    part: EvidenceSection
    found: tuple[AdvisoryView, ...] = ()
    more: int = 0
    own: tuple[AdvisoryView, ...] = ()


def view_advisories(dossier: Dossier) -> AdvisoriesView | None:
    """Published advisories only; None if advisories were not collected."""
    part = view_section(dossier, advisories.KIND, lambda body: _compared(Advisories.parse(body)))
    own = tuple(_own(dossier))[:MAX_ADVISORIES]
    if part is None:
        return AdvisoriesView(EvidenceSection(), own=own) if own else None
    content = dossier.read(advisories.KIND)
    if isinstance(content, Absent):
        return AdvisoriesView(part, own=own)
    seen = Advisories.parse(content.body)
    found = tuple(map(_advisory, seen.groups[:MAX_ADVISORIES]))
    return AdvisoriesView(part, found, max(0, seen.groups_total - len(found)), own)


def _compared(seen: Advisories) -> Iterator[FactPair]:
    yield (
        "Compared",
        f"{format_count(seen.checked)} versions with the advisories of {', '.join(seen.ecosystems) or 'nothing'}",
    )
    yield "Could not be compared", f"{format_count(seen.unknown_total)} versions" if seen.unknown_total else ""
    yield "Advisories", format_count(seen.groups_total) if seen.groups_total else "none"


def _advisory(group: Group) -> AdvisoryView:
    scopes = " ".join(["", *sorted(group.scopes)])
    return AdvisoryView(
        id=group.id,
        url=_url(group.id),
        aliases=group.ids[1:],
        package=group.package,
        version=group.version,
        relation=f"{_REACHES.get(group.relation, '')}{scopes}".strip(),
        severity=" ".join(filter(None, (group.severity, group.cvss, "exploited" if group.exploited else ""))),
        tone=_TONES.get(group.severity, "open"),
        fixed=group.fixed,
        summary=group.summary,
        upgrade=describe_upgrade(group),
    )


def _own(dossier: Dossier) -> Iterator[AdvisoryView]:
    seen = dossier.parsed(repository.KIND, Repository.parse)
    for one in (seen.advisories if seen else None) or ():
        if not one.withdrawn_at:
            yield _published(one)


def _published(one: PublishedAdvisory) -> AdvisoryView:
    severity = one.severity or Severity.UNKNOWN.value
    return AdvisoryView(
        id=one.id,
        url=_url(one.id),
        aliases=(one.cve,) if one.cve else (),
        package=one.package or "",
        version=one.vulnerable or "",
        relation="",
        severity=severity,
        tone=_TONES.get(Severity(severity), "open") if severity in set(Severity) else "open",
        fixed=one.patched or "",
    )


def _url(advisory: str) -> str:
    return f"{ADVISORY_PAGES}/{advisory}" if _ID.fullmatch(advisory) else ""
