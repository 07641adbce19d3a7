"""Collects facts about a server's files while the archive is read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from crawler.archives import ArchiveWalk, Bounds, Member
from crawler.collectors.source.lockfiles import MAX_BYTES as MAX_LOCK
from crawler.collectors.source.lockfiles import FoundLockfiles, detect_lock_format
from evidence.canonical import Json, NotJson, parse_json
from evidence.derive.secrets.file_scan import MAX_BYTES as MAX_TEXT
from evidence.derive.source import code_features, project_files, readme, script_module, workflows
from evidence.derive.source.code_features import VariableRead
from evidence.derive.source.imports import ImportedNames
from evidence.derive.source.readme import ReadmeParts
from evidence.kinds.source import SSE, STDIO, STREAMABLE_HTTP

MAX_CODE: Final = 32 * 1024 * 1024
"""Bytes of all code that is searched for tools."""

MAX_BUNDLE: Final = 256 * 1024
"""Bytes. A longer script includes libraries, such as the OAuth parts of the SDK: no evidence about the server."""

_PLACES: Final = 20
_MARKERS: Final = 50
_VARIABLES: Final = 100
_METADATA: Final = ".dist-info/METADATA"
_UNREAD: Final = (
    ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".bmp", ".tiff", ".psd", ".mp4", ".mov", ".webm", ".avi", ".mp3",
    ".wav", ".ogg", ".flac", ".woff", ".woff2", ".ttf", ".otf", ".eot", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar",
    ".exe", ".dll", ".so", ".dylib", ".a", ".o",
    ".node", ".wasm", ".class", ".pyc", ".pyd", ".bin", ".dat", ".onnx", ".pt", ".safetensors", ".parquet", ".sqlite",
    ".db", ".pdf", ".lockb",
)  # fmt: skip
"""Media, programs and archives of other formats: they hold no text that is read."""

INNER_ARCHIVES: Final = (".zip", ".tgz", ".tar.gz", ".tar", ".jar", ".war", ".whl", ".egg", ".dxt", ".mcpb")
MAX_INNER: Final = 8 * 1024 * 1024
_INNER_BOUNDS: Final = Bounds(unpacked=32 * 1024 * 1024, entries=5_000)
"""An archive inside of the archive is searched for secrets, one inside of that one is not."""
_MOST_PASSED: Final = 128 * 1024 * 1024
_HEADER: Final = 8 * 1024
"""Bytes of all files in such archives that are walked past, each with what its entry costs beside them."""


class FileTree(Struct):
    """The files so far. Paths are relative to the server's folder; `root` lists files of the archive's root outside of
    it.
    """

    subfolder: str
    paths: list[str] = field(default_factory=list)
    root: list[str] = field(default_factory=list)
    size: int = 0
    python: dict[str, str] = field(default_factory=dict)
    scripts: dict[str, bytes] = field(default_factory=dict)
    transports: dict[str, list[str]] = field(default_factory=lambda: {STDIO: [], SSE: [], STREAMABLE_HTTP: []})
    oauth: list[dict[str, Json]] = field(default_factory=list)
    variables: dict[str, tuple[VariableRead, str]] = field(default_factory=dict)
    readmes: dict[str, ReadmeParts] = field(default_factory=dict)
    server_json: dict[str, dict[str, Json]] = field(default_factory=dict)
    workflows: dict[str, dict[str, Json]] = field(default_factory=dict)
    imports: ImportedNames = field(default_factory=ImportedNames)
    locks: FoundLockfiles = field(default_factory=FoundLockfiles)
    tests: int = 0
    examples: int = 0
    code: int = 0
    unpacked: int = 0
    passed: int = 0
    cut: bool = False

    def max_bytes(self, path: str) -> int:
        inner = self.inner(path)
        if inner is None:
            return self._max_outside(path)
        if detect_lock_format(inner):
            return MAX_LOCK
        if inner.lower().endswith(INNER_ARCHIVES):
            return MAX_INNER
        return 0 if inner.lower().endswith(_UNREAD) else MAX_TEXT

    def _max_outside(self, path: str) -> int:
        if detect_lock_format(path) and "/" not in path:
            return MAX_LOCK
        if workflows.is_workflow(path):
            return workflows.MAX_BYTES
        return readme.MAX_BYTES if _is_readme(path) else 0

    def inner(self, path: str) -> str | None:
        """The path in the server's folder, None for one outside of it."""
        if not self.subfolder:
            return path
        prefix = f"{self.subfolder}/"
        return path.removeprefix(prefix) if path.startswith(prefix) else None

    def observe(self, member: Member) -> Iterator[tuple[str, bytes]]:
        """Record a file; yields its path and content if it is to be searched for secrets."""
        inner = self.inner(member.path)
        if workflows.is_workflow(member.path) and len(self.workflows) < workflows.MAX_WORKFLOWS:
            shown = member.path if inner else f"/{member.path}"
            self.workflows[shown] = workflows.read_workflow(shown, member.data)
        if inner is None:
            self._outside(member)
            return
        self.paths.append(inner)
        self.size += member.size
        self.tests += project_files.is_test(inner)
        self.examples += project_files.is_example(inner)
        if form := detect_lock_format(inner):
            self.locks.add(inner, form, member.data, inside=True)
        is_read = code_features.is_code(inner) and project_files.is_server_code(inner) and member.data is not None
        if not is_read and project_files.may_run(inner):
            self.imports.leave_out(inner)
        if member.data is None:
            return
        if inner.lower().endswith(INNER_ARCHIVES):
            yield from self._inside(inner, member.data)
            return
        self._document(inner, member.data)
        if is_read:
            self._code(inner, member.data)
        if len(member.data) <= MAX_TEXT:
            yield inner, member.data

    def _inside(self, path: str, data: bytes) -> Iterator[tuple[str, bytes]]:
        """The files of an archive inside of the archive, while there is room for them."""
        walk = ArchiveWalk(io.BytesIO(data), _room_inside, bounds=_INNER_BOUNDS)
        for member in walk:
            self.passed += member.size + _HEADER
            if self.unpacked + member.size > _INNER_BOUNDS.unpacked or self.passed > _MOST_PASSED:
                self.cut = True
                return
            if member.data is not None:
                self.unpacked += member.size
                yield f"{path}/{member.path}", member.data

    def _outside(self, member: Member) -> None:
        path = f"/{member.path}"
        if project_files.is_root_document(member.path):
            self.root.append(member.path)
        if "/" in member.path:
            return
        if form := detect_lock_format(member.path):
            self.locks.add(path, form, member.data, inside=False)
        elif member.data is not None and _is_readme(member.path):
            self.readmes[path] = readme.parse_readme(_text(member.data))

    def _document(self, path: str, data: bytes) -> None:
        name = path.rpartition("/")[2]
        if _is_readme(path):
            self.readmes[path] = readme.parse_readme(_text(data))
        elif path.endswith(_METADATA) and path.count("/") == 1:
            # A wheel has its README as the body of its metadata (core metadata, Description).
            _, _, body = _text(data).replace("\r\n", "\n").partition("\n\n")
            if body.strip():
                self.readmes[path] = readme.parse_readme(body)
        elif name == "package.json" and project_files.is_manifest(path):
            self.imports.read_scripts(_object(data))
        elif name == "server.json" and path.count("/") <= 2 and len(data) <= readme.MAX_BYTES:
            stated = _object(data)
            if "name" in stated and ("packages" in stated or "remotes" in stated or "$schema" in stated):
                self.server_json[path] = stated

    def _code(self, path: str, data: bytes) -> None:
        if len(data) > script_module.MAX_BYTES or self.code + len(data) > MAX_CODE:
            self.cut = self.cut or self.code + len(data) > MAX_CODE
            self.imports.leave_out(path)
            return
        self.code += len(data)
        text = _text(data)
        self.imports.read(path, text)
        if path.endswith(".py"):
            self.python[path] = text
        elif path.endswith(script_module.SUFFIXES):
            self.scripts[path] = data
        for mark in code_features.find_transports(path, text):
            found = self.transports[mark.what]
            if len(found) < _PLACES and (at := f"{path}:{mark.line}") not in found:
                found.append(at)
        for mark in code_features.find_oauth(path, text) if len(data) <= MAX_BUNDLE else ():
            if len(self.oauth) < _MARKERS:
                self.oauth.append({"marker": mark.what, "at": f"{path}:{mark.line}"})
        for read in code_features.find_environment_reads(path, text) if len(data) <= MAX_BUNDLE else ():
            self._variable(read, f"{path}:{read.line}")

    def _variable(self, read: VariableRead, at: str) -> None:
        known = self.variables.get(read.name)
        if known is None:
            if len(self.variables) < _VARIABLES:
                self.variables[read.name] = (read, at)
        elif known[0].required is not True and read.required is not None:
            required = read.required if known[0].required is None else read.required or known[0].required
            self.variables[read.name] = (replace(known[0], required=required), known[1])


def _room_inside(path: str) -> int:
    return 0 if path.lower().endswith((*_UNREAD, *INNER_ARCHIVES)) else MAX_TEXT


def _is_readme(path: str) -> bool:
    """A README at the top, or in a folder where GitHub looks for one."""
    folder, _, name = path.rpartition("/")
    return folder in {"", ".github", "docs"} and readme.is_readme(name)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _object(data: bytes) -> dict[str, Json]:
    try:
        value = parse_json(data)
    except NotJson:
        return {}
    return value if isinstance(value, dict) else {}
