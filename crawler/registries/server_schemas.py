"""The published schemas of server.json as shapes, oldest first, written from their texts.

https://static.modelcontextprotocol.io/schemas/DATE/server.schema.json for the dated ones. `EARLIEST` is the shape of
the registry's first months (`registry_name`, `version_detail`), which has no published schema and is checked loosely.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from crawler.registries.json_shapes import ByType, Flag, Items, Members, Shape, Text, Values
from evidence.canonical import Json
from evidence.compiled_on_use import compile_on_use

EARLIEST: Final = "earliest"
SNAKE_CASE: Final = "2025-07-09"
NEWEST: Final = "2025-12-11"


def _uri(extra: str) -> re.Pattern[str]:
    """The characters that RFC 3986 allows, with square brackets around an IP literal only."""
    rest = rf"(?:[A-Za-z0-9\-._~:/?#@!$&'()*+,;={extra}]|%[0-9A-Fa-f]{{2}})*"
    return re.compile(rf"[A-Za-z][A-Za-z0-9+.\-]*:(?://(?:[^/?#\[\]\s]*@)?\[[0-9A-Fa-f:.]+\](?=[:/?#]|$))?{rest}")


_NAME: Final = Text(
    shortest=3,
    longest=200,
    pattern=compile_on_use(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+"),
    meaning="a name like io.github.user/server",
)
_TEXT: Final = Text()
_URI: Final = Text(pattern=_uri(""), meaning="a URI")
# The schemas up to 2025-10-17 require a URI here and call it a template, so authors wrote templates.
_URI_TEMPLATE: Final = Text(pattern=_uri("{}"), meaning="a URI")
_HTTP_URL: Final = Text(pattern=compile_on_use(r"https?://[^\s\ufeff]+"), meaning="an http or https URL")
_SHA256: Final = Text(pattern=compile_on_use(r"[a-f0-9]{64}"), meaning="64 lower-case hexadecimal digits")
_ANY: Final = Members()
_DATE: Final = compile_on_use(r"/schemas/(\d{4}-\d\d-\d\d)/server\.schema\.json")

_OFFICIAL_META: Final = "io.modelcontextprotocol.registry/official"
_PUBLISHER_META: Final = "io.modelcontextprotocol.registry/publisher-provided"


def choose_schema(document: Mapping[str, Json]) -> tuple[str, Shape]:
    """The schema that `$schema` names, or the one that the members indicate when it names no known schema."""
    claimed = document.get("$schema")
    dated = _DATE.search(claimed[:200]) if isinstance(claimed, str) else None
    if dated and dated[1] in SCHEMAS:
        return dated[1], SCHEMAS[dated[1]]
    version = _detect(document)
    return version, SCHEMAS[version]


def _detect(document: Mapping[str, Json]) -> str:
    if "version_detail" in document or _has(document, "packages", "registry_name"):
        return EARLIEST
    if "website_url" in document or _has(document, "packages", "registry_type"):
        return SNAKE_CASE
    if _has(document, "remotes", "transport_type"):
        return EARLIEST
    return NEWEST


def _has(document: Mapping[str, Json], group: str, member: str) -> bool:
    items = document.get(group)
    return isinstance(items, list) and any(isinstance(item, Mapping) and member in item for item in items)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def _member_names(snake: bool) -> dict[str, str]:
    names = ("is_required", "is_secret", "is_repeated", "value_hint", "website_url")
    return {name: name if snake else _camel(name) for name in names}


def _build(version: str) -> Members:
    """The shape of a dated schema; the conditions are the differences between the schemas."""
    snake = version == SNAKE_CASE
    names = _member_names(snake)
    since_october = version >= "2025-10-11"
    known: dict[str, Shape] = {
        "$schema": _URI,
        "name": _NAME,
        "description": Text(shortest=1, longest=100),
        "version": Text(longest=255),
        names["website_url"]: _URI,
        "repository": Members(
            known={"url": _URI, "source": _TEXT, "id": _TEXT, "subfolder": _TEXT}, required=("url", "source")
        ),
        "packages": Items(_package(version, names)),
        "remotes": Items(_transports(version, names, remote=True)),
        "_meta": Members(known={_PUBLISHER_META: _ANY} | ({_OFFICIAL_META: _ANY} if version < "2025-09-29" else {})),
    }
    if version < "2025-09-29":
        known["status"] = Text(choices=("active", "deprecated", "deleted"))
    if since_october:
        known |= {"title": Text(shortest=1, longest=100), "icons": Items(_icon())}
    return Members(known=known, required=("name", "description", "version"))


def _package(version: str, names: Mapping[str, str]) -> Members:
    argument = _argument(version, names)
    newest = version >= NEWEST
    known: dict[str, Shape] = {
        "registry_type": _TEXT,
        "registry_base_url": _URI,
        "identifier": _TEXT,
        "version": Text(shortest=1, longest=255 if newest else None, refused=("latest",), meaning="one version"),
        "file_sha256": _SHA256,
        "runtime_hint": _TEXT,
        "transport": _transports(version, names, remote=False),
        "runtime_arguments": Items(argument),
        "package_arguments": Items(argument),
        "environment_variables": Items(_key_value(version, names)),
    }
    required = ["registry_type", "identifier", "transport"]
    if version < "2025-10-11":
        required.append("version")
    if version != SNAKE_CASE:
        known = {_camel(name): shape for name, shape in known.items()}
        required = [_camel(name) for name in required]
    return Members(known=known, required=tuple(required), closed=version < "2025-10-11")


def _transports(version: str, names: Mapping[str, str], *, remote: bool) -> ByType:
    headers: Shape = Items(_key_value(version, names))
    stream = _HTTP_URL if version >= NEWEST else _TEXT
    sse = _HTTP_URL if version >= NEWEST else _URI_TEMPLATE
    extra: dict[str, Shape] = {}
    if remote and version >= NEWEST:
        extra["variables"] = Values(Members(known=_input(version, names)))
    kinds = {
        "streamable-http": Members(known={"url": stream, "headers": headers} | extra, required=("type", "url")),
        "sse": Members(known={"url": sse, "headers": headers} | extra, required=("type", "url")),
    }
    return ByType(kinds if remote else {"stdio": Members(required=("type",))} | kinds)


def _input(version: str, names: Mapping[str, str]) -> dict[str, Shape]:
    known: dict[str, Shape] = {
        "description": _TEXT,
        "value": _TEXT,
        "default": _TEXT,
        "format": Text(choices=("string", "number", "boolean", "filepath")),
        "choices": Items(_TEXT),
        names["is_required"]: Flag(),
        names["is_secret"]: Flag(),
    }
    return known | ({"placeholder": _TEXT} if version >= "2025-10-11" else {})


def _with_variables(version: str, names: Mapping[str, str]) -> dict[str, Shape]:
    plain = _input(version, names)
    return plain | {"variables": Values(Members(known=plain))}


def _key_value(version: str, names: Mapping[str, str]) -> Members:
    return Members(known=_with_variables(version, names) | {"name": _TEXT}, required=("name",))


def _argument(version: str, names: Mapping[str, str]) -> ByType:
    known = _with_variables(version, names) | {names["is_repeated"]: Flag()}
    hint = names["value_hint"]
    return ByType(
        {
            "positional": Members(known=known | {hint: _TEXT}, required=("type",), one_of=(hint, "value")),
            "named": Members(known=known | {"name": _TEXT}, required=("type", "name")),
        }
    )


def _icon() -> Members:
    mime = ("image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp")
    size = Text(pattern=re.compile(r"[0-9]+x[0-9]+|any"), meaning="a size like 48x48, or any")
    return Members(
        known={
            "src": Text(longest=255, pattern=_URI.pattern, meaning="a URI"),
            "mimeType": Text(choices=mime),
            "sizes": Items(size),
            "theme": Text(choices=("light", "dark")),
        },
        required=("src",),
    )


def _earliest() -> Members:
    """The common members of the first entries: enough to find a server."""
    package = Members(known={"registry_name": _TEXT, "name": _TEXT, "version": _TEXT}, required=("name",))
    remote = Members(known={"transport_type": _TEXT, "url": _TEXT}, required=("url",))
    return Members(
        known={
            "name": _NAME,
            "description": _TEXT,
            "version_detail": Members(known={"version": _TEXT}),
            "repository": Members(known={"url": _TEXT}),
            "packages": Items(package),
            "remotes": Items(remote),
        },
        required=("name",),
    )


_DATED: Final = (SNAKE_CASE, "2025-09-16", "2025-09-29", "2025-10-11", "2025-10-17", NEWEST)

SCHEMAS: Final[Mapping[str, Shape]] = {EARLIEST: _earliest()} | {version: _build(version) for version in _DATED}
