"""Rule `package-imitates-known-name`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.analysis.name_imitation import find_imitated_package, is_known_namespace
from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.project import build_published_package
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.project import Published
from scoring.text.evidence_path import clip_text


@rule(
    "package-imitates-known-name",
    scope=Published,
    reads="package",
    severity=Severity.WARNING,
    title="The name of the package can be taken for that of a well-known package",
    remedy="Publish the package under a name that users cannot take for the other one, for example below a scope of "
    "your own, and register it.",
    since="2026.1",
    version=1,
    fix=write_snippet(
        Language.JSON,
        "`package.json`",
        before='{"name": "firecrawll-mcp"}',
        after='{"name": "@octo/web-pages-mcp"}',
    ),
    good=[
        build_published_package(),
        build_published_package(name="@modelcontextprotocol/server-github"),
        build_published_package(name="@modelcontextprotocol/server-githubs"),
        build_published_package(name="@octo/notion-mcp-server"),
        build_published_package(name="MCP_Server.Git", ecosystem="PyPI"),
        build_published_package("com.atlassian/jira", name="mcpatlassian", ecosystem="PyPI"),
    ],
    bad=[
        build_published_package(name="@modelcontextprotoco1/server-github"),
        build_published_package(name="modelcontextprotocol-server-github"),
        build_published_package(name="firecrawll-mcp"),
        build_published_package(name="mcp-atlasian", ecosystem="PyPI"),
    ],
    unjudged=[build_published_package(name="mcp-remot", exists=False)],
)
def package_imitates_known_name(published: Published) -> Iterator[str]:
    """A user who mistypes or misreads a name installs the code of another author.

    Compared are the packages of a published list, `scoring/vocabularies/well_known_packages.py`: look-alike
    characters, other separators, a copied scope, and one typing error in a word of five letters or more. The names of
    that list, all packages below their scopes, and forks below another scope are never reported. Measured in November
    2026: no false alarm in 21,773 names of PyPI and 969 of npm with `mcp`. A resemblance proves no intent, so it moves
    no score.
    """
    package = published.package
    if not package.exists:
        raise Inapplicable("the index has no such package")
    found = find_imitated_package(package.ecosystem, package.name)
    if found and not is_known_namespace(published.registered):
        yield f"{clip_text(package.name)} can be taken for {found.original}: {found.how}"
