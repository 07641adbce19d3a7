"""The scopes `Readme`, `Variable`, `Workflow`, `Code`: what a server's own files say, and their tools as a listing."""

from __future__ import annotations

import re
from functools import cached_property
from typing import ClassVar, Final

from evidence.canonical import Json
from evidence.kinds import source
from evidence.kinds.listing import Listing
from evidence.kinds.source import REPOSITORIES, SSE, STREAMABLE_HTTP, Source, SourceTool
from scoring.results.outcome import Skipped, Undecided
from scoring.scopes.base import Scope

_HTTP: Final = frozenset({SSE, STREAMABLE_HTTP})
_SETTING: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Code(Scope, frozen=True, kw_only=True, dict=True):
    """The transports and credentials that the source code shows."""

    reads: ClassVar[str] = source.KIND
    seen: Source

    @property
    def serves_http(self) -> bool:
        """Whether the code serves HTTP; Undecided when it shows no transport or the source is incomplete."""
        if _HTTP & self.seen.transports.keys():
            return True
        if not self.seen.transports:
            raise Undecided("no transport was recognised in the code")
        self.require_complete()
        return False

    @property
    def knows_oauth(self) -> bool:
        """Whether the code has a sign of MCP's OAuth; Undecided without a sign in an incomplete source."""
        if not self.seen.oauth:
            self.require_complete()
        return bool(self.seen.oauth)

    def require_complete(self) -> None:
        """Raise Undecided when the source is incomplete, because the missing part may matter."""
        if not self.seen.complete:
            raise Undecided("the source was not read completely")


class Readme(Scope, frozen=True, kw_only=True, dict=True):
    """The README or its absence."""

    reads: ClassVar[str] = source.KIND
    seen: Source

    @property
    def found(self) -> source.Readme | None:
        """The README, or None; raise Undecided when it is missing in an incomplete source."""
        readme = self.seen.readme
        if readme is None and not self.seen.complete:
            raise Undecided("the source was not read completely")
        return readme


class Variable(Scope, frozen=True, kw_only=True, dict=True):
    """An environment variable that code reads as a secret or requires. `declared` holds the registered names."""

    reads: ClassVar[str] = source.KIND
    seen: Source
    variable: source.Variable
    declared: frozenset[str] = frozenset()

    @property
    def is_documented(self) -> bool:
        """Whether registration or README name the variable; Undecided when unread documents may name it."""
        name = self.variable.name
        if name in self.declared or self.variable.named or name in self._parts:
            return True
        if self.variable.named is None or self.seen.paths("guides"):
            raise Undecided("a document that was not searched may name it")
        return False

    @cached_property
    def _parts(self) -> frozenset[str]:
        """All words in the parts of the README that may be names of variables."""
        readme = self.seen.readme
        texts = (readme.environment, readme.snippet, readme.install, readme.examples, readme.tools) if readme else ()
        return frozenset(name for text in texts for name in _SETTING.findall(text))


class Workflow(Scope, frozen=True, kw_only=True, dict=True):
    """A workflow of GitHub Actions in the repository."""

    reads: ClassVar[str] = source.KIND
    found: source.Workflow

    def require_read(self) -> None:
        """Raise Undecided when the workflow was not read completely."""
        if self.found.why:
            raise Undecided(self.found.why)


def list_workflows(seen: Source) -> tuple[Workflow, ...]:
    return tuple(
        Workflow(at=f"source/{found.path.lstrip('/')}", position=(index,), found=found)
        for index, found in enumerate(seen.workflows or ())
    )


def list_skipped_workflows(seen: Source) -> tuple[Skipped, ...]:
    """A Skipped entry when a repository may have workflows that were not read; packages leave them out."""
    searched = seen.workflows is not None and seen.complete
    return (
        ()
        if searched or seen.origin not in REPOSITORIES
        else (Skipped(source.KIND, "not all workflows were searched"),)
    )


def list_variables(seen: Source, declared: frozenset[str]) -> tuple[Variable, ...]:
    """The variables that a user has to know: secret and required variables, each name once."""
    wanted = {each.name: each for each in reversed(seen.environment) if each.secret or each.required}
    return tuple(
        Variable(
            at=f"source/environment/{name}", position=(index,), seen=seen, variable=wanted[name], declared=declared
        )
        for index, name in enumerate(sorted(wanted))
    )


def build_listing(seen: Source) -> Listing:
    """A listing of the tools in the source, without tools that are partly computed by code."""
    tools: list[Json] = [_listed(tool) for tool in seen.tools if _is_readable(tool)]
    part: dict[str, Json] = {"declared": True, "end": "complete", "error": None, "pages": [{"tools": tools}]}
    opening: dict[str, Json] = {"capabilities": {"tools": {}}}
    return Listing({"opening": opening, "era": "legacy", "transport": "", "lists": {"tools": part}})


def describe_unreadable_tools(body: bytes) -> tuple[Skipped, ...]:
    """A Skipped entry when the source has tools that only running code could show."""
    count = sum(not _is_readable(tool) for tool in Source.parse(body).tools)
    return (Skipped(source.KIND, "tools are computed by code"),) if count else ()


def _is_readable(tool: SourceTool) -> bool:
    """Whether description and schema are known: null means missing or not readable."""
    return tool.description is not None and tool.input is not None


def _listed(tool: SourceTool) -> Json:
    schema = dict(tool.input) if tool.input is not None else None
    notes: dict[str, Json] = {"annotations": dict(tool.annotations)} if tool.annotations is not None else {}
    return {"name": tool.name, "description": tool.description, "inputSchema": schema, **notes}
