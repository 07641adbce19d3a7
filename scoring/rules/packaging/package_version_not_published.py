"""Rule `package-version-not-published`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.project import build_published_package
from scoring.results.outcome import Severity
from scoring.scopes.project import Published
from scoring.text.evidence_path import clip_text


@rule(
    "package-version-not-published",
    scope=Published,
    reads="package",
    severity=Severity.ERROR,
    title="The declared version of the package does not exist",
    remedy="Publish the declared version to the package index, or register a version that is in the index.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.JSON,
        "Package in `server.json`, when 1.0.0 is the latest version",
        before="""
        {
          "registryType": "npm",
          "identifier": "notes-mcp",
          "version": "9.0.0",
          "transport": {"type": "stdio"}
        }
        """,
        after="""
        {
          "registryType": "npm",
          "identifier": "notes-mcp",
          "version": "1.0.0",
          "transport": {"type": "stdio"}
        }
        """,
    ),
    good=[build_published_package(), build_published_package(exists=False, version_exists=False)],
    bad=[build_published_package(declared="9.0.0", version=None, version_exists=False)],
)
def package_version_not_published(published: Published) -> Iterator[str]:
    """A client that installs the registered version gets an error.

    Publish the version before you register it.
    """
    package = published.package
    if package.exists and not package.version_exists:
        yield f"version {clip_text(package.declared or '')} is not in the index"
