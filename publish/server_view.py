"""What a server's page says of the raw evidence: a bounded, typed view of one dossier. Escaping is the template's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from evidence.canonical import Json, NotJson
from evidence.kinds import listing, registration
from evidence.kinds.listing import LISTS, End, Item, ItemList, Listing
from evidence.kinds.registration import Registration
from evidence.model import Absent, Dossier, Record
from publish.advice import Advice, advice

MAX_ITEMS = 200
MAX_PARAMETERS = 60
MAX_FACTS = 80
RAW_LIMIT = 6_000
RAW_BUDGET = 48_000
RAW_LEAST = 500

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
    End.CAPPED: "longer than the probe reads; the rest was left",
    End.CURSOR_REPEATED: "a page pointed back to itself; the rest was left",
}


class Prose(str):
    """Text whose line breaks are shown."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One top-level property of a tool's input schema."""

    name: str
    type: str
    required: bool
    description: str


@dataclass(frozen=True, slots=True)
class ItemView:
    """A tool, resource or prompt as it was sent."""

    anchor: str
    name: str
    title: str
    description: Prose
    uri: str
    hints: tuple[tuple[str, str], ...]
    parameters: tuple[Parameter, ...]
    more_parameters: int
    raw: Prose


@dataclass(frozen=True, slots=True)
class ListView:
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


@dataclass(frozen=True, slots=True)
class Conversation:
    """What the opening exchange settled."""

    facts: tuple[tuple[str, str], ...]
    instructions: Prose
    lists: tuple[ListView, ...]


@dataclass(frozen=True, slots=True)
class RecordView:
    """One record: its provenance, digests and the small facts of that visit."""

    kind: str
    provenance: str
    observed_at: str
    digest: str
    canonical: str
    absent: str
    detail: str
    advice: Advice | None
    facts: tuple[tuple[str, str], ...]


def conversation(dossier: Dossier) -> Conversation | None:
    """The listing as a page shows it, None when it is absent or cannot be read back."""
    content = dossier.read(listing.KIND)
    if isinstance(content, Absent):
        return None
    try:
        seen = Listing.parse(content.body)
    except NotJson:
        return None
    found = {name: seen.list_of(name) for name in LISTS}
    shown = sum(min(len(items.items), MAX_ITEMS) for items in found.values())
    raw_limit = min(RAW_LIMIT, max(RAW_LEAST, RAW_BUDGET // max(1, shown)))
    lists = tuple(_list(name, items, raw_limit) for name, items in found.items())
    return Conversation(tuple(_opening_facts(seen)), Prose(seen.instructions), lists)


def entries(dossier: Dossier) -> tuple[tuple[tuple[tuple[str, str], ...], Prose], ...]:
    """The registry entries, each as facts and as raw JSON."""
    content = dossier.read(registration.KIND)
    if isinstance(content, Absent):
        return ()
    try:
        refs = Registration.parse(content.body).refs
    except NotJson:
        return ()
    return tuple((tuple(_entry_facts(ref)), raw(ref.get("entry"))) for ref in refs[:MAX_ITEMS])


def record_view(record: Record) -> RecordView:
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
        advice=advice(absent.reason) if absent and record.kind == listing.KIND else None,
        facts=tuple(_flat(record.observation))[:MAX_FACTS],
    )


def word(value: Json) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def raw(value: Json, limit: int = RAW_LIMIT) -> Prose:
    """Indented JSON of at most `limit` characters; what was cut is said at the end."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    cut = len(text) - limit
    return Prose(f"{text[:limit]}… ({cut:,} more characters)" if cut > 0 else text)


def _opening_facts(seen: Listing) -> Iterator[tuple[str, str]]:
    yield "Server", " ".join(word(seen.server_info.get(part)) for part in ("name", "version")).strip() or "not named"
    yield "Transport", seen.transport
    yield "Protocol version", seen.protocol_version or "not named"
    yield "Era", f"{seen.era}, {'server/discover' if seen.era == 'modern' else 'initialize'}"
    yield "Sandbox", seen.sandbox or "not needed, reached over the network"
    yield "Capabilities", ", ".join(sorted(seen.capabilities)) or "none declared"


def _list(name: str, seen: ItemList, raw_limit: int) -> ListView:
    items = seen.items
    return ListView(
        key=name,
        name=LIST_NAMES[name],
        declared=seen.declared,
        end=END_WORDS[seen.end],
        whole=seen.end in {End.COMPLETE, End.NOT_ASKED},
        error="" if seen.error is None else word(seen.error),
        pages=len(seen.pages),
        count=len(items),
        items=tuple(_item(name, item, raw_limit) for item in items[:MAX_ITEMS]),
    )


def _item(list_name: str, item: Item, raw_limit: int) -> ItemView:
    parameters = tuple(_parameters(item))
    hints = item.get("annotations")
    return ItemView(
        anchor=f"{list_name}-{item.index + 1}",
        name=item.name or "without a name",
        title=item.text("title"),
        description=Prose(item.description),
        uri=item.text("uri") or item.text("uriTemplate"),
        hints=tuple((name, word(value)) for name, value in hints.items()) if isinstance(hints, Mapping) else (),
        parameters=parameters[:MAX_PARAMETERS],
        more_parameters=max(0, len(parameters) - MAX_PARAMETERS),
        raw=raw(item.raw, raw_limit),
    )


def _parameters(item: Item) -> Iterator[Parameter]:
    schema = item.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(schema, Mapping) or not isinstance(properties, Mapping):
        return
    needed = schema.get("required")
    required = [name for name in needed if isinstance(name, str)] if isinstance(needed, list) else []
    for name, value in properties.items():
        part = value if isinstance(value, Mapping) else {}
        yield Parameter(name, word(part.get("type", "any")), name in required, word(part.get("description", "")))


def _entry_facts(ref: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    entry = ref.get("entry")
    document = entry.get("server", entry) if isinstance(entry, Mapping) else {}
    members = document if isinstance(document, Mapping) else {}
    yield "Registry", word(ref.get("registry"))
    yield "Name", word(ref.get("name"))
    yield "Version", word(ref.get("version"))
    yield "Status", word(ref.get("status"))
    for label, member in (("Title", "title"), ("Description", "description"), ("Website", "websiteUrl")):
        if members.get(member):
            yield label, word(members[member])
    repository = members.get("repository")
    if isinstance(repository, Mapping) and repository.get("url"):
        yield "Repository", word(repository["url"])


def _flat(value: Json, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for name, member in sorted(value.items()):
            yield from _flat(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and any(isinstance(member, (Mapping, list)) for member in value):
        for position, member in enumerate(value, start=1):
            yield from _flat(member, f"{path}[{position}]")
    elif path:
        yield path, word(value)
