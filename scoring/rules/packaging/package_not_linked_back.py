"""Rule `package-not-linked-back`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from scoring.engine.rule import Answer, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.project import build_published_package
from scoring.results.outcome import Inapplicable, PartialFailure, Severity
from scoring.scopes.project import Published
from scoring.text.evidence_path import clip_text

_HALF: Final = Decimal("0.5")


@rule(
    "package-not-linked-back",
    scope=Published,
    reads="package",
    severity=Severity.WARNING,
    title="The package does not name the server that it is registered as",
    remedy="Set `mcpName` in package.json to the registered server name, or put `mcp-name: NAME` into the README "
    "of a Python package. Publish and register a new version.",
    since="2026.3",
    version=1,
    spec="https://github.com/modelcontextprotocol/registry/blob/main/docs/modelcontextprotocol-io/package-types.mdx",
    fix=write_snippet(
        Language.JSON,
        "`package.json`",
        before='{"name": "notes-mcp", "version": "1.0.0"}',
        after="""
        {
          "name": "notes-mcp",
          "version": "1.0.0",
          "mcpName": "io.github.octo/notes"
        }
        """,
    ),
    good=[build_published_package(), build_published_package(mcp_name="COM.example/notes")],
    bad=[build_published_package(mcp_name=None), build_published_package(mcp_name="com.other/notes")],
    unjudged=[build_published_package(registered=""), build_published_package(version_exists=False)],
)
def package_not_linked_back(published: Published) -> Iterator[Answer]:
    """Only the package itself can name the server that it belongs to: a registry entry may name any package.

    Put the registered name into `mcpName` of package.json, or `mcp-name: NAME` into the README of a Python package.
    """
    name = published.package.mcp_name
    if not published.registered or not published.package.version_exists:
        raise Inapplicable("there is no name to compare, or no version")
    if name is None:
        yield PartialFailure("the package names no server", _HALF)
    elif name.strip().lower() != published.registered.lower():
        yield f"the package names {clip_text(name)}, {clip_text(published.registered)} expected"
