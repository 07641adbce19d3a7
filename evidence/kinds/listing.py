"""Kind `listing`: the description of a server and its four lists, as received.

Body, schema 1 (UTF-8 JSON; every `RESULT` and `ERROR` is spliced in byte for byte as the server sent it):

    {"target": {"type": TARGET_TYPE, "identifier": STRING, "version": STRING | null},
     "transport": "streamable-http" | "sse" | "stdio", "era": "legacy" | "modern", "protocolVersion": STRING | null,
     "sandbox": STRING,            its runtime: one of CONTAINING, "" for a remote, or "none" or another uncontained one
     "installed": {"version": STRING, "declared": STRING, "dependenciesOf": DATE},   only if not as declared, see below
     "opening": RESULT,            of `initialize` (legacy) or `server/discover` (modern)
     "lists": {"tools" | "resources" | "resourceTemplates" | "prompts":
         {"declared": BOOL, "end": END, "error": ERROR | STRING | null, "pages": [RESULT, ...]}}}

`installed` is there for a package that does not start as it is declared: `declared` is the version that the index no
longer has, in whose place `version` was started; `dependenciesOf` is the release date of the package whose dependencies
it was started with, because it fails with those of today.

END is how the walk over the pages ended; see `End`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum
from functools import cached_property
from typing import Final

from msgspec import Struct

from evidence.canonical import Json, parse_json
from evidence.json_members import array_or_empty, object_or_empty, text_or_empty
from evidence.kinds.traits import WORDS, Traits

KIND: Final = "listing"
SCHEMA: Final = 1
TRAITS: Final = Traits(licence=WORDS, conversation=True, one_night=True)

PLACEHOLDERS: Final = "placeholders"
"""Member of the observation: names and kinds of the placeholders, and the inputs that the server named."""

CONTAINING: Final = frozenset({"bubblewrap", "gvisor", "podman", "docker"})
"""The runtimes that give a server neither a network nor a persistent file system."""

LISTS: Final = ("tools", "resources", "resourceTemplates", "prompts")


class End(StrEnum):
    """How the walk over one list's pages ended."""

    COMPLETE = "complete"
    NOT_ASKED = "not_asked"  # the capability is not declared
    ERROR = "error"  # the server answered with a JSON-RPC error
    FAILED = "failed"  # no usable answer: timeout, status, undecodable body
    CAPPED = "capped"  # more pages, items or bytes than the probe reads
    CURSOR_REPEATED = "cursor_repeated"


class Undefined(Enum):
    """JavaScript's `undefined`: the member is missing, which differs from null. Deliberately not a string."""

    UNDEFINED = "undefined"


UNDEFINED: Final = Undefined.UNDEFINED


class Item(Struct, frozen=True, dict=True):
    """One entry of a list, tolerant of every shape. `raw` is the entry as received, not always an object."""

    raw: Json
    index: int

    def get(self, member: str) -> Json | Undefined:
        """A member as received, or UNDEFINED when it is missing or the item is not an object."""
        return self.raw.get(member, UNDEFINED) if isinstance(self.raw, dict) else UNDEFINED

    def text(self, member: str) -> str:
        """A member when it is a string, else the empty string."""
        value = self.raw.get(member) if isinstance(self.raw, dict) else None
        return value if isinstance(value, str) else ""

    @property
    def name(self) -> str:
        return self.text("name")

    @property
    def description(self) -> str:
        return self.text("description")


class ItemList(Struct, frozen=True, dict=True):
    """One of the four lists with its pages and the end of its walk."""

    declared: bool
    end: End
    error: Json
    pages: tuple[tuple[Item, ...], ...]

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(item for page in self.pages for item in page)

    @property
    def first_page(self) -> tuple[Item, ...]:
        """The items of the first page, which is all that some published linters read."""
        return self.pages[0] if self.pages else ()


class Listing(Struct, frozen=True, dict=True):
    """Typed, tolerant view of a listing body."""

    body: Mapping[str, Json]

    @classmethod
    def parse(cls, body: bytes) -> Listing:
        """View a body of the current schema; raise NotJson when it is not JSON."""
        value = parse_json(body)
        return cls(value if isinstance(value, Mapping) else {})

    @property
    def transport(self) -> str:
        """`streamable-http`, `sse` or `stdio`."""
        return text_or_empty(self.body.get("transport"))

    @property
    def era(self) -> str:
        """`legacy` (initialize) or `modern` (server/discover, 2026-07-28 and later)."""
        return text_or_empty(self.body.get("era"))

    @property
    def protocol_version(self) -> str | None:
        version = self.body.get("protocolVersion")
        return version if isinstance(version, str) else None

    @property
    def sandbox(self) -> str:
        """The runtime that contained the server; `none` for an uncontained run; empty for a remote."""
        return text_or_empty(self.body.get("sandbox"))

    @property
    def installed(self) -> Mapping[str, Json]:
        """What was started of a package that does not start as it is declared; else empty."""
        return object_or_empty(self.body.get("installed"))

    @property
    def opening(self) -> Mapping[str, Json]:
        """The result of initialize or server/discover; empty when it was not an object."""
        return object_or_empty(self.body.get("opening"))

    @property
    def capabilities(self) -> Mapping[str, Json]:
        return object_or_empty(self.opening.get("capabilities"))

    @property
    def server_info(self) -> Mapping[str, Json]:
        """`serverInfo`, where the era puts it (2026-07-28: in the result's `_meta`)."""
        meta = object_or_empty(self.opening.get("_meta"))
        return object_or_empty(self.opening.get("serverInfo")) or object_or_empty(
            meta.get("io.modelcontextprotocol/serverInfo")
        )

    @property
    def instructions(self) -> str:
        return text_or_empty(self.opening.get("instructions"))

    def list_of(self, name: str) -> ItemList:
        """One of LISTS; a list that is missing in the body was not requested."""
        return self._lists[name]

    def page(self, name: str, number: int) -> Json | Undefined:
        """One page of a list as received; UNDEFINED when it does not exist."""
        pages = array_or_empty(object_or_empty(object_or_empty(self.body.get("lists")).get(name)).get("pages"))
        return pages[number] if 0 <= number < len(pages) else UNDEFINED

    @property
    def tools(self) -> ItemList:
        return self.list_of("tools")

    @property
    def resources(self) -> ItemList:
        return self.list_of("resources")

    @property
    def resource_templates(self) -> ItemList:
        return self.list_of("resourceTemplates")

    @property
    def prompts(self) -> ItemList:
        return self.list_of("prompts")

    @cached_property
    def _lists(self) -> dict[str, ItemList]:
        lists = object_or_empty(self.body.get("lists"))
        return {name: _item_list(name, object_or_empty(lists.get(name))) for name in LISTS}


def _item_list(name: str, part: Mapping[str, Json]) -> ItemList:
    pages: list[tuple[Item, ...]] = []
    count = 0
    for page in array_or_empty(part.get("pages")):
        raw_items = array_or_empty(object_or_empty(page).get(name))
        pages.append(tuple(Item(raw, count + offset) for offset, raw in enumerate(raw_items)))
        count += len(raw_items)
    return ItemList(
        declared=part.get("declared") is True,
        end=End(text_or_empty(part.get("end")) or End.NOT_ASKED),
        error=part.get("error"),
        pages=tuple(pages),
    )
