"""Rule `project-security-policy-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.project import build_project, build_source_only_project
from scoring.results.outcome import Severity
from scoring.scopes.project import Project


@rule(
    "project-security-policy-missing",
    scope=Project,
    reads="repository",
    severity=Severity.SUGGESTION,
    title="The project has no security policy",
    remedy="Add a file `SECURITY.md` to the root of the repository, with an address for confidential reports of "
    "vulnerabilities.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.MARKDOWN,
        "`SECURITY.md`",
        after="""
        # Security policy

        Please report vulnerabilities to security@notes.example, not in an issue.
        We answer within 7 days. Only the newest release gets fixes.
        """,
    ),
    good=[build_project(community={"security": True}), build_source_only_project(security_policy="/SECURITY.md")],
    bad=[build_project(community={"security": False}), build_source_only_project()],
    unjudged=[build_project(), build_source_only_project(origin="npm"), build_source_only_project(complete=False)],
)
def project_security_policy_missing(project: Project) -> Iterator[str]:
    """A person who finds a vulnerability needs to know where to report it confidentially.

    A SECURITY.md with an address is enough.
    """
    if not project.has("security_policy"):
        yield "no SECURITY.md"
