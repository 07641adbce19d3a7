"""Dossiers of whole servers: one that is kept well, one that was given up, and what lies between."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from evidence.kinds import advisories, dependencies, drift, package, repository, secrets, source
from evidence.kinds.traits import schemas
from evidence.model import Absent, Dossier, Observed, Record
from tests.dossiers import AS_OF
from tests.scoring.dossiers import GOOD_ENTRY, GOOD_TOOL, dossier, entered, listed

KINDS = {kind.KIND: kind.SCHEMA for kind in (repository, package, source, dependencies, advisories, secrets, drift)}
PROMPT = {"name": "summarise", "description": "Summarises the notes of one day."}
NAME = "io.github.example/notes"


def ago(days: int) -> str:
    return (AS_OF - timedelta(days=days)).isoformat()


def entry(**members: Any) -> dict[str, Any]:
    return {**GOOD_ENTRY, "name": NAME, "repository": {"url": "https://github.com/example/notes"}, **members}


def adding(evidence: Dossier, contents: Mapping[str, Any]) -> Dossier:
    """A dossier with records of more kinds: bodies as plain values, or what is absent."""
    records = {
        kind: Record(
            server=evidence.server.id,
            kind=kind,
            schema=schemas()[kind],
            collector="test",
            collector_version=1,
            observed_at=AS_OF,
            content=body if isinstance(body, Absent) else Observed(json.dumps(body).encode()),
        )
        for kind, body in contents.items()
    }
    return replace(evidence, records={**evidence.records, **records})


def without(evidence: Dossier, *kinds: str) -> Dossier:
    return replace(evidence, records={kind: each for kind, each in evidence.records.items() if kind not in kinds})


def changed(evidence: Dossier, kind: str, **members: Any) -> Dossier:
    """The dossier with members of one body replaced."""
    content = evidence.read(kind)
    assert isinstance(content, Observed)
    return adding(evidence, {kind: {**json.loads(content.body), **members}})


def threads(**members: Any) -> dict[str, Any]:
    met = {"sampled": 40, "opened_year": 60, "answered": 38, "median_response_s": 40_000, "median_close_s": 400_000}
    return {**met, "unanswered": 2, **members}


REPOSITORY = {
    "host": "github",
    "name": "example/notes",
    "archived": False,
    "disabled": False,
    "created_at": ago(700),
    "pushed_at": ago(2),
    "last_commit_at": ago(3),
    "licence": "MIT",
    "stars": 900,
    "contributors": {"count": 14, "capped": False, "year": 9, "shares": [200, 90, 80]},
    "bus_factor": 2,
    "releases": {"count": 12, "latest_at": ago(20), "latest_tag": "v1.0.0", "dates": [ago(20), ago(60)]},
    "issues": threads(),
    "pulls": threads(sampled=20, opened_year=20, answered=20, unanswered=0),
    "community": {"contributing": True, "security": True},
    "ci": True,
    "changelog": True,
    "readme": True,
    "owner": {"login": "example", "type": "Organization", "verified": True, "website": "https://notes.example"},
    "advisories": [],
}
PACKAGE = {
    "ecosystem": "npm",
    "name": "notes-mcp",
    "declared": "1.0.0",
    "exists": True,
    "version": "1.0.0",
    "version_exists": True,
    "latest": "1.0.0",
    "versions": 12,
    "published": ago(20),
    "latest_published": ago(20),
    "deprecated": None,
    "yanked": None,
    "install_scripts": [],
    "provenance": {"attested": True, "repository": "https://github.com/example/notes", "predicates": []},
    "maintainers": ["example"],
    "licence": "MIT",
    "mcp_name": NAME,
    "has_readme": True,
}
README = {
    "path": "README.md",
    "words": 600,
    "sections": ["Install", "Configuration", "Tools"],
    "install": "npx notes-mcp",
    "snippet": '{"mcpServers": {"notes": {"command": "npx", "args": ["notes-mcp"]}}}',
    "environment": "NOTES_API_KEY: key of your account",
    "examples": "Which notes did I write today?",
    "tools": "get-record reads one record.",
    "licence": True,
}
SOURCE = {
    "origin": "github",
    "name": "example/notes",
    "ref": "0" * 40,
    "complete": True,
    "files": 60,
    "bytes": 90_000,
    "readme": README,
    "guides": ["docs/setup.md"],
    "lockfiles": [{"path": "package-lock.json", "format": "package-lock", "packages": 120, "error": None}],
    "transports": {"stdio": ["src/index.ts:9"], "streamable-http": ["src/http.ts:4"]},
    "oauth": [{"marker": "oauth-protected-resource", "at": "src/http.ts:20"}],
    "environment": [{"name": "NOTES_API_KEY", "at": "src/index.ts:3", "secret": True, "required": True}],
    "tools": [
        {
            "name": "get-record",
            "description": GOOD_TOOL["description"],
            "input": GOOD_TOOL["inputSchema"],
            "annotations": None,
            "at": "src/tools.ts:12",
            "by": "typescript",
        }
    ],
    "changelog": "CHANGELOG.md",
    "tests": 30,
    "ci": ["/.github/workflows/test.yml"],
    "licence": "/LICENSE",
    "security_policy": "/SECURITY.md",
    "contributing": "/CONTRIBUTING.md",
    "examples": 2,
}
DEPENDENCIES = {
    "origin": "github",
    "name": "example/notes",
    "ref": "0" * 40,
    "from": "lockfile",
    "complete": True,
    "lockfile": True,
    "dependencies": [{"ecosystem": "npm", "name": "left", "version": "1.0.0", "relation": "direct", "scopes": []}],
}
ADVISORIES = {"checked": 120, "unknown": [], "unknown_total": 0, "ecosystems": ["npm"], "groups": [], "groups_total": 0}
SECRETS = {"origin": "github", "files": 60, "bytes": 90_000, "complete": True, "findings": []}
DRIFT = {"alarm": False, "complete": True, "changes": [], "signals": [], "escalations": []}


def flaw(name: str, package: str, **members: Any) -> dict[str, Any]:
    known = {"ids": [name], "ecosystem": "npm", "package": package, "version": "1.0.0", "relation": "direct"}
    fix = {"severity": "high", "scopes": [], "fixed": "1.0.1", "published": ago(500), "fixed_since": ago(480)}
    return {**known, **fix, "summary": "A flaw.", **members}


def leak(**members: Any) -> dict[str, Any]:
    where = {"pattern": "github-token", "path": "src/index.ts", "line": 3, "hash": "aa", "context": "token = ****"}
    return {**where, "confidence": "specific", "counts": True, "why": "", **members}


def well_kept() -> Dossier:
    """A project of a dozen people that answers, releases, locks and explains."""
    known = dossier(listed=listed(GOOD_TOOL, prompts=[PROMPT]), registered=entered(entry()))
    bodies = (REPOSITORY, PACKAGE, SOURCE, DEPENDENCIES, ADVISORIES, SECRETS, DRIFT)
    return adding(known, dict(zip(KINDS, bodies, strict=True)))


def abandoned() -> Dossier:
    """One person's project without commits for years, with known flaws and a credential in its source."""
    known = dossier(listed=listed(GOOD_TOOL), registered=entered(entry(remotes=[])))
    ended = {
        **REPOSITORY,
        "asked": "someone/notes",
        "last_commit_at": ago(900),
        "licence": None,
        "contributors": {"count": 1, "capped": False, "year": 0, "shares": [40]},
        "bus_factor": 1,
        "releases": {"count": 1, "latest_at": ago(950), "latest_tag": "v0.1.0", "dates": [ago(950)]},
        "issues": threads(answered=3, unanswered=37, median_response_s=90 * 86_400),
        "pulls": None,
        "community": {"contributing": False, "security": False},
        "ci": False,
        "changelog": False,
        "owner": {"login": "someone", "type": "User", "website": None},
    }
    index = {**PACKAGE, "version": "1.0.0", "latest": "2.0.0", "published": ago(990), "latest_published": ago(950)}
    bare = {"path": "README.md", "words": 20, "sections": ["notes"], "licence": False}
    files = {**SOURCE, "readme": bare, "guides": [], "oauth": [], "changelog": None, "ci": [], "licence": None}
    found = {"security_policy": None, "contributing": None, "examples": 0, "transports": {"stdio": ["a.ts:1"]}}
    flaws = [
        flaw("GHSA-aaaa-aaaa-aaaa", "left", severity="critical"),
        flaw("GHSA-bbbb-bbbb-bbbb", "left"),
        flaw("GHSA-cccc-cccc-cccc", "right", relation="transitive"),
        flaw("GHSA-dddd-dddd-dddd", "runner", scopes=["dev"], severity="medium"),
    ]
    bodies = (
        ended,
        {
            **index,
            "deprecated": "use something else",
            "install_scripts": ["postinstall"],
            "mcp_name": None,
            "licence": None,
            "provenance": {"attested": False, "repository": None, "predicates": []},
        },
        {**files, **found},
        {**DEPENDENCIES, "from": "sbom", "lockfile": False},
        {**ADVISORIES, "groups": flaws, "groups_total": len(flaws)},
        {**SECRETS, "findings": [leak(), leak(path="test/a.ts", hash="bb", counts=False, why="test")]},
        {**DRIFT, "alarm": True, "changes": [_change()]},
    )
    return adding(known, dict(zip(KINDS, bodies, strict=True)))


def _change() -> dict[str, Any]:
    return {
        "at": "tools/get-record/inputSchema",
        "what": "changed",
        "before": "0" * 16,
        "after": "1" * 16,
        "escalations": ["asks-for-credential"],
    }


def sourced() -> Dossier:
    """A server that refuses every session: its registration, its source, and nothing else."""
    return adding(dossier(registered=entered(entry())), {source.KIND: SOURCE})


def large() -> Dossier:
    """A server with everything, and with as much of it as a real one: 1,200 dependencies, 40 flaws, 30 tools."""
    names = [f"package-{index}" for index in range(1200)]
    needed = [{"ecosystem": "npm", "name": name, "version": "1.0.0", "relation": "transitive"} for name in names]
    flaws = [flaw(f"GHSA-{index}", name, relation="transitive") for index, name in enumerate(names[:40])]
    tools = [{**SOURCE["tools"][0], "name": f"get-record-{index}"} for index in range(30)]  # type: ignore[index]
    bodies = {
        "dependencies": {**DEPENDENCIES, "dependencies": needed},
        "advisories": {**ADVISORIES, "groups": flaws, "groups_total": len(flaws)},
        "source": {**SOURCE, "tools": tools},
    }
    return adding(abandoned(), bodies)


RICH = {"well-kept": well_kept, "abandoned": abandoned, "sourced": sourced}
