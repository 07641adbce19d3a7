"""Rule `project-security-policy-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Severity
from scoring.project_examples import project, sourced
from scoring.project_scope import Project
from scoring.rule import rule


@rule(
    "project-security-policy-missing",
    scope=Project,
    reads="repository",
    severity=Severity.SUGGESTION,
    title="The project has no security policy",
    since="2026.3",
    version=1,
    good=[
        project(community={"security": True}),
        sourced(security_policy="/SECURITY.md"),
    ],
    bad=[
        project(community={"security": False}),
        sourced(),
    ],
    unjudged=[
        project(),
        sourced(origin="npm"),
        sourced(complete=False),
    ],
)
def project_security_policy_missing(project: Project) -> Iterator[str]:
    """Whoever finds a hole needs to know whom to tell before everybody else.

    A SECURITY.md with an address is enough.
    """
    if not project.has("security_policy"):
        yield "no SECURITY.md"
