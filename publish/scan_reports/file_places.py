"""Finds the file and the line that a finding is about, as far as the evidence shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct, field

from evidence.canonical import NotJson
from evidence.kinds import advisories, dependencies, secrets, source
from evidence.model import Dossier, Observed
from scoring.text import evidence_path

_MANIFESTS: Final = ("server.json", "package.json", "pyproject.toml")

_WORKFLOWS: Final = f"{source.KIND}/.github/"  # always in the root of a repository

FindLine = Callable[[str, str], int]
"""The line of a file on which a text first stands; 0 when it is not there."""


class FilePlace(Struct, frozen=True):
    """A file of the project and a line of it; 0 for the whole file. `what` tells findings of one file apart."""

    path: str
    line: int = 0
    what: str = ""


class FilePlaces(Struct, frozen=True, kw_only=True):
    """Places by the paths of findings: `exact` ones, those of tools by name, and lockfiles by `ECOSYSTEM/NAME VERSION`.

    `whole` is the file for what is about the project as a whole; None when that has no file.
    """

    exact: Mapping[str, FilePlace] = field(default_factory=dict)
    tools: Mapping[str, FilePlace] = field(default_factory=dict)
    packages: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    whole: FilePlace | None = None
    find_line: FindLine | None = None

    def find(self, at: str) -> FilePlace | None:
        """The place of the finding at a path of our evidence; None when no file is known."""
        if (place := self.exact.get(at)) is not None:
            return place
        if at.startswith(_WORKFLOWS):
            path, _, line = at.removeprefix(f"{source.KIND}/").rpartition("/")
            return FilePlace(f"/{path}", int(line)) if line.isdecimal() else FilePlace(f"/{path}/{line}")
        kind, _, rest = at.removeprefix(f"{source.KIND}/").partition("/")
        if kind == "tools":
            return self.tools.get(rest.partition("/")[0]) or self.whole
        return (self._find_package(at) if kind == advisories.KIND else None) or self.whole

    def _find_package(self, at: str) -> FilePlace | None:
        plain = f"{evidence_path.unescape_path(at)}/"
        for package, (path, name) in self.packages.items():
            if f"/{package}/" in plain:
                return FilePlace(path, self.find_line(path, name) if self.find_line else 0)
        return None


def list_file_places(dossier: Dossier, *, is_project: bool = False, find_line: FindLine | None = None) -> FilePlaces:
    """The places in files: credentials, the README, tools that the code declares, and packages in lockfiles.

    For a project what is in no file is attributed to its manifest. `find_line` finds lines that the evidence lacks.
    """
    exact = dict(_list_secrets(dossier))
    tools: dict[str, str] = {}
    whole = None
    content = dossier.read(source.KIND)
    if isinstance(content, Observed):
        seen = source.Source.parse(content.body)
        if seen.readme is not None and seen.readme.path:
            exact["source/readme"] = FilePlace(seen.readme.path)
        tools = {evidence_path.escape_segment(one.name): one.at for one in reversed(seen.tools)}
        declared = {f"source/tools/{name}": at for name, at in tools.items()}
        read = {f"source/environment/{evidence_path.escape_segment(one.name)}": one.at for one in seen.environment}
        exact = {**_parse_places({**declared, **read}), **exact}
        whole = _find_whole(seen)
    if not is_project:
        return FilePlaces(exact=exact)
    packages = dict(_list_packages(dossier))
    return FilePlaces(exact=exact, tools=_parse_places(tools), packages=packages, whole=whole, find_line=find_line)


def _parse_places(stated: Mapping[str, str]) -> dict[str, FilePlace]:
    """The places of `path:line`."""
    split = {at: text.rpartition(":") for at, text in stated.items()}
    return {at: FilePlace(path, int(line)) for at, (path, _, line) in split.items() if path and line.isdecimal()}


def _list_secrets(dossier: Dossier) -> Iterator[tuple[str, FilePlace]]:
    content = dossier.read(secrets.KIND)
    if not isinstance(content, Observed):
        return
    for leak in secrets.Secrets.parse(content.body).findings:
        if leak.path:
            parts = (part[: evidence_path.MAX_SEGMENT] for part in (*leak.path.split("/"), str(leak.line)))
            at = evidence_path.join_segments(secrets.KIND, *map(evidence_path.escape_segment, parts))
            yield at, FilePlace(leak.path, leak.line, leak.pattern)


def _list_packages(dossier: Dossier) -> Iterator[tuple[str, tuple[str, str]]]:
    content = dossier.read(dependencies.KIND)
    if not isinstance(content, Observed):
        return
    try:
        listed = dependencies.Dependencies.parse(content.body).dependencies
    except NotJson:
        return
    for one in listed:
        if one.path:
            yield f"{one.ecosystem}/{one.name} {one.version}", (one.path, one.name)


def _find_whole(seen: source.Source) -> FilePlace | None:
    """The manifest nearest to the root, else the README."""
    known = [path for path in seen.paths("manifests") if path.rpartition("/")[2] in _MANIFESTS]
    ranked = sorted(known, key=lambda path: (path.count("/"), _MANIFESTS.index(path.rpartition("/")[2])))
    paths = [*ranked, *([seen.readme.path] if seen.readme else [])]
    return FilePlace(paths[0]) if paths else None
