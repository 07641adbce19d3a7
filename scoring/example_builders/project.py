"""Builders for the examples of rules about projects, packages and publishers, read through the views of evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from evidence.kinds.package import Package
from evidence.kinds.registration import Registration
from evidence.kinds.repository import Repository
from evidence.kinds.source import Source
from scoring.scopes.project import Project, Published
from scoring.scopes.publisher import Publisher

MOMENT: Final = datetime(2026, 11, 1, tzinfo=UTC)
"""`as_of` of all examples."""

NAME: Final = "com.example/notes"


def days_ago(days: int) -> str:
    """A timestamp `days` days before MOMENT."""
    return (MOMENT - timedelta(days=days)).isoformat()


def build_project(
    source: Mapping[str, Any] | None = None, package: Mapping[str, Any] | None = None, **members: Any
) -> Project:
    """A small project; keywords are members of the repository's body."""
    body = {"host": "github", "name": "example/notes", **members}
    return Project(
        at="repository",
        moment=MOMENT,
        repository=Repository.parse(json.dumps(body).encode()),
        source=Source.parse(json.dumps(source).encode()) if source is not None else None,
        package=Package.parse(json.dumps(package).encode()) if package is not None else None,
    )


def build_source_only_project(**members: Any) -> Project:
    """A project without repository evidence; keywords are members of the source's body."""
    body = {"origin": "github", "complete": True, **members}
    return Project(at="source", moment=MOMENT, source=Source.parse(json.dumps(body).encode()))


def issue_threads(**members: Any) -> dict[str, Any]:
    """Statistics of outsiders' issues; the default is ten issues, all answered within a day."""
    defaults = {"sampled": 10, "opened_year": 10, "answered": 10, "median_response_s": 86_400, "unanswered": 0}
    return {**defaults, "median_close_s": None, **members}


def build_published_package(registered: str = NAME, **members: Any) -> Published:
    """A package in its index; the default is an npm package with one version."""
    body = {
        "ecosystem": "npm",
        "name": "notes-mcp",
        "declared": "1.0.0",
        "exists": True,
        "version": "1.0.0",
        "version_exists": True,
        "latest": "1.0.0",
        "published": days_ago(10),
        "latest_published": days_ago(10),
        "install_scripts": [],
        "provenance": {"attested": True, "repository": None, "predicates": []},
        "maintainers": ["example"],
        "mcp_name": NAME,
        **members,
    }
    return Published(
        at="package", moment=MOMENT, package=Package.parse(json.dumps(body).encode()), registered=registered
    )


def build_publisher(
    name: str = NAME,
    *,
    remote: str = "",
    owner: Mapping[str, Any] | None = None,
    repository: str = "example/notes",
    package: str = "",
) -> Publisher:
    """A registration under a name; `owner` is the owner of its repository."""
    entry: dict[str, Any] = {"name": name, "remotes": [{"url": remote}] if remote else []}
    hosted = {"name": repository, "owner": owner}
    index = {"ecosystem": "npm", "name": package, "exists": True}
    return Publisher(
        at="publisher",
        registration=Registration(({"registry": "starter", "name": name, "entry": entry},)),
        repository=Repository.parse(json.dumps(hosted).encode()) if owner is not None else None,
        package=Package.parse(json.dumps(index).encode()) if package else None,
    )
