"""The snippet of a rule: made from the two examples of its fix, unless the declaration has the text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from evidence.kinds.exchanges import Exchange
from evidence.kinds.listing import Listing
from scoring.compact_json import format_alike, format_compact
from scoring.engine.rule import Rule
from scoring.engine.snippet import Language, Snippet
from scoring.scopes import base
from scoring.scopes.conversation import Conversation

_ANSWER: Final = "Answer of the server"
_TOOL: Final = "Tool in `tools/list`"
_REASONS: Final[Mapping[int, str]] = {
    200: "OK",
    202: "Accepted",
    301: "Moved Permanently",
    307: "Temporary Redirect",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    500: "Internal Server Error",
}
_JSON_TYPE: Final = {"content-type": "application/json"}


def make_snippet(rule: Rule) -> Snippet | None:
    """What to edit for a finding of the rule, before and after; None if no text shows it."""
    if rule.fix is None or isinstance(rule.fix, Snippet):
        return rule.fix
    bad, good = rule.fix
    if isinstance(bad, Conversation) and isinstance(good, Conversation):
        return _make_answer_snippet(bad, good)
    where, read = _FORMS[rule.scope]
    before, after = format_alike(read(bad), read(good))
    return Snippet(language=Language.JSON, where=where, before=before, after=after)


def _make_answer_snippet(bad: Conversation, good: Conversation) -> Snippet:
    """The one answer in which the conversations differ, with status and headers where these matter."""
    pair = _find_difference(bad, good)
    if all(map(_is_plain, pair)):
        before, after = format_alike(*map(_read_body, pair))
        return Snippet(language=Language.JSON, where=_ANSWER, before=before, after=after)
    before, after = map(_write_http, pair)
    return Snippet(language=Language.HTTP, where=_ANSWER, before=before, after=after)


def _find_difference(bad: Conversation, good: Conversation) -> tuple[Exchange, Exchange]:
    pairs = zip(bad.recorded.exchanges, good.recorded.exchanges, strict=True)
    (pair,) = ((before, after) for before, after in pairs if before != after)
    return pair


def _is_plain(exchange: Exchange) -> bool:
    """Whether the messages say all: no other status than 200, and no special headers."""
    return exchange.status in {None, 200} and bool(exchange.received) and dict(exchange.headers) in ({}, _JSON_TYPE)


def _read_body(exchange: Exchange) -> Any:
    messages = [dict(message.members) for message in exchange.received]
    return messages if exchange.batch else _unwrap(messages)


def _write_body(exchange: Exchange) -> str:
    if exchange.form == "stream":
        events = (json.dumps(dict(message.members), separators=(",", ":")) for message in exchange.received)
        return "\n\n".join(f"data: {event}" for event in events)
    return format_compact(_read_body(exchange))


def _write_http(exchange: Exchange) -> str:
    status = exchange.status or 0
    shown = {name: value for name, value in exchange.headers.items() if name != "content-type" or exchange.received}
    head = [f"HTTP/1.1 {status} {_REASONS[status]}", *(f"{name.title()}: {value}" for name, value in shown.items())]
    return "\n".join([*head, *(["", _write_body(exchange)] if exchange.received else [])])


def _list_tools(listing: Listing) -> Any:
    return _unwrap([item.raw for item in listing.list_of("tools").items])


def _unwrap(things: list[Any]) -> Any:
    return things[0] if len(things) == 1 else things


_FORMS: Final[Mapping[type[base.Scope], tuple[str, Callable[[Any], Any]]]] = {
    base.Tool: (_TOOL, lambda tool: tool.item.raw),
    base.Param: ("`properties` of the tool's `inputSchema`", lambda param: {param.name: param.raw}),
    base.Resource: ("Resource in `resources/list`", lambda resource: resource.item.raw),
    base.ListedResource: ("Resource in `resources/list`", lambda resource: resource.item.raw),
    base.Prompt: ("Prompt in `prompts/list`", lambda prompt: prompt.item.raw),
    base.PromptArg: ("Argument of the prompt in `prompts/list`", lambda argument: argument.item.raw),
    base.Toolset: (_TOOL, lambda toolset: _unwrap([tool.item.raw for tool in toolset.tools])),
    base.Said: (_TOOL, lambda said: _list_tools(said.listing)),
    base.Server: ("Result of `initialize`", lambda server: server.listing.body["opening"]),
    base.Registered: ("`server.json`", lambda registered: registered.registration.refs[0]["entry"]),
    base.Package: ("Package in `server.json`", lambda package: dict(package.raw)),
    base.Remote: ("Remote in `server.json`", lambda remote: dict(remote.raw)),
    base.Setting: ("Environment variable or header in `server.json`", lambda setting: dict(setting.raw)),
}
"""What the example of a scope is, and its JSON."""
