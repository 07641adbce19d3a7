"""A bounded view of a dossier's raw evidence for pages. Templates escape the texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from evidence.canonical import Json
from evidence.kinds import listing, registration
from evidence.kinds.listing import LISTS, End, Item, ItemList, Listing
from evidence.kinds.registration import Registration
from evidence.model import Absent, Dossier, Record
from publish.text.display import make_visible
from publish.views.absence_advice import Advice, advise_on_absence
from scoring.analysis.token_costs import estimate_tokens

MAX_ITEMS = 200
MAX_PARAMETERS = 60
MAX_FACTS = 80
RAW_LIMIT = 6_000
RAW_BUDGET = 48_000
MIN_RAW = 500
TEXT_LIMIT = 2_000
MIN_TEXT = 40


class Bounds(Struct, frozen=True, kw_only=True):
    """Limits of one page of a listing: the first item, items of each list, and characters of all texts."""

    first: int = 0
    items: int = MAX_ITEMS
    parameters: int = MAX_PARAMETERS
    raw: int = RAW_BUDGET
    texts: int = 2 * RAW_LIMIT * MAX_ITEMS
    explained: int = TEXT_LIMIT * MAX_ITEMS * MAX_PARAMETERS


DEFAULT_BOUNDS: Final = Bounds()

LIST_NAMES: Final = {
    "tools": "Tools",
    "resources": "Resources",
    "resourceTemplates": "Resource templates",
    "prompts": "Prompts",
}
END_WORDS: Final = {
    End.COMPLETE: "read to the end",
    End.NOT_ASKED: "not declared, so not asked for",
    End.ERROR: "the server answered with an error",
    End.FAILED: "no usable answer",
    End.CAPPED: "longer than the probe reads; the rest was not read",
    End.CURSOR_REPEATED: "a page pointed back to itself; the rest was not read",
}


class MultilineText(str):
    """Text that is shown with its line breaks."""

    __slots__ = ()


class Parameter(Struct, frozen=True):
    """One top-level property of a tool's input schema."""

    name: str
    type: str
    required: bool
    description: str


class ItemView(Struct, frozen=True):
    """A tool, resource or prompt as the server sent it; `tokens` is an estimate for a tool, else 0."""

    anchor: str
    name: str
    title: str
    description: MultilineText
    uri: str
    hints: tuple[tuple[str, str], ...]
    parameters: tuple[Parameter, ...]
    more_parameters: int
    raw: MultilineText
    tokens: int


class ListView(Struct, frozen=True):
    """One of the four lists and how reading it ended."""

    key: str
    name: str
    declared: bool
    end: str
    whole: bool
    error: str
    pages: int
    count: int
    items: tuple[ItemView, ...]
    left: int


class ListingView(Struct, frozen=True):
    """The listing: facts of the opening exchange, instructions and the four lists."""

    facts: tuple[tuple[str, str], ...]
    instructions: MultilineText
    lists: tuple[ListView, ...]

    @property
    def longest(self) -> int:
        return max(one.count for one in self.lists)


class RecordView(Struct, frozen=True):
    """One record: provenance, digests and observation facts."""

    kind: str
    provenance: str
    observed_at: str
    digest: str
    canonical: str
    absent: str
    detail: str
    advice: Advice | None
    facts: tuple[tuple[str, str], ...]


def view_listing(dossier: Dossier, bounds: Bounds = DEFAULT_BOUNDS) -> ListingView | None:
    """The listing within the bounds of a page; None if it is absent or cannot be parsed."""
    seen = dossier.parsed(listing.KIND, Listing.parse)
    if seen is None:
        return None
    found = {name: seen.list_of(name) for name in LISTS}
    shown = [item for items in found.values() for item in _shown(items, bounds)]
    share = _Share.of(shown, bounds)
    lists = tuple(_list(name, items, bounds, share) for name, items in found.items())
    return ListingView(tuple(_opening_facts(seen)), MultilineText(seen.instructions), lists)


def count_tools(dossier: Dossier) -> int:
    """Number of tools in the listing; 0 without a listing."""
    seen = dossier.parsed(listing.KIND, Listing.parse)
    return 0 if seen is None else len(seen.tools.items)


def view_registry_entries(dossier: Dossier) -> tuple[tuple[tuple[tuple[str, str], ...], MultilineText], ...]:
    """The registry entries, each as facts and as raw JSON."""
    seen = dossier.parsed(registration.KIND, Registration.parse)
    refs = seen.refs if seen else ()
    return tuple((tuple(_entry_facts(ref)), format_raw_json(ref.get("entry"))) for ref in refs[:MAX_ITEMS])


def view_record(record: Record) -> RecordView:
    """A record without its body."""
    content = record.content
    absent = content if isinstance(content, Absent) else None
    return RecordView(
        kind=record.kind,
        provenance=f"schema {record.schema}, collector {record.collector} version {record.collector_version}",
        observed_at=record.observed_at.isoformat(timespec="seconds"),
        digest=content.digest,
        canonical="" if isinstance(content, Absent) else content.canonical or "uncanonicalisable",
        absent=absent.reason.value if absent else "",
        detail=absent.detail if absent else "",
        advice=advise_on_absence(absent.reason) if absent and record.kind == listing.KIND else None,
        facts=tuple(_flat(record.observation))[:MAX_FACTS],
    )


def format_text(value: Json) -> str:
    """A string unchanged, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def format_raw_json(value: Json, limit: int = RAW_LIMIT) -> MultilineText:
    """Indented JSON of at most `limit` characters; a note at the end says how many were cut."""
    return MultilineText(_clipped(json.dumps(value, indent=2, ensure_ascii=False), limit))


def _clipped(text: str, limit: int) -> str:
    """At most `limit` characters, with secrets at the cut masked and a note about the cut characters."""
    return text if len(text) <= limit else make_visible(text, limit=limit, multiline=True)


def _opening_facts(seen: Listing) -> Iterator[tuple[str, str]]:
    yield (
        "Server",
        " ".join(format_text(seen.server_info.get(part)) for part in ("name", "version")).strip() or "not named",
    )
    yield "Transport", seen.transport
    yield "Protocol version", seen.protocol_version or "not named"
    yield "Era", f"{seen.era}, {'server/discover' if seen.era == 'modern' else 'initialize'}"
    uncontained = "not recorded" if seen.transport == "stdio" else "not needed, reached over the network"
    yield "Sandbox", seen.sandbox or uncontained
    yield "Capabilities", ", ".join(sorted(seen.capabilities)) or "none declared"
    if tools := seen.tools.items:
        cost = sum(estimate_tokens(tool.raw) for tool in tools)
        yield "Context", f"about {cost} tokens for the definitions of {len(tools)} tools (estimate)"


class _Share(Struct, frozen=True):
    """Characters for each text of each type, so that all texts together stay within the bounds of a page."""

    raw: int
    text: int
    explained: int

    @staticmethod
    def of(shown: Sequence[Item], bounds: Bounds) -> _Share:
        parameters = sum(min(len(_properties(item)), bounds.parameters) for item in shown)
        return _Share(
            min(RAW_LIMIT, max(MIN_RAW, bounds.raw // max(1, len(shown)))),
            min(2 * RAW_LIMIT, max(MIN_TEXT, bounds.texts // max(1, len(shown)))),
            min(TEXT_LIMIT, max(MIN_TEXT, bounds.explained // max(1, parameters))),
        )


def _shown(items: ItemList, bounds: Bounds) -> Sequence[Item]:
    return items.items[bounds.first : bounds.first + bounds.items]


def _list(name: str, seen: ItemList, bounds: Bounds, share: _Share) -> ListView:
    items = seen.items
    shown = _shown(seen, bounds)
    return ListView(
        key=name,
        name=LIST_NAMES[name],
        declared=seen.declared,
        end=END_WORDS[seen.end],
        whole=seen.end in {End.COMPLETE, End.NOT_ASKED},
        error="" if seen.error is None else format_text(seen.error),
        pages=len(seen.pages),
        count=len(items),
        items=tuple(_item(name, item, bounds, share) for item in shown),
        left=max(0, len(items) - bounds.first - len(shown)),
    )


def _item(list_name: str, item: Item, bounds: Bounds, share: _Share) -> ItemView:
    parameters = tuple(_parameters(item, share))
    hints = item.get("annotations")
    return ItemView(
        anchor=f"{list_name}-{item.index + 1}",
        name=item.name or "without a name",
        title=item.text("title"),
        description=MultilineText(_clipped(item.description, share.text)),
        uri=item.text("uri") or item.text("uriTemplate"),
        hints=tuple((name, format_text(value)) for name, value in hints.items()) if isinstance(hints, Mapping) else (),
        parameters=parameters[: bounds.parameters],
        more_parameters=max(0, len(parameters) - bounds.parameters),
        raw=format_raw_json(item.raw, share.raw),
        tokens=estimate_tokens(item.raw) if list_name == "tools" else 0,
    )


def _properties(item: Item) -> Mapping[str, Json]:
    schema = item.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}


def _parameters(item: Item, share: _Share) -> Iterator[Parameter]:
    schema = item.get("inputSchema")
    needed = schema.get("required") if isinstance(schema, Mapping) else None
    required = [name for name in needed if isinstance(name, str)] if isinstance(needed, list) else []
    for name, value in _properties(item).items():
        part = value if isinstance(value, Mapping) else {}
        explained = _clipped(format_text(part.get("description", "")), share.explained)
        yield Parameter(
            name, _clipped(format_text(part.get("type", "any")), share.explained), name in required, explained
        )


def _entry_facts(ref: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    entry = ref.get("entry")
    document = entry.get("server", entry) if isinstance(entry, Mapping) else {}
    members = document if isinstance(document, Mapping) else {}
    yield "Registry", format_text(ref.get("registry"))
    yield "Name", format_text(ref.get("name"))
    yield "Version", format_text(ref.get("version"))
    yield "Status", format_text(ref.get("status"))
    for label, member in (("Title", "title"), ("Description", "description"), ("Website", "websiteUrl")):
        if members.get(member):
            yield label, format_text(members[member])
    repository = members.get("repository")
    if isinstance(repository, Mapping) and repository.get("url"):
        yield "Repository", format_text(repository["url"])


def _flat(value: Json, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for name, member in sorted(value.items()):
            yield from _flat(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and any(isinstance(member, (Mapping, list)) for member in value):
        for position, member in enumerate(value, start=1):
            yield from _flat(member, f"{path}[{position}]")
    elif path:
        yield path, format_text(value)
