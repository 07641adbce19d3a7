"""Reads a Python project: the simple API, the JSON API or METADATA file where there is one, and PEP 740."""

from __future__ import annotations

import asyncio
from typing import Final

from packaging.utils import canonicalize_name

from crawler.collectors.package import python_metadata, simple_api
from crawler.collectors.package.document_fields import Members, as_object
from crawler.collectors.package.index_client import Document, Missing
from crawler.collectors.package.npm_probe import missing_package_body
from crawler.collectors.package.package_probe import PackageProbe, PackageResult
from crawler.collectors.package.provenance import empty_provenance, read_python_provenance
from crawler.sandbox.toolchain.package_indexes import PythonIndex
from evidence.canonical import Json
from evidence.kinds.package import PYPI
from evidence.model import Absent, Reason

_JSON: Final = "application/json"
_PROVENANCE: Final = "application/vnd.pypi.integrity.v1+json, application/json;q=0.9"
_ANY: Final = "*/*"
_METADATA: Final = 4 << 20


async def probe_python_project(
    probe: PackageProbe, index: PythonIndex, name: str, declared: str | None
) -> PackageResult | Absent:
    """The result of the first index that has the project. An index that fails is not skipped."""
    for base in index.urls:
        page = await _page(probe, f"{base.rstrip('/')}/{canonicalize_name(name)}/", name)
        if isinstance(page, Absent):
            return page
        if isinstance(page, simple_api.ProjectPage):
            project = await asyncio.to_thread(python_metadata.PythonProject.from_document, name, declared, page)
            return await _found(probe, base, project)
    unknown = Absent(Reason.NO_PACKAGE, f"the Python index has no {name}")
    return PackageResult(missing_package_body(PYPI, name, declared), unknown)


async def _page(probe: PackageProbe, address: str, name: str) -> simple_api.ProjectPage | Missing | Absent:
    answer = await probe.fetch_document("simple", address, simple_api.ACCEPT)
    if not isinstance(answer, Document):
        return answer
    if "json" in answer.media:
        document = await probe.parse_object(answer)
        if isinstance(document, Absent):
            return document
        page = await asyncio.to_thread(simple_api.parse_json_page, name, answer.address, document)
    elif len(answer.body) > simple_api.LONGEST_PAGE or answer.body.count(b"<") > simple_api.MOST_TAGS:
        return probe.refusal(Reason.TOO_LARGE, "gave a document that is too large")
    else:
        text = answer.body.decode("utf-8", "replace")
        page = await asyncio.to_thread(simple_api.parse_html_page, name, answer.address, text)
    return page or probe.refusal(Reason.UNREACHABLE, "gave a document that is not about the package")


async def _found(probe: PackageProbe, base: str, project: python_metadata.PythonProject) -> PackageResult:
    document = await _document(probe, base, project)
    info = _info(project, document) or await _metadata(probe, project)
    people = python_metadata.list_publishers(document, info or as_object(document.get("info")))
    provenance = await _provenance(probe, project)
    body = await asyncio.to_thread(python_metadata.python_body, project, info, people, provenance)
    archive = python_metadata.find_python_archive(project) or Absent(
        Reason.NO_VERSION if project.declared else Reason.NO_PACKAGE,
        f"the Python index has no file of {project.name}{f' {project.declared}' if project.declared else ''}",
    )
    return PackageResult(body, archive)


async def _document(probe: PackageProbe, base: str, project: python_metadata.PythonProject) -> Members:
    """The JSON of the version where the index has one, else that of the project."""
    root = simple_api.project_json_url(base, project.name)
    if root is None:
        return {}
    if project.version and project.version != project.page.latest:
        found = await probe.fetch_optional_object("version", f"{root}/{project.version}/json", _JSON)
        if found:
            return found
    return await probe.fetch_optional_object("project", f"{root}/json", _JSON)


def _info(project: python_metadata.PythonProject, document: Members) -> Members | None:
    """The document's metadata, if they are those of the collected version."""
    info = as_object(document.get("info"))
    name, version = info.get("name"), info.get("version")
    same = isinstance(name, str) and canonicalize_name(name) == canonicalize_name(project.name)
    return (
        info
        if same and isinstance(version, str) and python_metadata.matches_version(version, project.version)
        else None
    )


async def _metadata(probe: PackageProbe, project: python_metadata.PythonProject) -> Members | None:
    """The METADATA file that the index serves beside a wheel (PEP 658)."""
    file = next((file for file in project.files if file.has_metadata), None)
    if file is None:
        return None
    answer = await probe.fetch_document("metadata", f"{file.address}.metadata", _ANY)
    if isinstance(answer, Absent):
        probe.incomplete.append("metadata")
    if not isinstance(answer, Document) or len(answer.body) > _METADATA:
        return None
    return python_metadata.parse_core_metadata(answer.body)


async def _provenance(probe: PackageProbe, project: python_metadata.PythonProject) -> Json:
    for file in project.files:
        if file.provenance:
            answer = await probe.fetch_optional_object("provenance", file.provenance, _PROVENANCE)
            return await asyncio.to_thread(read_python_provenance, answer, file.digest)
    return empty_provenance() if project.files and project.page.has_provenance else None
