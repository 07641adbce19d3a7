"""Rule `package-version-yanked`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.project import build_published_package
from scoring.results.outcome import Severity
from scoring.scopes.project import Published
from scoring.text.evidence_path import clip_text


@rule(
    "package-version-yanked",
    scope=Published,
    reads="package",
    severity=Severity.ERROR,
    title="The declared version was withdrawn",
    remedy="Set `version` of the package in server.json to a version that is not withdrawn, and publish the "
    "registration again.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.JSON,
        "Package in `server.json`, when 1.0.0 was withdrawn",
        before="""
        {
          "registryType": "pypi",
          "identifier": "notes-mcp",
          "version": "1.0.0",
          "transport": {"type": "stdio"}
        }
        """,
        after="""
        {
          "registryType": "pypi",
          "identifier": "notes-mcp",
          "version": "1.0.1",
          "transport": {"type": "stdio"}
        }
        """,
    ),
    good=[build_published_package()],
    bad=[
        build_published_package(ecosystem="PyPI", yanked=""),
        build_published_package(ecosystem="PyPI", yanked="leaks tokens"),
    ],
)
def package_version_yanked(published: Published) -> Iterator[str]:
    """A withdrawn version should not be used, so register the version that replaces it."""
    if published.package.yanked is not None:
        yield (
            f"withdrawn: {clip_text(published.package.yanked)}"
            if published.package.yanked
            else "withdrawn without a reason"
        )
