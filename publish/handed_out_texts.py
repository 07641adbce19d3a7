"""Removes from a public transcript what the server handed out: answers to calls of tools, reads and prompts.

A full probe asks for tools, resources and prompts that do not exist. A server that answers such a question anyway may
hand out content, which is private as in kind `handouts`. What rules judge stays: result or error, `isError`,
`resultType`, the error's code, the types of members. All other bytes of the transcript stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from evidence.canonical import JSON_DECODER, Json, NotJson
from evidence.json_members import array_or_empty, object_or_empty

REMOVED: Final = "[handed out]"
"""Replaces a text that was handed out."""

_METHODS: Final = frozenset({"tools/call", "resources/read", "prompts/get"})
_LISTS: Final = ("content", "contents", "messages")
_WORD: Final = re.compile(r"[a-z][a-z_]{0,31}")
_METHOD: Final = re.compile(r"[a-z]{1,32}(?:/[A-Za-z_]{1,32}){1,3}")
_BLANK: Final = re.compile(r"[ \t\r\n]*")


def remove_handed_out_texts(body: bytes) -> bytes:
    """The body of an exchanges record without these texts; the same bytes if it has none. Raises NotJson."""
    if not any(f'"{method}"'.encode() in body for method in _METHODS):
        return body
    try:
        text = body.decode("utf-8", "surrogatepass")
        found = [(start, end, value) for start, end, value in _exchanges(text) if isinstance(value, Mapping)]
    except (ValueError, IndexError, RecursionError) as error:
        raise NotJson(f"not JSON: {error}") from error
    kept = {row["same_as"] for _, _, value in found if not _hands_out(value) for row in _refer(value)}
    parts, at = [], 0
    for index, (start, end, value) in enumerate(found):
        if index in kept or not _hands_out(value):  # another question had the same answer, so it is nothing of its own
            continue
        if (public := _without_texts(value)) != value:
            parts += [text[at:start], json.dumps(public, ensure_ascii=False, separators=(",", ":"))]
            at = end
    return "".join((*parts, text[at:])).encode("utf-8", "surrogatepass") if parts else body


def has_handed_out_texts(body: bytes) -> bool:
    """Whether texts were removed from the body."""
    return f'"{REMOVED}"'.encode() in body


def _hands_out(exchange: Mapping[str, Any]) -> bool:
    sent = object_or_empty(object_or_empty(exchange.get("sent")).get("message"))
    return sent.get("method") in _METHODS


def _refer(exchange: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    rows = map(object_or_empty, array_or_empty(exchange.get("received")))
    return (row for row in rows if isinstance(row.get("same_as"), int))


def _without_texts(exchange: Mapping[str, Any]) -> dict[str, Any]:
    sent = object_or_empty(object_or_empty(exchange.get("sent")).get("message"))
    over_http = bool(exchange.get("verb"))
    received = [_received(object_or_empty(row), sent, over_http) for row in array_or_empty(exchange.get("received"))]
    return {**exchange, "received": received}


def _received(row: Mapping[str, Json], sent: Mapping[str, Json], over_http: bool) -> dict[str, Any]:
    """A message or text as it is published. A line on standard output that is no message is no answer and stays."""
    if "message" in row:
        return {**row, "message": _message(row["message"], sent)}
    return {**row, "text": _form(row.get("text"))} if over_http else dict(row)


def _message(message: Json, sent: Mapping[str, Json]) -> Any:
    if isinstance(message, list):
        return [_message(one, sent) for one in message]
    if not isinstance(message, Mapping):
        return _form(message)
    public: dict[str, Any] = {}
    for name, value in message.items():
        match name:
            case "jsonrpc":
                public[name] = value if value == "2.0" else _form(value)
            case "id":
                public[name] = _form(value) if isinstance(value, str) and value != sent.get("id") else value
            case "method":
                public[name] = value if isinstance(value, str) and _METHOD.fullmatch(value) else _form(value)
            case "result":
                public[name] = _result(value)
            case "error":
                public[name] = _error(value)
    return public


def _result(result: Json) -> Any:
    if not isinstance(result, Mapping):
        return _form(result)
    public: dict[str, Any] = {}
    if "isError" in result:
        public["isError"] = _form(result["isError"])
    if "resultType" in result:
        public["resultType"] = _word(result["resultType"])
    for name in _LISTS:
        if name in result:
            public[name] = [_item(one) for one in array_or_empty(result[name])] or _form(result[name])
    return public


def _item(item: Json) -> Any:
    if not isinstance(item, Mapping):
        return _form(item)
    return {"type": _word(item["type"])} if "type" in item else {}


def _error(error: Json) -> Any:
    if not isinstance(error, Mapping):
        return _form(error)
    public: dict[str, Any] = {}
    if "code" in error:
        public["code"] = error["code"] if isinstance(error["code"], int) else _form(error["code"])
    if "message" in error:
        public["message"] = _form(error["message"])
    return public


def _word(value: Json) -> Any:
    return value if isinstance(value, str) and _WORD.fullmatch(value) else _form(value)


def _form(value: Json) -> Any:
    """A value of the same type without content."""
    match value:
        case None | bool():
            return value
        case str():
            return REMOVED if value else ""
        case int():
            return 0
        case float():
            return 0.5
        case Mapping():
            return {}
        case _:
            return []


def _exchanges(text: str) -> Iterator[tuple[int, int, Any]]:
    """Start, end and value of each element of the member `exchanges`."""
    at = _skip(text, 0)
    if text[at] != "{":
        raise NotJson("not a JSON object")
    at += 1
    while text[(at := _skip(text, at))] == '"':
        name, at = JSON_DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if name != "exchanges":
            _, at = JSON_DECODER.raw_decode(text, at)
        elif text[at] != "[":
            raise NotJson("exchanges is not an array")
        else:
            at += 1
            while text[(at := _skip(text, at))] != "]":
                value, end = JSON_DECODER.raw_decode(text, at)
                yield at, end, value
                at = _skip(text, end)
                at += text[at] == ","
            at += 1
        at = _skip(text, at)
        at += text[at : at + 1] == ","


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at
