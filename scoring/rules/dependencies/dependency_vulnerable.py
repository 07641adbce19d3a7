"""Rule `dependency-vulnerable`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from evidence.kinds.advisories import Group
from scoring.analysis import advisory_costs
from scoring.analysis.upgrades import describe_upgrade
from scoring.engine.rule import Answer, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.source_files import advisory_group, build_audit
from scoring.results.outcome import PartialFailure, Severity
from scoring.scopes.supply_chain import Audit
from scoring.text.evidence_path import clip_text


@rule(
    "dependency-vulnerable",
    scope=Audit,
    reads="advisories",
    severity=Severity.ERROR,
    title="A published vulnerability affects a dependency",
    remedy="Upgrade the package to a version that fixes the vulnerability, and update the lockfile. Remove or "
    "replace a dependency that has no fixed version.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.JSON,
        "`package.json`, when 1.0.1 has the fix",
        before='{"dependencies": {"left": "1.0.0"}}',
        after='{"dependencies": {"left": "1.0.1"}}',
    ),
    good=[build_audit(), build_audit(checked=0)],
    bad=[
        build_audit(advisory_group()),
        build_audit(advisory_group(scopes=["dev"])),
        build_audit(advisory_group(relation="transitive", via=["right"], imported=False)),
        build_audit(advisory_group("MAL-2026-1"), advisory_group(package="right")),
        build_audit(advisory_group(relation="itself"), checked=1, whole=False, unlisted="sandbox_restricted"),
    ],
    unjudged=[
        build_audit(checked=0, unknown_total=3, unknown=[{"why": "not_a_version"}]),
        build_audit(checked=0, whole=False),
        build_audit(checked=1, whole=False, unlisted="sandbox_restricted"),
    ],
)
def dependency_vulnerable(audit: Audit) -> Iterator[Answer]:
    """Attackers use published vulnerabilities, so upgrade to a version that fixes them.

    The cost depends on the severity, on how the package is reached, on whether the server needs it to run, and on how
    long a fix has been available. Several vulnerabilities in one version cost little more than the worst one, because
    one upgrade fixes them all. A finding names the shortest upgrade. That the code does not import the package is only
    reported, since a tool or a configuration may load it. Let the host propose upgrades.
    """
    audit.require_any()
    groups = audit.seen.groups
    for group, cost in zip(groups, advisory_costs.compute_advisory_costs(groups, audit.days_since), strict=True):
        if cost:
            where = (group.ecosystem, f"{group.package} {group.version}", group.id)
            yield PartialFailure(_describe_group(group), min(Decimal(1), cost / advisory_costs.MAX_TOTAL_COST), where)


def _describe_group(group: Group) -> str:
    where = f"{clip_text(f'{group.package} {group.version}')} ({group.relation})"
    return f"{group.severity} severity in {where}: {clip_text(group.id)}, {describe_upgrade(group)}"
