"""The basic scopes: one tool, one parameter, one registry entry, as tolerant views of the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Final

from msgspec import Struct

from evidence import authority
from evidence.authority import Authority
from evidence.canonical import Json
from evidence.derive.listing_scan import scan_listing_cached
from evidence.derive.poisoning import Hit
from evidence.kinds import listing, registration
from evidence.kinds.listing import UNDEFINED, Item, Listing, Undefined
from evidence.kinds.registration import Registration
from scoring.json_schema import dialects, parameter_schemas
from scoring.json_schema.parameter_schemas import ValueSchema
from scoring.text import javascript, words


class Scope(Struct, frozen=True, kw_only=True, dict=True):
    """One thing in the evidence. `at` is its path, `position` its order in the evidence."""

    reads: ClassVar[str]
    at: str = ""
    position: tuple[int, ...] = ()


class ListEntry(Scope, frozen=True, kw_only=True, dict=True):
    """An entry of one of the lists, in any shape that the server sent."""

    reads: ClassVar[str] = listing.KIND
    item: Item

    def get(self, member: str) -> Json | Undefined:
        """A member as sent, or UNDEFINED."""
        return self.item.get(member)

    @cached_property
    def name(self) -> str:
        """The name as sent, or the empty string when there is no string name."""
        return self.item.name

    @cached_property
    def description(self) -> str:
        """The description, trimmed as JavaScript trims; empty when there is no string description."""
        return javascript.trim_whitespace(self.item.description)

    @cached_property
    def words(self) -> frozenset[str]:
        return words.split_words(self.item.description)


_ELSEWHERE: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "patternProperties"})
"""Members by which an input schema names its parameters in another place."""


class Tool(ListEntry, frozen=True, kw_only=True, dict=True):
    """One tool."""

    @cached_property
    def input_schema(self) -> Json | Undefined:
        return self.get("inputSchema")

    @cached_property
    def schema(self) -> Mapping[str, Json]:
        """`inputSchema` when it is an object, else an empty object."""
        return self.input_schema if isinstance(self.input_schema, dict) else {}

    @cached_property
    def properties(self) -> Mapping[str, Json]:
        """Top-level properties of the input schema, including null properties."""
        return javascript.object_entries(self.schema.get("properties"))

    @cached_property
    def places(self) -> Mapping[str, tuple[ValueSchema, ...]]:
        """The value schemas of each parameter that is an object schema."""
        return parameter_schemas.list_value_schemas(self.schema, self.properties)

    @cached_property
    def schemas(self) -> Mapping[str, Mapping[str, Json]]:
        """`inputSchema` and `outputSchema`, those of them that are objects."""
        members = ((name, self.get(name)) for name in ("inputSchema", "outputSchema"))
        return {name: schema for name, schema in members if isinstance(schema, dict)}

    @cached_property
    def schema_errors(self) -> Mapping[str, str | None]:
        """What is wrong with each of the schemas under its dialect."""
        return {name: dialects.find_schema_error(schema) for name, schema in self.schemas.items()}

    @cached_property
    def leaves_parameters_open(self) -> bool:
        """Whether the input schema neither names parameters, nor names another place for them, nor excludes any."""
        schema = self.schema
        named = javascript.is_object(schema.get("properties")) or schema.get("additionalProperties") is False
        return not named and _ELSEWHERE.isdisjoint(schema)

    @cached_property
    def actions(self) -> tuple[Authority, ...]:
        """The classes of the actions that the tool offers."""
        return authority.classify_actions(self.item.raw)

    @cached_property
    def annotations(self) -> Mapping[str, Json]:
        """`annotations` when it is an object, else an empty object."""
        value = self.get("annotations")
        return value if isinstance(value, dict) else {}


class Param(Scope, frozen=True, kw_only=True, dict=True):
    """One top-level property of a tool's input schema. Null properties are not walked: they hold no schema."""

    reads: ClassVar[str] = listing.KIND
    tool: Tool
    name: str
    raw: Json

    def get(self, keyword: str) -> Json | Undefined:
        """A keyword of the parameter's schema, or UNDEFINED."""
        return self.raw.get(keyword, UNDEFINED) if isinstance(self.raw, dict) else UNDEFINED

    @cached_property
    def description(self) -> str:
        """The description, trimmed as JavaScript trims; empty when there is no string description."""
        value = self.get("description")
        return javascript.trim_whitespace(value) if isinstance(value, str) else ""

    @cached_property
    def words(self) -> frozenset[str]:
        return words.split_words(self.description)

    @cached_property
    def name_words(self) -> frozenset[str]:
        """The words of the name; `user_id` and `userId` are one word each."""
        return words.split_words(self.name)

    @cached_property
    def top(self) -> tuple[ValueSchema, ...]:
        """The parameter itself as its only value schema, with its type when it is a single type."""
        kind = self.get("type")
        schema = self.raw if isinstance(self.raw, dict) else {}
        return (ValueSchema(self.name, schema, frozenset([kind]) if isinstance(kind, str) else frozenset()),)

    @cached_property
    def places(self) -> tuple[ValueSchema, ...]:
        """The parameter and all schemas nested in it: branches of unions, properties, items, local references."""
        return self.tool.places.get(self.name, self.top)


class ListedResource(ListEntry, frozen=True, kw_only=True, dict=True):
    """One resource or resource template."""


class Resource(ListedResource, frozen=True, kw_only=True, dict=True):
    """One resource."""


class Prompt(ListEntry, frozen=True, kw_only=True, dict=True):
    """One prompt."""


class PromptArg(ListEntry, frozen=True, kw_only=True, dict=True):
    """One argument of a prompt."""


class Toolset(Scope, frozen=True, kw_only=True, dict=True):
    """All tools of one server together, for questions across tools."""

    reads: ClassVar[str] = listing.KIND
    tools: tuple[Tool, ...] = ()

    @cached_property
    def judged(self) -> tuple[tuple[Tool, Authority], ...]:
        """Every tool with its authority."""
        found = authority.classify_tools([tool.item.raw for tool in self.tools])
        return tuple((tool, each.authority) for tool, each in zip(self.tools, found, strict=True))


class Said(Scope, frozen=True, kw_only=True, dict=True):
    """All texts of a server that a model may read."""

    reads: ClassVar[str] = listing.KIND
    listing: Listing

    @cached_property
    def hits(self) -> tuple[Hit, ...]:
        """The hits of the poisoning patterns."""
        return scan_listing_cached(self.listing)


class Server(Scope, frozen=True, kw_only=True, dict=True):
    """The server's self-description and the number of things that it lists."""

    reads: ClassVar[str] = listing.KIND
    listing: Listing
    tools: int = 0
    resources: int = 0
    prompts: int = 0

    def info(self, member: str) -> str:
        """A member of `serverInfo` when it is a string, else the empty string."""
        value = self.listing.server_info.get(member)
        return value if isinstance(value, str) else ""


class Registered(Scope, frozen=True, kw_only=True, dict=True):
    """All registry entries of one server. `gone` is the host's answer for a repository that does not exist."""

    reads: ClassVar[str] = registration.KIND
    registration: Registration
    gone: str = ""


class RegistryObject(Scope, frozen=True, kw_only=True, dict=True):
    """One object that a registry entry declares."""

    reads: ClassVar[str] = registration.KIND
    raw: Mapping[str, Json]

    def text(self, member: str) -> str:
        """A member when it is a string, trimmed, else the empty string."""
        value = self.raw.get(member)
        return value.strip() if isinstance(value, str) else ""


class Package(RegistryObject, frozen=True, kw_only=True, dict=True):
    """One package of a registry entry."""


class Remote(RegistryObject, frozen=True, kw_only=True, dict=True):
    """One remote of a registry entry."""


class Setting(RegistryObject, frozen=True, kw_only=True, dict=True):
    """One value that a user has to provide: an environment variable of a package or a header of a remote."""
