"""JSON-RPC 2.0 messages. Results and errors are kept as the received bytes and never serialised again."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson
from msgspec import Struct

from crawler.http.failures import Malformed, TooLarge
from evidence.canonical import JSON_DECODER, MAX_BYTES, MAX_DEPTH, Json, NotJson, NumberTooLong, check_bounds

# A result is inserted into a listing body, whose depth must stay within that of the evidence reader.
MAX_MESSAGE_DEPTH: Final = MAX_DEPTH - 16

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_PLAIN_NAME: Final = re.compile(r'[ \t\n\r]*"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*')  # of a member, without escapes
_DELIMITER: Final = re.compile(r"[ \t\n\r]*([,}])")
_BEGIN: Final = re.compile(rb'\{"jsonrpc":"2\.0","id":(0|[1-9][0-9]{0,8}),"result":')
_RESULT: Final = b'{"result":'
_ENDING: Final = re.compile(rb',"jsonrpc":"2\.0","id":(0|[1-9][0-9]{0,8})\}\Z')
_LONGEST_ENDING: Final = 40
_WHITE: Final = frozenset((b"", b" ", b"\t", b"\n", b"\r"))
_ZEROS: Final = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER: Final = b"0" * 19
_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))


class RpcAnswer(Struct, frozen=True):
    """A response. `span`: the bytes of its result or error; `value`: the same, parsed; `odd_id`: the id differs."""

    span: bytes
    value: Json
    is_error: bool
    odd_id: bool = False

    @property
    def code(self) -> int | None:
        """The error code; None for a result, or an error without an integer code."""
        code = self.value.get("code") if self.is_error and isinstance(self.value, Mapping) else None
        return code if isinstance(code, int) and not isinstance(code, bool) else None

    @property
    def message(self) -> str:
        """The error message, or the empty string."""
        message = self.value.get("message") if self.is_error and isinstance(self.value, Mapping) else None
        return message if isinstance(message, str) else ""


class RpcMessage(Struct, frozen=True):
    """One JSON-RPC message. `answer` is set for a response, `method` for a request or notification.

    `before` and `after` are the bytes around the result; without a result, `before` has all bytes.
    """

    id: Json
    method: str | None
    answer: RpcAnswer | None
    before: bytes = b""
    after: bytes = b""


def encode_request(number: int, method: str, params: Mapping[str, Json] | None = None) -> bytes:
    """Encode a request. `params` is always sent as an object, since some servers refuse requests without it."""
    return _encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})


def encode_notification(method: str) -> bytes:
    """Encode a notification without parameters."""
    return _encode({"jsonrpc": "2.0", "method": method})


def encode_response(number: Json, *, result: Json = None, error: Json = None) -> bytes:
    """Encode a response to a request of the server."""
    return _encode({"jsonrpc": "2.0", "id": number} | ({"error": error} if error else {"result": result or {}}))


def read_messages(data: bytes) -> list[RpcMessage]:
    """The messages of a JSON text, which may be a batch.

    Raises TooLarge for a text beyond the limits and Malformed for one that is not JSON. Invalid UTF-8 is replaced, as
    in browsers, since one invalid byte in a description must not discard a list.
    """
    try:
        check_bounds(data, max_depth=MAX_MESSAGE_DEPTH, max_bytes=MAX_BYTES)
    except NotJson as error:
        raise TooLarge("the JSON is larger or more deeply nested than the probe reads") from error
    if (usual := _read_usual_response(data)) is not None:
        return [usual]
    try:
        return list(_read_top(decode_text(data)))
    except NumberTooLong as error:
        raise TooLarge(f"the JSON holds {error}") from error
    except (ValueError, RecursionError) as error:
        raise Malformed("the body is not JSON") from error


def decode_text(data: bytes) -> str:
    """Decode UTF-8 without its byte order mark; invalid bytes become U+FFFD."""
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def is_batch(data: bytes) -> bool:
    """True if a JSON text is an array."""
    return data.removeprefix(codecs.BOM_UTF8).lstrip(b" \t\r\n").startswith(b"[")


def pick_answer(messages: Iterable[RpcMessage], number: int, *, spent: int = 0) -> RpcAnswer | None:
    """The response to request `number`, also if its id is spelled differently.

    Only one request is open at a time, so a response with an unknown id is assigned to it. Ids up to `spent` belong to
    earlier requests, whose responses may be late.
    """
    late = {str(earlier) for earlier in range(1, spent + 1)} if spent else ()
    for message in messages:
        if message.answer is None:
            continue
        if message.id == number and not isinstance(message.id, bool):
            return message.answer
        if str(message.id) not in late or message.id == str(number):
            answer = message.answer
            return RpcAnswer(answer.span, answer.value, answer.is_error, odd_id=True)
    return None


def _encode(message: Mapping[str, Json]) -> bytes:
    """The JSON text of a message, in ASCII."""
    try:
        encoded = orjson.dumps(message)
    except TypeError:  # a lone surrogate or a large integer from the server
        return _ENCODER.encode(message).encode()
    return encoded if encoded.isascii() else _ENCODER.encode(message).encode()


_scan: Final = JSON_DECODER.raw_decode


def _read_usual_response(data: bytes) -> RpcMessage | None:
    """A result in the layouts that the SDKs write; None for any other text. It costs two thirds of the general way.

    The bytes between a known beginning and a known end are one JSON text, so there is no other way to read them.
    """
    if begin := _BEGIN.match(data):
        start, end, number = begin.end(), len(data) - 1, begin[1]
        after = b"}"
    elif data.startswith(_RESULT) and (ending := _ENDING.search(data, max(0, len(data) - _LONGEST_ENDING))):
        start, end, number = len(_RESULT), ending.start(), ending[1]
        after = ending[0]
    else:
        return None
    span = data[start:end]
    is_usual = data.endswith(b"}") and span[:1] not in _WHITE and span[-1:] not in _WHITE
    if not is_usual or _LONG_NUMBER in span.translate(_ZEROS):  # orjson makes a float of a large integer
        return None
    try:
        value = orjson.loads(span)
    except orjson.JSONDecodeError:
        return None
    return RpcMessage(int(number), None, RpcAnswer(span, value, is_error=False), data[:start], after)


def _read_top(text: str) -> Iterable[RpcMessage]:
    at = _skip(text, 0)
    if text[at : at + 1] != "[":
        message, end = _read_message(text, at)
        _expect_end(text, end)
        return [message]
    found: list[RpcMessage] = []
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]":
        message, at = _read_message(text, at)
        found.append(message)
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            raise ValueError("expected , or ]")
    _expect_end(text, at + 1)
    return found


def _read_message(text: str, at: int) -> tuple[RpcMessage, int]:
    if text[at : at + 1] != "{":
        _, end = _scan(text, at)
        return RpcMessage(None, None, None, text[at:end].encode("utf-8")), end
    members, end = _read_members(text, at)
    method = members.get("method", (None, 0, 0))[0]
    answer = None
    if "method" not in members:
        answer = _answer(text, members)
    number = members.get("id", (None, 0, 0))[0]
    _, cut, resume = members["result"] if answer and not answer.is_error else (None, end, end)
    around = text[at:cut].encode("utf-8"), text[resume:end].encode("utf-8")
    return RpcMessage(number, method if isinstance(method, str) else None, answer, *around), end


def _answer(text: str, members: Mapping[str, tuple[Any, int, int]]) -> RpcAnswer | None:
    """The result, or the error where there is no result or one of null; None without both."""
    result, error = members.get("result"), members.get("error")
    found = error if error and (result is None or result[0] is None) else result
    if found is None:
        return None
    value, start, end = found
    return RpcAnswer(text[start:end].encode("utf-8"), value, found is error)


def _read_members(text: str, at: int) -> tuple[dict[str, tuple[Any, int, int]], int]:
    """Members of the object at `at` as (value, start, end), and its end. The last of duplicate members counts."""
    members: dict[str, tuple[Any, int, int]] = {}
    at = _skip(text, at + 1)
    if text[at : at + 1] == "}":
        return members, at + 1
    while True:
        plain = _PLAIN_NAME.match(text, at)
        name, start = (plain[1], plain.end()) if plain else _read_name(text, at)
        value, end = _scan(text, start)
        members[name] = (value, start, end)
        delimiter = _DELIMITER.match(text, end)
        if delimiter is None:
            raise ValueError("expected , or }")
        at = delimiter.end()
        if delimiter[1] == "}":
            return members, at


def _read_name(text: str, at: int) -> tuple[str, int]:
    """A member name, which may have escapes, and the place of its value."""
    at = _skip(text, at)
    if text[at : at + 1] != '"':
        raise ValueError("expected a member name")
    name, at = _scan(text, at)
    at = _skip(text, at)
    if text[at : at + 1] != ":":
        raise ValueError("expected :")
    return name, _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _expect_end(text: str, at: int) -> None:
    if _skip(text, at) != len(text):
        raise ValueError("more after the JSON text")
