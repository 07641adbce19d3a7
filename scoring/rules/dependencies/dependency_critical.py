"""Rule `dependency-critical`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.advisories import Group
from evidence.kinds.advisories import Severity as Grade
from scoring.analysis.upgrades import describe_upgrade
from scoring.engine.rule import Answer, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.source_files import advisory_group, build_audit
from scoring.results.outcome import Severity
from scoring.scopes.supply_chain import Audit
from scoring.text.evidence_path import clip_text

_MALWARE: Final = "MAL-"


@rule(
    "dependency-critical",
    scope=Audit,
    reads="advisories",
    severity=Severity.ERROR,
    title="A critical vulnerability affects a dependency that is used at runtime",
    remedy="Upgrade the dependency to a fixed version, and update the lockfile. Remove or replace the dependency if "
    "it is malware or has no fixed version.",
    since="2026.4",
    version=1,
    fix=write_snippet(
        Language.JSON,
        "`package.json`, when 1.0.1 has the fix",
        before='{"dependencies": {"left": "1.0.0"}}',
        after='{"dependencies": {"left": "1.0.1"}}',
    ),
    good=[
        build_audit(),
        build_audit(advisory_group(severity="high")),
        build_audit(advisory_group(severity="critical", scopes=["dev"])),
    ],
    bad=[
        build_audit(advisory_group(severity="critical")),
        build_audit(advisory_group("MAL-2026-1", severity="unknown")),
    ],
    unjudged=[build_audit(checked=0, whole=False)],
)
def dependency_critical(audit: Audit) -> Iterator[Answer]:
    """A critical vulnerability in code that runs with the server can give an attacker all rights of the server.

    Malware counts as critical. Dependencies that are only needed for development, and optional ones, do not count.
    Upgrade to the fixed version.
    """
    audit.require_any()
    for group in audit.at_runtime:
        if _is_critical(group):
            package = clip_text(f"{group.package} {group.version}")
            where = f"{group.ecosystem}/{package}"
            yield where, f"a critical vulnerability in {package}: {clip_text(group.id)}, {describe_upgrade(group)}"


def _is_critical(group: Group) -> bool:
    return group.severity is Grade.CRITICAL or any(name.startswith(_MALWARE) for name in group.ids)
