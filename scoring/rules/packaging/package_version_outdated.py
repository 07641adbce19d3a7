"""Rule `package-version-outdated`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from scoring.engine.rule import Answer, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.project import build_published_package, days_ago
from scoring.results.outcome import PartialFailure, Severity
from scoring.scopes.project import Published
from scoring.text import timestamps
from scoring.text.evidence_path import clip_text

_PATIENCE_DAYS: Final = 30
_HALF: Final = Decimal("0.5")


@rule(
    "package-version-outdated",
    scope=Published,
    reads="package",
    severity=Severity.SUGGESTION,
    title="The registration names an old version",
    remedy="Set `version` of the package in server.json to its latest version, and publish the registration. "
    "Repeat this within 30 days of each release.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.JSON,
        "Package in `server.json`, when 2.0.0 is the latest version",
        before="""
        {
          "registryType": "npm",
          "identifier": "notes-mcp",
          "version": "1.0.0",
          "transport": {"type": "stdio"}
        }
        """,
        after="""
        {
          "registryType": "npm",
          "identifier": "notes-mcp",
          "version": "2.0.0",
          "transport": {"type": "stdio"}
        }
        """,
    ),
    good=[
        build_published_package(),
        build_published_package(declared="2.0.0-beta", version="2.0.0-beta", published=days_ago(1)),
        build_published_package(declared=None),
    ],
    bad=[build_published_package(latest="2.0.0", published=days_ago(200), latest_published=days_ago(60))],
)
def package_version_outdated(published: Published) -> Iterator[Answer]:
    """Clients install the registered version, which lacks all later fixes.

    Register each version within a month of its publication.
    """
    package = published.package
    declared, latest = package.published or "", package.latest_published or ""
    if not package.declared or package.version in {None, package.latest} or not timestamps.is_earlier(declared, latest):
        return
    days = published.days_since(latest)
    if days is not None and days >= _PATIENCE_DAYS:
        yield PartialFailure(
            f"version {clip_text(package.version or '')} is registered, "
            f"and version {clip_text(package.latest or '')} is {days} days old",
            _HALF,
        )
