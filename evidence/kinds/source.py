"""Kind `source`: facts from a server's own files, which are read and never run.

Body, schema 1 (canonical JSON; AT is "path:line", paths are relative to the subfolder, or to the root without one):

    {"origin": ORIGIN, "name": STRING, "ref": COMMIT | VERSION, "subfolder": PATH | null,
     "complete": BOOL, "skipped": [{"path": PATH, "why": STRING}, ...],    at most 50, first by path
     "left_out": [{"path": PATH, "why": STRING}, ...], "published": [PATH, ...],    only of folders, at most 50 each
     "files": INT, "bytes": INT,                                           of the server's part of the archive
     "readme": {"path": PATH, "words": INT, "sections": [TITLE, ...], "install": TEXT | null, "snippet": TEXT | null,
                "environment": TEXT | null, "examples": TEXT | null, "tools": TEXT | null, "licence": BOOL,
                "mcp_name": NAME | null} | null,
     "guides": [PATH, ...], "manifests": [PATH, ...],
     "lockfiles": [{"path": PATH, "format": ID, "packages": INT | null, "error": TEXT | null}, ...],
     "transports": {"stdio": [AT, ...], "sse": [AT, ...], "streamable-http": [AT, ...]},
     "oauth": [{"marker": STRING, "at": AT}, ...],
     "environment": [{"name": STRING, "at": AT, "secret": BOOL, "required": BOOL | null, "named": BOOL}, ...],
     "tools": [{"name": STRING, "description": TEXT | null, "input": SCHEMA | null, "annotations": {...} | null,
                "at": AT, "by": "python" | "typescript" | "javascript"}, ...],
     "changelog": PATH | null, "tests": INT, "ci": [PATH, ...], "dockerfile": PATH | null,
     "server_json": {"path": PATH, "name": NAME | null, "version": TEXT | null} | null,
     "licence": PATH | null, "security_policy": PATH | null, "contributing": PATH | null, "examples": INT,
     "imports": {"npm": [NAME, ...], "python": [MODULE, ...], "own": [MODULE, ...], "unread": ["npm" | "PyPI", ...]},
     "workflows": [{"path": PATH, "why": TEXT | null, "uses": INT, "unpinned": ["LINE ACTION", ...],
                    "rights": "declared" | "default" | "write-all", "writes": [SCOPE, ...],
                    "untrusted": ["LINE checkout" | "LINE script", ...]}, ...]}         only of repositories, at most 50

ORIGIN is `github`, `npm` or `PyPI`; in a scan of what is on this machine `project` (a folder of a Git repository) or
`archive` (a file, or another folder).
`complete` is false when a bound of ours ended the reading early or an entry was refused; a file that is too large or
not text is skipped and leaves it true. `left_out` names what was not read, `published` what was read although git
ignores it, since releases hold it. Transports, OAuth markers, environment and tools come from code only: not from
documents, tests, examples and vendored folders. `named` states whether a README names the variable in any part. In
`tools`, values that code computes are null and never guessed: `description` null may mean that there is none or that
the text does not determine it. A licence, a security policy, a guide for contributors, the CI and a changelog are
searched in the subfolder first and then in the root; such a path begins with "/". `imports` are the
packages of npm and the top modules of Python that code imports; of an `unread` ecosystem it may import more, because a
name is computed or a file was not read. `unpinned` are actions, workflows
and images that no commit or digest fixes; `rights` states where the rights of the token are limited, `writes` what all
jobs may write, and `untrusted` where a stranger's code or text runs with the rights of the repository. `why` says what
of a workflow was not read. Texts are scrubbed of secrets.

Observation: `looked_at`, the time of the reading; `carried` when nothing was downloaded because the ref is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from msgspec import Struct, field

from evidence.canonical import Json, parse_json
from evidence.json_members import count_or_zero, object_or_empty, objects_in, read_members, strings_in, text_or_empty
from evidence.kinds.traits import Traits

KIND: Final = "source"
SCHEMA: Final = 1
TRAITS: Final = Traits(
    licence="Quotations from files of the project, under the project's own licence; only where that allows it.",
    stands_with=KIND,
)

GITHUB: Final = "github"
REPOSITORIES: Final = frozenset({GITHUB, "project"})
"""The origins with all files of a repository; packages leave files of the project out."""

STDIO: Final = "stdio"
SSE: Final = "sse"
STREAMABLE_HTTP: Final = "streamable-http"


class Readme(Struct, frozen=True, kw_only=True):
    """The README of the server. Parts that it lacks are empty."""

    path: str
    words: int
    sections: tuple[str, ...]
    install: str
    snippet: str
    environment: str
    examples: str
    tools: str
    licence: bool
    mcp_name: str


class SourceLockfile(Struct, frozen=True, kw_only=True):
    """A lockfile of the project: its number of packages, or why it is unknown."""

    path: str
    format: str
    packages: int | None
    error: str


class Marker(Struct, frozen=True):
    """A sign of MCP's OAuth in code."""

    marker: str
    at: str


class Variable(Struct, frozen=True, kw_only=True):
    """An environment variable that code reads. `required` is None where the code does not show it.

    `named` says whether a README names it; None when no README was searched.
    """

    name: str
    at: str
    secret: bool
    required: bool | None
    named: bool | None = None


class SourceTool(Struct, frozen=True, kw_only=True):
    """A tool that code declares; None is a value that the text alone does not determine."""

    name: str
    description: str | None
    input: Mapping[str, Json] | None
    annotations: Mapping[str, Json] | None
    at: str
    by: str


class Imports(Struct, frozen=True, kw_only=True):
    """Packages of npm and top modules of Python that code imports, and the modules of the project itself."""

    npm: tuple[str, ...] = ()
    python: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


class Workflow(Struct, frozen=True, kw_only=True):
    """One workflow of GitHub Actions; `why` is empty when it was read completely."""

    path: str
    why: str = ""
    uses: int = 0
    unpinned: tuple[str, ...] = ()
    rights: str = ""
    writes: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()


class LeftOut(Struct, frozen=True):
    """A file or folder that was not read, and why."""

    path: str
    why: str


class Source(Struct, frozen=True, dict=True):
    """Typed, tolerant view of a source body."""

    body: Mapping[str, Json] = field(default_factory=dict)

    @classmethod
    def parse(cls, body: bytes) -> Source:
        """View over the body; raise NotJson when the bytes are not JSON."""
        return cls(object_or_empty(parse_json(body)))

    @property
    def origin(self) -> str:
        """`github`, `npm`, `PyPI`, `project` or `archive`."""
        return text_or_empty(self.body.get("origin"))

    @property
    def name(self) -> str:
        """The repository or the package."""
        return text_or_empty(self.body.get("name"))

    @property
    def ref(self) -> str:
        """The commit or the version."""
        return text_or_empty(self.body.get("ref"))

    @property
    def subfolder(self) -> str:
        """The server's folder in the archive; empty for the root."""
        return text_or_empty(self.body.get("subfolder"))

    @property
    def complete(self) -> bool:
        """Whether no bound ended the reading early."""
        return self.body.get("complete") is True

    @cached_property
    def readme(self) -> Readme | None:
        raw = self.body.get("readme")
        return read_members(Readme, raw) if isinstance(raw, Mapping) else None

    @cached_property
    def lockfiles(self) -> tuple[SourceLockfile, ...]:
        """The lockfiles of the server's folder, else of the root."""
        return tuple(read_members(SourceLockfile, raw) for raw in objects_in(self.body.get("lockfiles")))

    @cached_property
    def transports(self) -> Mapping[str, tuple[str, ...]]:
        """The places where code opens each transport; other transports are missing."""
        found = {name: strings_in(places) for name, places in object_or_empty(self.body.get("transports")).items()}
        return {name: places for name, places in found.items() if places}

    @cached_property
    def oauth(self) -> tuple[Marker, ...]:
        return tuple(read_members(Marker, raw) for raw in objects_in(self.body.get("oauth")))

    @cached_property
    def environment(self) -> tuple[Variable, ...]:
        """The environment variables that code reads, by name."""
        return tuple(read_members(Variable, raw) for raw in objects_in(self.body.get("environment")))

    @cached_property
    def tools(self) -> tuple[SourceTool, ...]:
        """The tools that code declares, in the order of their places."""
        return tuple(read_members(SourceTool, raw) for raw in objects_in(self.body.get("tools")))

    @cached_property
    def left_out(self) -> tuple[LeftOut, ...]:
        """What of a folder was not read, by path; at most 50."""
        return tuple(read_members(LeftOut, raw) for raw in objects_in(self.body.get("left_out")))

    @cached_property
    def imports(self) -> Imports | None:
        """What the code imports; None when it was not searched."""
        raw = self.body.get("imports")
        return read_members(Imports, raw) if isinstance(raw, Mapping) else None

    @cached_property
    def workflows(self) -> tuple[Workflow, ...] | None:
        """The workflows of GitHub Actions; None when they were not searched."""
        if "workflows" not in self.body:
            return None
        return tuple(read_members(Workflow, raw) for raw in objects_in(self.body["workflows"]))

    def path(self, member: str) -> str:
        """One of `changelog`, `dockerfile`, `licence`, `security_policy`, `contributing`; empty when it is missing."""
        return text_or_empty(self.body.get(member))

    def paths(self, member: str) -> tuple[str, ...]:
        """One of `guides`, `manifests`, `ci`, `published`."""
        return strings_in(self.body.get(member))

    def count(self, member: str) -> int:
        """One of `files`, `bytes`, `tests`, `examples`."""
        return count_or_zero(self.body.get(member))

    @property
    def server_json(self) -> Mapping[str, Json] | None:
        """Path, name and version of the server.json; None when there is none."""
        raw = self.body.get("server_json")
        return raw if isinstance(raw, Mapping) else None
