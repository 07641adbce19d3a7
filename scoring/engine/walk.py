"""The walk over a dossier: builds the things to judge in each scope and lists what could not be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Final

from evidence.kinds import access, exchanges, listing, registration, source
from evidence.kinds.exchanges import Exchanges
from evidence.kinds.listing import End, Item, ItemList, Listing
from evidence.kinds.registration import Registration
from evidence.model import Absent, Dossier
from scoring.results.outcome import Skipped
from scoring.scopes import base, external, handout_texts, samples, source_files
from scoring.scopes.conversation import Conversation
from scoring.scopes.server_access import Access
from scoring.scopes.trials import Trial, build_trials
from scoring.text import evidence_path, javascript

ENGINE_VERSION: Final = 1
"""Version of walk, scopes and shared code; bumped when a change of them may change the answer of a rule."""

_METHOD_NOT_FOUND: Final = -32601


class Pages(StrEnum):
    """The part of a paginated list that is judged, or the source that replaces the list."""

    ALL = "all"
    FIRST = "first"
    SENT = "sent"  # all pages, also of a list that the server sent without declaring it
    SOURCE = "source"  # no page: the tools and files that the server's source shows


_LIST_OF: Final[Mapping[type[base.Scope], str]] = {
    base.Tool: "tools",
    base.Param: "tools",
    base.Toolset: "tools",
    base.Resource: "resources",
    base.Prompt: "prompts",
    base.PromptArg: "prompts",
}
_CAPABILITY: Final = {
    "tools": "tools",
    "resources": "resources",
    "resourceTemplates": "resources",
    "prompts": "prompts",
}


class Walk:
    """All things of one dossier by scope, built on first use."""

    def __init__(self, dossier: Dossier, pages: Pages = Pages.ALL) -> None:
        self._dossier = dossier
        self._pages = pages
        self._things: dict[type[base.Scope], tuple[base.Scope, ...]] = {}
        self._parameters: dict[int, tuple[base.Param, ...]] = {}
        self._skipped: dict[type[base.Scope], tuple[Skipped, ...]] = {}

    def absent(self, kind: str) -> Absent | None:
        """The reason why a kind of evidence is absent, or None when it is present."""
        content = self._dossier.read(kind)
        return content if isinstance(content, Absent) else None

    def list_things(self, wanted: type[base.Scope]) -> tuple[base.Scope, ...]:
        """The things of one scope in the order of the evidence, which must be present."""
        if wanted not in self._things:
            self._things[wanted] = self._build(wanted)
        return self._things[wanted]

    def list_parameters(self, tool: base.Tool) -> tuple[base.Param, ...]:
        """The parameters of one of the tools, the same objects for all rules."""
        if tool.item.index not in self._parameters:
            self._parameters[tool.item.index] = list_params(tool)
        return self._parameters[tool.item.index]

    def skipped(self, wanted: type[base.Scope]) -> tuple[Skipped, ...]:
        """Parts of the evidence for a scope that could not be read, such as an unfinished list."""
        if wanted not in self._skipped:
            self._skipped[wanted] = self._find_skipped(wanted)
        return self._skipped[wanted]

    def incomplete_end(self, name: str) -> str:
        """How the reading of a declared list ended early; empty when the list is complete or not declared."""
        end = self.listing.list_of(name).end
        return end.value if self.is_declared(name) and end is not End.COMPLETE else ""

    @cached_property
    def listing(self) -> Listing:
        """The listing, or a listing built from the tools of the source."""
        if self._pages is Pages.SOURCE:
            return source_files.build_listing(source.Source.parse(self._body(source.KIND)))
        return self._dossier.parsed(listing.KIND, Listing.parse) or Listing.parse(self._body(listing.KIND))

    @cached_property
    def registration(self) -> Registration:
        return Registration.parse(self._body(registration.KIND))

    @cached_property
    def paginated(self) -> bool:
        """Whether any list has more than one page."""
        if self.absent(listing.KIND):
            return False
        return any(len(self.listing.list_of(name).pages) > 1 for name in listing.LISTS)

    @cached_property
    def undeclared(self) -> bool:
        """Whether any list without a declared capability has pages."""
        if self.absent(listing.KIND):
            return False
        return any(not self.is_declared(name) and any(self.listing.list_of(name).pages) for name in listing.LISTS)

    def is_declared(self, name: str) -> bool:
        """Whether the capability of a list is declared (truthy in JavaScript); only declared lists are read."""
        return javascript.is_truthy(self.listing.capabilities.get(_CAPABILITY[name]))

    @property
    def _prefix(self) -> str:
        return "source/" if self._pages is Pages.SOURCE else ""

    def _body(self, kind: str) -> bytes:
        content = self._dossier.read(kind)
        if isinstance(content, Absent):
            raise LookupError(f"{kind} of {self._dossier.server.id} is absent ({content.reason}): call absent() first")
        return content.body

    def _items(self, name: str) -> tuple[Item, ...]:
        if self._pages is not Pages.SENT and not self.is_declared(name):
            return ()
        items: ItemList = self.listing.list_of(name)
        return items.first_page if self._pages is Pages.FIRST else items.items

    def _build(self, wanted: type[base.Scope]) -> tuple[base.Scope, ...]:  # noqa: C901, PLR0911, PLR0912 - one a scope
        if wanted is base.Tool:
            return self.tools
        if wanted is base.Param:
            return tuple(param for tool in self.tools for param in self.list_parameters(tool))
        if wanted is base.Resource:
            return tuple(
                base.Resource(item=item, at=f"resources/{segment}", position=(item.index,))
                for item, segment in _with_segments(self._items("resources"))
            )
        if wanted is base.ListedResource:
            return (*(known := self.list_things(base.Resource)), *self._list_templates(len(known)))
        if wanted is base.Prompt:
            return self.prompts
        if wanted is base.PromptArg:
            return tuple(argument for prompt in self.prompts for argument in list_arguments(prompt))
        if wanted is base.Toolset:
            return (self.toolset,)
        if wanted is base.Said:
            at = "source" if self._pages is Pages.SOURCE else "server"
            return (base.Said(at=at, listing=self.listing),) if self._has_text() else ()
        if wanted is base.Server:
            return (self.server,)
        if wanted is Conversation:
            return (self.conversation,)
        if wanted is Access:
            return (Access(at=access.KIND, seen=access.Access.parse(self._body(access.KIND))),)
        if wanted is Trial:
            return build_trials(self._body(wanted.reads), None if self.absent(listing.KIND) else self.listing)
        if wanted in samples.SCOPES:
            return samples.build_sample_scopes(wanted, self._body(wanted.reads))
        if wanted in handout_texts.SCOPES:
            return handout_texts.build_handout_scopes(wanted, self._body(wanted.reads))
        if wanted in external.SCOPES:
            return external.build_scopes(wanted, self._dossier, with_repository=self._pages is not Pages.SOURCE)
        return self._registered(wanted)

    @cached_property
    def conversation(self) -> Conversation:
        """All exchanges, with the results that the listing holds."""
        known = None if self.absent(listing.KIND) else self.listing
        return Conversation(
            at=exchanges.KIND, recorded=Exchanges.parse(self._body(exchanges.KIND), known), listing=known
        )

    @cached_property
    def server(self) -> base.Server:
        tools, resources, prompts = (len(self._items(name)) for name in ("tools", "resources", "prompts"))
        return base.Server(at="server", listing=self.listing, tools=tools, resources=resources, prompts=prompts)

    @cached_property
    def tools(self) -> tuple[base.Tool, ...]:
        """The tools; the path of a tool from the source begins with `source/`."""
        return tuple(
            base.Tool(item=item, at=f"{self._prefix}tools/{segment}", position=(item.index,))
            for item, segment in _with_segments(self._items("tools"))
        )

    @cached_property
    def toolset(self) -> base.Toolset:
        return base.Toolset(at=f"{self._prefix}tools", tools=self.tools)

    @cached_property
    def parameter_counts(self) -> Counter[int]:
        """The number of parameters of each tool that has any, by its place in the list."""
        counts = ((tool.item.index, sum(raw is not None for raw in tool.properties.values())) for tool in self.tools)
        return Counter({place: count for place, count in counts if count})

    @cached_property
    def bare_tools(self) -> tuple[base.Tool, ...]:
        """The tools whose input schema leaves open what their parameters are."""
        return tuple(tool for tool in self.tools if tool.leaves_parameters_open)

    @cached_property
    def prompts(self) -> tuple[base.Prompt, ...]:
        return tuple(
            base.Prompt(item=item, at=f"prompts/{segment}", position=(item.index,))
            for item, segment in _with_segments(self._items("prompts"))
        )

    def _list_templates(self, first: int) -> tuple[base.ListedResource, ...]:
        return tuple(
            base.ListedResource(item=item, at=f"resourceTemplates/{segment}", position=(first + item.index,))
            for item, segment in _with_segments(self._items("resourceTemplates"))
        )

    def _find_skipped(self, wanted: type[base.Scope]) -> tuple[Skipped, ...]:
        if wanted in handout_texts.SCOPES:
            return handout_texts.list_skipped_handouts(wanted, self._body(wanted.reads))
        if wanted in external.SCOPES:
            return external.list_skipped(wanted, self._dossier)
        if self._pages is Pages.SOURCE:
            return source_files.describe_unreadable_tools(self._body(source.KIND))
        if wanted is base.Said:
            return tuple(Skipped(name, self.incomplete_end(name)) for name in listing.LISTS if self._has_unread(name))
        if wanted is base.ListedResource:
            names = ("resources", "resourceTemplates")
            return tuple(Skipped(name, self.incomplete_end(name)) for name in names if self._has_unread(name))
        name = _LIST_OF.get(wanted)
        end = self.incomplete_end(name) if name else ""
        return (Skipped(name, end),) if name and end else ()

    def _has_unread(self, name: str) -> bool:
        """Whether a declared list holds items that were not read; a list that is not implemented holds no items."""
        error = self.listing.list_of(name).error
        missing = isinstance(error, Mapping) and error.get("code") == _METHOD_NOT_FOUND
        return bool(self.incomplete_end(name)) and not missing

    def _has_text(self) -> bool:
        lists = (self.listing.list_of(name) for name in listing.LISTS)
        return bool(self.listing.instructions) or any(items.items for items in lists)

    def _registered(self, wanted: type[base.Scope]) -> tuple[base.Scope, ...]:
        if wanted is base.Registered:
            return (
                base.Registered(
                    at="registration",
                    registration=self.registration,
                    gone=external.missing_repository_detail(self._dossier),
                ),
            )
        if wanted is base.Package:
            return _declared(base.Package, "packages", self.registration.packages)
        if wanted is base.Remote:
            return _declared(base.Remote, "remotes", self.registration.remotes)
        if wanted is base.Setting:
            return _declared(base.Setting, "settings", self.registration.settings)
        raise TypeError(f"{wanted.__name__} is not a scope of the walk")


def list_params(tool: base.Tool) -> tuple[base.Param, ...]:
    """The parameters of a tool: its top-level properties with a value other than null."""
    named = zip(tool.properties.items(), evidence_path.name_segments(tool.properties), strict=True)
    return tuple(
        base.Param(tool=tool, name=name, raw=raw, at=f"{tool.at}/{segment}", position=(*tool.position, index))
        for index, ((name, raw), segment) in enumerate(named)
        if raw is not None
    )


def list_arguments(prompt: base.Prompt) -> tuple[base.PromptArg, ...]:
    """The arguments of a prompt; empty when `arguments` is not a list."""
    raw = prompt.get("arguments")
    items = [Item(argument, index) for index, argument in enumerate(raw)] if isinstance(raw, list) else []
    return tuple(
        base.PromptArg(item=item, at=f"{prompt.at}/{segment}", position=(*prompt.position, item.index))
        for item, segment in _with_segments(tuple(items))
    )


def _with_segments(items: tuple[Item, ...]) -> list[tuple[Item, str]]:
    names = [item.name or item.text("uri") for item in items]
    return list(zip(items, evidence_path.name_segments(names), strict=True))


def _declared(
    kind: type[base.Package | base.Remote | base.Setting], name: str, values: tuple[registration.Declaration, ...]
) -> tuple[base.RegistryObject, ...]:
    labels = evidence_path.name_segments([value.label for value in values])
    return tuple(
        kind(raw=value.raw, at=f"registration/{name}/{segment}", position=(index,))
        for index, (value, segment) in enumerate(zip(values, labels, strict=True))
    )
