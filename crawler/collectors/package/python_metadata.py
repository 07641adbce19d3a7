"""From a Python project's page and metadata to the body of the kind. Pure; every member may be of any type."""

from __future__ import annotations

import re
from email.errors import MessageError
from email.parser import BytesParser
from email.policy import compat32
from typing import Final

from msgspec import Struct
from packaging.version import Version

from crawler.collectors.package.archives import Archive
from crawler.collectors.package.document_fields import (
    Members,
    as_object,
    as_person_name,
    as_plain_text,
    as_repository_url,
    find_earliest_timestamp,
    find_mcp_name,
)
from crawler.collectors.package.licence import python_licence
from crawler.collectors.package.simple_api import IndexFile, ProjectPage
from evidence.canonical import Json
from evidence.kinds.package import PYPI

# Labels of links to the source, by PEP 753 compared without case, spaces and punctuation.
_SOURCE: Final = ("source", "repository", "sourcecode", "github", "gitlab", "code")
_HOME: Final = ("homepage", "home")
_FORGE: Final = re.compile(
    r"https?://(?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org)/", re.IGNORECASE
)
_MOST_PEOPLE: Final = 100


class PythonProject(Struct, frozen=True):
    """A project, and the collected version (None: the index has no such version)."""

    name: str
    declared: str | None
    page: ProjectPage
    version: Version | None

    @staticmethod
    def from_document(name: str, declared: str | None, page: ProjectPage) -> PythonProject:
        """Resolve `declared` to a version; by PEP 440 `1.0` and `1.0.0` are the same."""
        return PythonProject(name, declared, page, _resolve(declared, page))

    @property
    def files(self) -> tuple[IndexFile, ...]:
        return self.page.files_of(self.version)


def python_body(
    project: PythonProject, info: Members | None, people: list[Json] | None, provenance: Json
) -> dict[str, Json]:
    """The body. `info` is the version's core metadata by the names of the JSON API, None where it could not be read."""
    page, files, latest = project.page, project.files, project.page.latest
    known = info or {}
    description = known.get("description")
    return {
        "ecosystem": PYPI,
        "name": project.name,
        "declared": project.declared,
        "exists": True,
        "version": str(project.version) if project.version else None,
        "version_exists": project.version is not None,
        "latest": str(latest) if latest else None,
        "versions": len(page.versions),
        "first_published": find_earliest_timestamp(file.uploaded for file in page.files),
        "published": find_earliest_timestamp(file.uploaded for file in files),
        "latest_published": find_earliest_timestamp(file.uploaded for file in page.files_of(latest)),
        "deprecated": page.notice,
        "yanked": _yanked(files),
        "install_scripts": _build(files),
        "provenance": provenance,
        "maintainers": people,
        "licence": python_licence(known),
        "repository": find_source_repository(known),
        "mcp_name": find_mcp_name(description),
        "has_readme": bool(isinstance(description, str) and description.strip()) if info is not None else None,
        "requires": as_plain_text(known.get("requires_python"), 100)
        or next((f.requires for f in files if f.requires), None),
    }


def find_python_archive(project: PythonProject) -> Archive | None:
    """The source distribution, else a wheel, first the one for all platforms."""
    rank = {"sdist": 0, "wheel": 1}
    files = sorted(project.files, key=lambda file: (rank[file.kind], not file.filename.endswith("-none-any.whl")))
    if project.version is None or not files:
        return None
    first = files[0]
    return Archive(
        ecosystem="PyPI",
        name=project.name,
        version=str(project.version),
        kind=first.kind,
        filename=first.filename,
        address=first.address,
        digest=first.digest,
        size=first.size,
    )


def find_source_repository(info: Members) -> dict[str, Json] | None:
    """The declared source: a link with a label for it, else any link or home page at a forge."""
    links = {_label(name): url for name, url in as_object(info.get("project_urls")).items()}
    home = info.get("home_page")
    labelled = [links[label] for label in _SOURCE if label in links]
    guessed = [*(links[label] for label in _HOME if label in links), home, *links.values()]
    at_forges = [url for url in guessed if isinstance(url, str) and _FORGE.match(url)]
    return next((found for url in (*labelled, *at_forges) if (found := as_repository_url(url))), None)


def list_publishers(document: Members, info: Members) -> list[Json] | None:
    """The accounts that may publish, else the people in the metadata; None where neither is known."""
    roles = as_object(document.get("ownership")).get("roles")
    users = [as_object(role).get("user") for role in roles[:_MOST_PEOPLE]] if isinstance(roles, list) else []
    found = [name for user in users if (name := as_person_name(user))]
    return list[Json](dict.fromkeys(found)) or _authors(info)


def matches_version(text: str, version: Version | None) -> bool:
    try:
        return version is not None and Version(text) == version
    except ValueError:
        return False


def parse_core_metadata(raw: bytes) -> dict[str, Json]:
    """The needed members of a METADATA file (PEP 658) by the names of the JSON API."""
    try:
        message = BytesParser(policy=compat32).parsebytes(raw)
    except (MessageError, ValueError, LookupError):
        return {}
    links = [text.partition(",") for value in message.get_all("Project-URL", []) if (text := str(value))]
    names = {"home_page": "Home-page", "license": "License", "license_expression": "License-Expression"}
    people = {"author": "Author", "author_email": "Author-email", "maintainer": "Maintainer"}
    payload = message.get_payload()
    found: dict[str, Json] = {
        key: str(message[header])
        for key, header in {**names, **people, "requires_python": "Requires-Python"}.items()
        if message[header] is not None
    }
    found["project_urls"] = {label.strip(): url.strip() for label, _, url in links}
    found["classifiers"] = [str(value) for value in message.get_all("Classifier", [])]
    found["description"] = message["Description"] or (payload if isinstance(payload, str) else None)
    return found


def _resolve(declared: str | None, page: ProjectPage) -> Version | None:
    if declared is None:
        return page.latest
    try:
        wanted = Version(declared)
    except ValueError:
        return None
    return next((version for version in page.versions if version == wanted), None)


def _yanked(files: tuple[IndexFile, ...]) -> str | None:
    reasons = [file.yanked for file in files]
    return next((reason for reason in reasons if reason), "") if reasons and None not in reasons else None


def _build(files: tuple[IndexFile, ...]) -> list[Json] | None:
    if not files:
        return None
    return [] if any(file.kind == "wheel" for file in files) else ["build"]


def _authors(info: Members) -> list[Json] | None:
    for member in ("maintainer", "author", "maintainer_email", "author_email"):
        text = info.get(member)
        named = (
            [as_person_name(part) for part in text[:2000].split(",")[:_MOST_PEOPLE]] if isinstance(text, str) else []
        )
        if found := [name for name in named if name]:
            return list[Json](dict.fromkeys(found))
    return None


def _label(text: str) -> str:
    return "".join(letter for letter in text[:100].lower() if letter.isalnum())
