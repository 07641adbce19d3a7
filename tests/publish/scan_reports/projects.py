"""The evidence of one project on this machine, with findings of every kind that has a file."""

from __future__ import annotations

from typing import Any

from evidence.model import Dossier
from publish.scan_reports.file_places import FilePlaces, list_file_places
from publish.scan_reports.findings import ScanFinding, list_scan_findings
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.results.scorecard import Scorecard
from tests.dossiers import AS_OF
from tests.scoring.rich import SECRETS, adding, changed, leak, sourced

LOCKED = {
    "origin": "project",
    "name": "notes-mcp",
    "ref": "1.0.0",
    "from": "lockfile",
    "lockfile": True,
    "complete": True,
    "sources": [{"path": "package-lock.json", "format": "package-lock.json"}],
    "unread": [],
    "dependencies": [
        {
            "ecosystem": "npm",
            "name": "@scope/parser",
            "version": "1.0.0",
            "relation": "direct",
            "scopes": [],
            "path": "package-lock.json",
        }
    ],
}


def flaw(severity: str = "high", **members: Any) -> dict[str, Any]:
    return {
        "ids": ["GHSA-aaaa-bbbb-cccc"],
        "ecosystem": "npm",
        "package": "@scope/parser",
        "version": "1.0.0",
        "relation": "direct",
        "scopes": [],
        "severity": severity,
        "fixed": "1.0.1",
        "published": AS_OF.isoformat(),
        "fixed_since": AS_OF.isoformat(),
        "summary": "It runs what it parses.",
        **members,
    }


def project(*leaks: dict[str, Any], flaws: tuple[dict[str, Any], ...] = ()) -> Dossier:
    found = changed(sourced(), "source", origin="project", manifests=["web/package.json", "package.json"])
    audit = {"checked": 1, "groups": list(flaws), "unknown": [], "unknown_total": 0, "ecosystems": ["npm"]}
    bodies = {"secrets": {**SECRETS, "findings": list(leaks)}, "dependencies": LOCKED, "advisories": audit}
    return adding(found, bodies)


def judge(dossier: Dossier, *names: str) -> list[Scorecard]:
    rubrics = [catalogue.get_rubric(name) for name in names or ("adaptive@2",)]
    assessment = assess_dossier(dossier, rubrics)
    return [rubric.score(assessment) for rubric in rubrics]


def find_line(path: str, text: str) -> int:
    return 7 if (path, text) == ("package-lock.json", "@scope/parser") else 0


def places(dossier: Dossier) -> FilePlaces:
    return list_file_places(dossier, is_project=True, find_line=find_line)


def findings(dossier: Dossier, *names: str) -> tuple[ScanFinding, ...]:
    cards = judge(dossier, *names)
    return list_scan_findings(dossier, cards, judged=cards, places=places(dossier))


def leaked(path: str = "src/a.ts", line: int = 3, **members: Any) -> dict[str, Any]:
    """A place of a secret; other files and formats hold other secrets."""
    return leak(path=path, line=line, **{"hash": f"{path}{line}{members.get('pattern')}".encode().hex(), **members})
