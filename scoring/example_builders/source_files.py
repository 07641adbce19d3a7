"""Builders for the examples of rules about source files and what they need, read through the views of evidence."""

from __future__ import annotations

import json
from typing import Any

from evidence.kinds import source
from evidence.kinds.advisories import Advisories
from evidence.kinds.dependencies import Dependencies
from evidence.kinds.drift import Drift
from evidence.kinds.secrets import Secrets
from scoring.example_builders.project import MOMENT, days_ago
from scoring.scopes.source_files import Code, Readme, Variable, Workflow, list_workflows
from scoring.scopes.supply_chain import Audit, Drifted, Locked, Searched


def build_whole_source(**members: Any) -> source.Source:
    """A completely read source; keywords are members of its body."""
    return source.Source.parse(json.dumps({"origin": "github", "complete": True, **members}).encode())


def build_code(**members: Any) -> Code:
    return Code(at="source", seen=build_whole_source(**members))


def build_workflow(**members: Any) -> Workflow:
    """A workflow of a pinned action and a read-only token."""
    body = {
        "path": ".github/workflows/ci.yml",
        "why": None,
        "uses": 1,
        "unpinned": [],
        "rights": "declared",
        "writes": [],
        "untrusted": [],
        **members,
    }
    (found,) = list_workflows(build_whole_source(workflows=[body]))
    return found


def build_readme(*, complete: bool = True, samples: int = 0, guides: list[str] | None = None, **members: Any) -> Readme:
    """A README that explains everything; keywords are its members, `samples` is the number of example files."""
    body = {
        "path": "README.md",
        "words": 400,
        "sections": ["Install", "Tools"],
        "install": "npm install notes-mcp",
        "snippet": '{"mcpServers": {"notes": {"command": "npx"}}}',
        "environment": "NOTES_API_KEY: key of your account",
        "examples": "Ask for the notes of today.",
        "tools": "read_notes reads the notes of one day.",
        "licence": True,
        **members,
    }
    return Readme(
        at="source/readme",
        seen=build_whole_source(readme=body, complete=complete, examples=samples, guides=guides or []),
    )


def build_missing_readme(*, complete: bool = True) -> Readme:
    return Readme(at="source/readme", seen=build_whole_source(readme=None, complete=complete))


def build_variable(
    name: str, *, declared: frozenset[str] = frozenset(), named: bool | None = False, **members: Any
) -> Variable:
    """A secret variable in code, with a README; keywords are members of the README."""
    found = source.Variable(name=name, at="src/index.ts:3", secret=True, required=None, named=named)
    return Variable(
        at=f"source/environment/{name}", seen=build_readme(**members).seen, variable=found, declared=declared
    )


def build_audit(
    *groups: dict[str, Any], checked: int = 40, whole: bool = True, unlisted: str = "", **members: Any
) -> Audit:
    """The advisories about forty dependencies."""
    body = {"checked": checked, "groups": list(groups), **members}
    seen = Advisories.parse(json.dumps(body).encode())
    return Audit(at="advisories", moment=MOMENT, seen=seen, whole=whole, unlisted=unlisted)


def advisory_group(name: str = "GHSA-aaaa-bbbb-cccc", **members: Any) -> dict[str, Any]:
    """One group of advisories: a grave flaw in a direct dependency that was fixed a year ago."""
    defaults = {"ids": [name], "ecosystem": "npm", "package": "left", "version": "1.0.0", "relation": "direct"}
    known = {
        "scopes": [],
        "severity": "high",
        "fixed": "1.0.1",
        "published": days_ago(400),
        "fixed_since": days_ago(365),
    }
    return {**defaults, **known, **members}


def build_dependencies(*, lockfile: bool, origin: str = "github") -> Locked:
    body = {"origin": origin, "from": "lockfile" if lockfile else "sbom", "complete": True, "lockfile": lockfile}
    return Locked(at="dependencies", seen=Dependencies.parse(json.dumps({**body, "dependencies": []}).encode()))


def build_secret_scan(*findings: dict[str, Any], complete: bool = True) -> Searched:
    body = {"files": 12, "complete": complete, "findings": list(findings)}
    return Searched(at="secrets", seen=Secrets.parse(json.dumps(body).encode()))


def leaked_secret(**members: Any) -> dict[str, Any]:
    """A leaked secret in code that counts as a finding."""
    defaults = {"pattern": "github-token", "path": "src/index.ts", "line": 3, "hash": "00", "context": "token = ****"}
    return {**defaults, "confidence": "specific", "counts": True, "why": "", **members}


def build_drift(*changes: dict[str, Any]) -> Drifted:
    alarm = any(change.get("signals") or change.get("escalations") for change in changes)
    return Drifted(
        at="drift", seen=Drift.parse(json.dumps({"alarm": alarm, "complete": True, "changes": list(changes)}).encode())
    )


def listing_change(at: str = "tools/read_notes/description", **members: Any) -> dict[str, Any]:
    return {"at": at, "what": "changed", "before": "0" * 16, "after": "1" * 16, **members}
