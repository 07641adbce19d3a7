"""Rule `icon-unusable`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from evidence.canonical import Json
from evidence.compiled_on_use import compile_on_use
from evidence.kinds.exchanges import Exchange
from scoring.engine.rule import Answer, info, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol import list_pages
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.base import Scope
from scoring.scopes.conversation import Conversation
from scoring.text.evidence_path import clip_text

_DATA: Final = compile_on_use(
    r"data:(?P<type>image/[a-z0-9.+-]{1,60})(?:;[\w=.-]{1,60}){0,4}?;base64,[A-Za-z0-9+/=_-]{4}", re.IGNORECASE
)
_HTTPS: Final = compile_on_use(r"https://[^\s/?#]+", re.IGNORECASE)
_SIZE: Final = compile_on_use(r"[1-9]\d{0,4}x[1-9]\d{0,4}|any", re.IGNORECASE)
_SERVER: Final = "serverInfo"
_MODERN_SERVER: Final = "io.modelcontextprotocol/serverInfo"


def _tool(**icon: Any) -> Conversation:
    tool = {"name": "add", "inputSchema": {"type": "object"}, "icons": [icon]}
    return build_conversation(legacy_exchange("list-tools", result={"tools": [tool]}))


@rule(
    "icon-unusable",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.SUGGESTION,
    title="An icon cannot be shown",
    remedy="Set `src` of the icon to an `https:` URL or to a Base64 `data:` URI of an image. Set `mimeType` to "
    "the type of this image, such as `image/png`, and each of `sizes` to a value such as `48x48` or "
    "`any`.",
    since="2026.3",
    version=1,
    checks=info("ICON-01", "DE", "basic#icons"),
    fix=(
        build_conversation(
            legacy_exchange(
                "list-tools",
                result={"tools": [{"name": "add", "inputSchema": {"type": "object"}, "icons": [{"src": "/add.png"}]}]},
            )
        ),
        build_conversation(
            legacy_exchange(
                "list-tools",
                result={
                    "tools": [
                        {
                            "name": "add",
                            "inputSchema": {"type": "object"},
                            "icons": [{"src": "https://notes.example/add.png"}],
                        }
                    ]
                },
            )
        ),
    ),
    good=[
        _tool(src="https://notes.example/add.png", mimeType="image/png", sizes=["48x48", "96x96"]),
        _tool(src="data:image/svg+xml;base64,PHN2Zz4=", mimeType="image/svg+xml", sizes=["any"]),
    ],
    bad=[
        _tool(src="http://notes.example/add.png"),
        _tool(src="javascript:alert(1)"),
        _tool(src="/add.png"),
        _tool(src="data:image/png,%89PNG"),
        _tool(src="data:image/png;base64,iVBORw0KGgo=", mimeType="image/svg+xml"),
        _tool(src="https://notes.example/add.png", sizes=["48"]),
        _tool(src="https://notes.example/add.png", mimeType="text/html"),
        build_conversation(
            modern_exchange("discover", result={"_meta": {_MODERN_SERVER: {"icons": [{"src": "file:///add.png"}]}}})
        ),
    ],
    unjudged=[_tool(), build_conversation(legacy_exchange("list-tools", result={"tools": []}))],
)
def icon_unusable(conversation: Conversation) -> Iterator[Answer]:
    """Give each icon an `https:` address, or a `data:` URI with an image in Base64.

    Clients must refuse every other scheme. A size is `48x48` or `any`, and `mimeType` names the image that the data URI
    holds. The requirements are those of clients, so the check is for information only. Icons are never fetched.
    """
    found = [part for exchange in conversation.exchanges for part in _list_icons(exchange)]
    if not found:
        raise Inapplicable("no icon was sent")
    for place, icon in found:
        if complaint := _find_flaw(icon):
            yield place, complaint


def _find_flaw(icon: Mapping[str, Json]) -> str | None:
    src, kind, sizes = str(icon["src"]), icon.get("mimeType"), icon.get("sizes")
    data = _DATA.match(src)
    if not data and not _HTTPS.match(src):
        return f"the icon {clip_text(src, 60)} is neither an https address nor an image in a data URI"
    expected = data["type"].lower() if data else "image/"
    if isinstance(kind, str) and not kind.lower().startswith(expected):
        return f"mimeType of the icon is {clip_text(kind, 40)}, {expected if data else 'an image'} expected"
    for size in sizes if isinstance(sizes, list) else ():
        if isinstance(size, str) and not _SIZE.fullmatch(size):
            return f"the size {clip_text(size, 40)} of the icon is neither WIDTHxHEIGHT nor any"
    return None


def _list_icons(exchange: Exchange) -> Iterator[tuple[Scope | Exchange, Mapping[str, Json]]]:
    """The icons of the server and of every entry of a list."""
    meta = exchange.fields.get("_meta")
    openings = (exchange.fields.get(_SERVER), meta.get(_MODERN_SERVER) if isinstance(meta, Mapping) else None)
    if exchange.step in {"initialize", "discover"}:
        yield from ((exchange, icon) for holder in openings for icon in _icons_of(holder))
    if exchange.step in list_pages.LIST_STEPS:
        for place, entry in list_pages.list_entry_places(exchange, list_pages.list_member(exchange)):
            yield from ((place, icon) for icon in _icons_of(entry))


def _icons_of(holder: Json) -> Iterator[Mapping[str, Json]]:
    icons = holder.get("icons") if isinstance(holder, Mapping) else None
    for icon in icons if isinstance(icons, list) else ():
        if isinstance(icon, Mapping) and isinstance(icon.get("src"), str):
            yield icon
