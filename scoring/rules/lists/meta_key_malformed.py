"""Rule `meta-key-malformed`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from evidence.canonical import Json
from evidence.kinds.exchanges import Connection, Exchange
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol import list_pages, meta_keys
from scoring.results.outcome import Inapplicable, Severity, Tolerated
from scoring.scopes.base import Scope
from scoring.scopes.conversation import Conversation
from scoring.text import evidence_path

_META: Final = "_meta"
_Part: TypeAlias = tuple[Connection, Scope | Exchange, Mapping[str, Json]]
"""One `_meta`: the connection on which it was received, its place, and its members."""


def _listed(meta: Mapping[str, Any], revision: str = "D") -> Conversation:
    tool = {"name": "add", "inputSchema": {"type": "object"}, _META: meta}
    return build_conversation(legacy_exchange("list-tools", revision=revision, result={"tools": [tool]}))


def _read(*keys: str, revision: str = "D") -> Conversation:
    row: Mapping[str, Json] = {"connection": 0, "uri": "note://welcome", "keys": keys}
    return build_conversation(legacy_exchange("initialize", revision=revision, result={}), read=[row])


@rule(
    "meta-key-malformed",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A key of _meta is not valid",
    remedy="Write each key of `_meta` like `cost` or `com.example/cost`: letters, digits, `-`, `_` and `.`, with "
    "a letter first and a letter or digit last in each part. Do not use a reserved prefix such as "
    "`dev.mcp/`.",
    since="2026.2",
    version=1,
    checks=must("META-04", meta_keys.REVISIONS, "basic#_meta"),
    fix=(
        build_conversation(
            legacy_exchange(
                "list-tools",
                result={"tools": [{"name": "add", "inputSchema": {"type": "object"}, "_meta": {"the cost": 1}}]},
            )
        ),
        build_conversation(
            legacy_exchange(
                "list-tools",
                result={
                    "tools": [{"name": "add", "inputSchema": {"type": "object"}, "_meta": {"com.example/cost": 1}}]
                },
            )
        ),
    ),
    good=[
        _listed({"com.example/cost": 1, "cost": 1, "com.example.my-tools/": 1, "a.b1/c_d.e-f": 1}),
        _listed({"com.example.mcp/cost": 1, "io.modelcontextprotocol/related-task": {}}),
        _read("com.example/cost", "io.modelcontextprotocol/serverInfo"),
        build_conversation(
            modern_exchange("discover", result={_META: {"io.modelcontextprotocol/serverInfo": {"name": "notes"}}})
        ),
    ],
    bad=[
        _listed({"_cost": 1}),
        _listed({"cost-": 1}),
        _listed({"1st/cost": 1}),
        _listed({"com.example-/cost": 1}),
        _listed({"com/example/cost": 1}),
        _listed({"the cost": 1}),
        _listed({"dev.mcp/cost": 1}),
        _listed({"tools.mcp.com/cost": 1}, "C"),
        build_conversation(legacy_exchange("ping", result={_META: {"$cost": 1}})),
        build_conversation(modern_exchange("list-prompts", result={"prompts": [{"name": "a", _META: {"/a": 1}}]})),
        _read("cost", "@cost"),
    ],
    unjudged=[
        _listed({}),
        _listed({"_cost": 1}, "B"),
        _read("@cost", revision="B"),
        build_conversation(legacy_exchange("ping", result={_META: []})),
        build_conversation(legacy_exchange("ping", error={"code": -32603, "message": "no"})),
    ],
)
def meta_key_malformed(conversation: Conversation) -> Iterator[Answer]:
    """A key of `_meta` is a name, or a prefix of labels with dots, a slash and a name, such as `com.example/cost`.

    A name begins and ends with a letter or a digit. Without the grammar keys of different vendors collide, and a client
    may refuse the result. Prefixes whose second label is `modelcontextprotocol` or `mcp` are reserved; one that is not
    of the specification is tolerated, because later extensions may define it.
    """
    found = [part for exchange in conversation.exchanges for part in _list_meta(exchange)]
    found += _list_read_meta(conversation)
    if not found:
        raise Inapplicable("no key of _meta was sent")
    known = set[str]()
    for connection, place, meta in found:
        for key in meta_keys.list_malformed_keys(meta):
            if key not in known:
                yield place, f'"{key}" is not a valid key of _meta'
            known.add(key)
        for key in meta_keys.list_reserved_keys(meta, connection.revision):
            if key not in known:
                yield Tolerated(f'"{key}" has a reserved prefix', place)
            known.add(key)


def _list_meta(exchange: Exchange) -> Iterator[_Part]:
    """Every `_meta` with keys in a result and in the entries of a list."""
    own = exchange.fields.get(_META)
    if isinstance(own, Mapping) and own:
        yield exchange.connection, exchange, own
    if exchange.step in list_pages.LIST_STEPS:
        for place, entry in list_pages.list_entry_places(exchange, list_pages.list_member(exchange)):
            meta = entry.get(_META) if isinstance(entry, Mapping) else None
            if isinstance(meta, Mapping) and meta:
                yield exchange.connection, place, meta


def _list_read_meta(conversation: Conversation) -> Iterator[_Part]:
    """The `_meta` of each resource that was read; only its keys are recorded."""
    read = conversation.read_results
    segments = evidence_path.name_segments([one.uri for one in read])
    for index, (one, segment) in enumerate(zip(read, segments, strict=True)):
        position = (len(conversation.recorded.exchanges), index)
        place = Scope(at=evidence_path.join_segments(one.at, segment), position=position)
        yield one.connection, place, dict.fromkeys(one.keys)
