"""Rule `dependency-vulnerable`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from evidence.kinds.advisories import Group
from scoring import auditing
from scoring.outcome import Partly, Severity
from scoring.path import clip
from scoring.rule import Answer, rule
from scoring.source_examples import audit, flaw
from scoring.supply_scope import Audit


@rule(
    "dependency-vulnerable",
    scope=Audit,
    reads="advisories",
    severity=Severity.ERROR,
    title="A published vulnerability affects a dependency",
    since="2026.3",
    version=1,
    good=[
        audit(),
        audit(checked=0),
    ],
    bad=[
        audit(flaw()),
        audit(flaw(scopes=["dev"])),
        audit(flaw("MAL-2026-1"), flaw(package="right")),
        audit(flaw(relation="itself"), checked=1, whole=False, unlisted="sandbox_restricted"),
    ],
    unjudged=[
        audit(checked=0, unknown_total=3, unknown=[{"why": "not_a_version"}]),
        audit(checked=0, whole=False),
        audit(checked=1, whole=False, unlisted="sandbox_restricted"),
    ],
)
def dependency_vulnerable(audit: Audit) -> Iterator[Answer]:
    """What everybody can read about, everybody can use.

    A flaw costs by its severity, by how the package is reached, by whether it is needed to run the server, and by
    how long a fix has been there. Several in one version count little more than the worst: one upgrade mends them.
    Upgrade to the version that is named, and let the host propose upgrades.
    """
    audit.demand_some()
    groups = audit.seen.groups
    for group, cost in zip(groups, auditing.costs(groups, audit.days_since), strict=True):
        if cost:
            where = (group.ecosystem, f"{group.package} {group.version}", group.id)
            yield Partly(_told(group), min(Decimal(1), cost / auditing.MOST), where)


def _told(group: Group) -> str:
    package, fix = f"{group.package} {group.version}", f"fixed in {group.fixed}" if group.fixed else "no fix is known"
    return f"{group.severity} in {clip(package)} ({group.relation}): {clip(group.id)}, {clip(fix)}"
