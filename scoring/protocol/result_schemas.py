"""The shapes that the published schemas of the five revisions give to results, as far as a server answers them unasked.

One row a member: the revisions that define it (letters), its name, with `!` when it is required, and its type:
`string`, `boolean`, `count` (a whole number from 0), `share` (a number from 0 to 1), `integer`, `object`, `schema`
(an object, true or false), `any`, `=a|b` (one of these strings), `[T]` (an array of T), `{T}` (an object whose values
are T), or another shape. `ContentBlock` and `ResourceContents` are one of several shapes.

What is not in a row may be anything. Left out where the schema files are narrower than the text they go with: `format`
(an annotation), properties whose schema is true or false, and null or fractions inside of free-form objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from evidence.canonical import Json
from evidence.kinds.listing import UNDEFINED
from scoring.text import evidence_path

_TEXTS: Final[Mapping[str, str]] = {
    "InitializeResult": """
        ABCD _meta object
        ABCD protocolVersion! string
        ABCD capabilities! ServerCapabilities
        ABCD serverInfo! Implementation
        ABCD instructions string
    """,
    "DiscoverResult": """
        E _meta ResultMeta
        E resultType! string
        E supportedVersions! [string]
        E capabilities! ServerCapabilities
        E instructions string
        E ttlMs! count
        E cacheScope! =private|public
    """,
    "Page": """
        ABCD _meta object
        E _meta ResultMeta
        ABCDE nextCursor string
        E resultType! string
        E ttlMs! count
        E cacheScope! =private|public
    """,
    "ResultMeta": """
        E io.modelcontextprotocol/serverInfo Implementation
    """,
    "ServerCapabilities": """
        ABCDE experimental {object}
        E extensions {object}
        ABCDE logging object
        BCDE completions object
        ABCDE prompts ListCapability
        ABCDE resources ResourcesCapability
        ABCDE tools ListCapability
        D tasks TasksCapability
    """,
    "ListCapability": """
        ABCDE listChanged boolean
    """,
    "ResourcesCapability": """
        ABCDE listChanged boolean
        ABCDE subscribe boolean
    """,
    "TasksCapability": """
        D list object
        D cancel object
        D requests TaskRequests
    """,
    "TaskRequests": """
        D tools TaskTools
    """,
    "TaskTools": """
        D call object
    """,
    "Implementation": """
        ABCDE name! string
        ABCDE version! string
        CDE title string
        DE description string
        DE icons [Icon]
        DE websiteUrl string
    """,
    "Icon": """
        DE src! string
        DE mimeType string
        DE sizes [string]
        DE theme =dark|light
    """,
    "Tool": """
        ABCDE name! string
        CDE title string
        ABCDE description string
        ABCDE inputSchema! InputSchema
        CD outputSchema InputSchema
        E outputSchema OutputSchema
        BCDE annotations ToolAnnotations
        D execution ToolExecution
        DE icons [Icon]
        CDE _meta object
    """,
    "InputSchema": """
        DE $schema string
        ABCDE type! =object
        ABCD properties {schema}
        ABCD required [string]
    """,
    "OutputSchema": """
        E $schema string
    """,
    "ToolAnnotations": """
        BCDE title string
        BCDE readOnlyHint boolean
        BCDE destructiveHint boolean
        BCDE idempotentHint boolean
        BCDE openWorldHint boolean
    """,
    "ToolExecution": """
        D taskSupport =forbidden|optional|required
    """,
    "Resource": """
        ABCDE uri! string
        ABCDE name! string
        CDE title string
        ABCDE description string
        ABCDE mimeType string
        ABCDE size integer
        ABCDE annotations Annotations
        DE icons [Icon]
        CDE _meta object
    """,
    "ResourceTemplate": """
        ABCDE uriTemplate! string
        ABCDE name! string
        CDE title string
        ABCDE description string
        ABCDE mimeType string
        ABCDE annotations Annotations
        DE icons [Icon]
        CDE _meta object
    """,
    "Annotations": """
        ABCDE audience [=assistant|user]
        ABCDE priority share
        CDE lastModified string
    """,
    "Prompt": """
        ABCDE name! string
        CDE title string
        ABCDE description string
        ABCDE arguments [PromptArgument]
        DE icons [Icon]
        CDE _meta object
    """,
    "PromptArgument": """
        ABCDE name! string
        CDE title string
        ABCDE description string
        ABCDE required boolean
    """,
    "CallToolResult": """
        ABCDE _meta object
        ABCDE content! [ContentBlock]
        CD structuredContent object
        ABCDE isError boolean
        E resultType! string
    """,
    "TextContent": """
        ABCDE type! =text
        ABCDE text! string
        ABCDE annotations Annotations
        CDE _meta object
    """,
    "MediaContent": """
        ABCDE type! =image|audio
        ABCDE data! string
        ABCDE mimeType! string
        ABCDE annotations Annotations
        CDE _meta object
    """,
    "EmbeddedResource": """
        ABCDE type! =resource
        ABCDE resource! ResourceContents
        ABCDE annotations Annotations
        CDE _meta object
    """,
    "ResourceLink": """
        CDE type! =resource_link
        CDE uri! string
        CDE name! string
        CDE title string
        CDE description string
        CDE mimeType string
        CDE size integer
        CDE annotations Annotations
        DE icons [Icon]
        CDE _meta object
    """,
    "TextResource": """
        ABCDE uri! string
        ABCDE mimeType string
        ABCDE text! string
        CDE _meta object
    """,
    "BlobResource": """
        ABCDE uri! string
        ABCDE mimeType string
        ABCDE blob! string
        CDE _meta object
    """,
}

_BLOCKS: Final[Mapping[str, tuple[str, str]]] = {
    "text": ("ABCDE", "TextContent"),
    "image": ("ABCDE", "MediaContent"),
    "audio": ("BCDE", "MediaContent"),
    "resource": ("ABCDE", "EmbeddedResource"),
    "resource_link": ("CDE", "ResourceLink"),
}
"""Shapes of the content blocks by their type, with the revisions that define them."""


class MemberRow(Struct, frozen=True):
    """One member of a shape."""

    revisions: str
    name: str
    required: bool
    kind: str


def _rows(text: str) -> tuple[MemberRow, ...]:
    cells = (line.split() for line in text.strip().splitlines())
    return tuple(MemberRow(letters, name.rstrip("!"), name.endswith("!"), kind) for letters, name, kind in cells)


SHAPES: Final[Mapping[str, tuple[MemberRow, ...]]] = {name: _rows(text) for name, text in _TEXTS.items()}

SchemaPlace: TypeAlias = "str | tuple[SchemaPlace, str]"
"""Where a value stands: a path, or the place around it and its name, so that a path is only written for a complaint."""


def find_mismatch(shape: str, value: Json, revision: str, *, at: str = "") -> str | None:
    """The first mismatch of a value with a shape under a revision (letter), such as `icons/0 is missing`; or None."""
    return next(_complaints(shape, value, revision, at), None)


def _complaints(kind: str, value: Json, revision: str, at: SchemaPlace) -> Iterator[str]:
    if kind == "ContentBlock":
        yield from _block(value, revision, at)
    elif kind == "ResourceContents":
        has_blob = isinstance(value, Mapping) and "blob" in value and "text" not in value
        yield from _complaints("BlobResource" if has_blob else "TextResource", value, revision, at)
    elif kind in SHAPES:
        yield from _members(SHAPES[kind], value, revision, at)
    elif kind[0] == "[" and isinstance(value, list):
        for index, part in enumerate(value):
            yield from _complaints(kind[1:-1], part, revision, (at, str(index)))
    elif kind[0] == "{" and isinstance(value, Mapping):
        for name, part in value.items():
            yield from _complaints(kind[1:-1], part, revision, (at, name))
    elif not has_type(kind, value):
        yield f"{_path(at) or 'the value'} is {_named(value)}, {_expected(kind)} expected"


def _block(value: Json, revision: str, at: SchemaPlace) -> Iterator[str]:
    named = value.get("type") if isinstance(value, Mapping) else None
    revisions, shape = _BLOCKS.get(named, ("", "")) if isinstance(named, str) else ("", "")
    if isinstance(named, str) and revision not in revisions:
        yield f"{_path((at, 'type'))} is {_named(named)}, a type of content expected"
    else:
        yield from _complaints(shape or "TextContent", value, revision, at)


def _members(rows: tuple[MemberRow, ...], value: Json, revision: str, at: SchemaPlace) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{_path(at) or 'the value'} is {_named(value)}, an object expected"
        return
    for row in rows:
        if revision not in row.revisions:
            continue
        part = value.get(row.name, UNDEFINED)
        if part is not UNDEFINED:
            yield from _complaints(row.kind, part, revision, (at, row.name))
        elif row.required:
            yield f"{_path((at, row.name))} is missing"


def _path(place: SchemaPlace) -> str:
    if isinstance(place, str):
        return place
    around, name = place
    return evidence_path.join_segments(_path(around), evidence_path.clip_text(evidence_path.escape_segment(name)))


def has_type(kind: str, value: Json) -> bool:  # noqa: PLR0911 - one return a kind
    """Whether a value has a primitive type (not a shape, array or map)."""
    if kind[0] == "=":
        return isinstance(value, str) and value in kind[1:].split("|")
    match kind:
        case "any":
            return True
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "object":
            return isinstance(value, Mapping)
        case "schema":
            return isinstance(value, Mapping | bool)
        case "share":
            return _is_number(value) and 0 <= value <= 1  # type: ignore[operator]
        case "count":
            return is_integer(value) and value >= 0  # type: ignore[operator]
        case "integer":
            return is_integer(value)
    return False


def is_integer(value: Json) -> bool:
    """Whether a value is a JSON integer: 3 and 3.0, not true."""
    return _is_number(value) and (isinstance(value, int) or float(value).is_integer())  # type: ignore[arg-type]


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_EXPECTED: Final[Mapping[str, str]] = {
    "[": "an array",
    "{": "an object",
    "string": "a string",
    "boolean": "a boolean",
    "object": "an object",
    "schema": "a schema",
    "share": "a number from 0 to 1",
    "count": "an integer of at least 0",
    "integer": "an integer",
}


def _expected(kind: str) -> str:
    words = kind[1:].replace("|", " or ") if kind[0] == "=" else ""
    return words or _EXPECTED.get(kind, _EXPECTED.get(kind[0], kind))


def _named(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return f"the number {evidence_path.clip_text(str(value), 24)}" if abs(value) < 10**20 else "a large number"
        case str():
            return f'"{evidence_path.clip_text(value, 40)}"'
        case list():
            return "an array"
    return "an object"
