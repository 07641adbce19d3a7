"""Kind `exchanges`: the transcript of all questions to a server and its answers.

Body, schema 1 (UTF-8 JSON; a MESSAGE is spliced in byte for byte as the server sent it, except its long results):

    {"target": {"type": TARGET_TYPE, "identifier": STRING, "version": STRING | null},
     "depth": "core" | "full",
     "connections": [{"transport": "streamable-http" | "sse" | "stdio", "era": "legacy" | "modern",
                      "opened": BOOL, "offered": STRING | null, "negotiated": STRING | null,
                      "session": {"length": INT, "visible": BOOL, "same_as": INT | null} | null}, ...],
     "exchanges": [{"step": STRING, "page": INT, "connection": INT, "verb": "POST" | "GET" | "DELETE" | "",
                    "sent": {"headers": {NAME: VALUE}, "message": MESSAGE | null, "text": STRING | null},
                    "status": INT | null, "headers": {NAME: VALUE},
                    "form": "json" | "stream" | "lines" | "other" | "none", "utf8": BOOL, "batch": BOOL,
                    "ended": BOOL | null, "received": [RECEIVED, ...],
                    "failure": {"reason": REASON, "detail": STRING} | null}, ...],
     "read": [{"connection": INT, "uri": STRING, "keys": [STRING, ...]}, ...]}

    RECEIVED: {"message": MESSAGE, "event": STRING, "id": BOOL}   one JSON-RPC message
            | {"text": STRING, "event": STRING, "id": BOOL}       anything else: its first 200 characters, masked, and
                                                                  each number as 0, since most are times or ids
    `event` and `id` are there only on a stream; `"reveals": STRING` when an error held a credential, now masked.
    A message without its result states where it is: {"listed": [LIST, PAGE]} in the `listing` record of the same
    dossier, {"same_as": INT} in that exchange's answer, {"too_large": INT} bytes nowhere.

`step` names the question (`crawler.collectors.protocol.questions.inquiries`); `redirected` is a redirect to another
address of the same origin, where the question was asked again. Of a question that was repeated after a transient
failure, only the last answer is included. Request ids are the same in every run; names and tokens that cannot exist are
random on the wire and fixed here; session ids, dates and timings are in the record's observation. A session id is
written as `session N`, by its connection, or as `another session`. `headers` holds those that rules use; our
`x-endpoint` is the endpoint of an HTTP+SSE stream: `same-origin`, `other-origin` or `none`. In `sent` an
`authorization` is only `configured`. `ended`: whether a stream ended, or a process exited, in time after its last
answer; null: not observed. `read` (optional): keys of `_meta` in results of `resources/read` and their `contents`, as
in `trials`.

A question that a full probe could no longer ask has the failure `not_collected`. Questions of a risk are missing for a
remote that is known to fall at it, by its version or an earlier fall (kind `falls`), or fell in this probe. A core
probe of a server that opens unchanged keeps the results of the last full probe, for at most 14 days: `depth` is then
`full`, and the observation states its time (`full_at`) and the record (`carried_from`). A re-test repeats some
questions and states `full_due`: the next probe is a full one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.canonical import Json, parse_json
from evidence.json_members import array_or_empty, object_or_empty, read_members, strings_in, text_or_empty
from evidence.kinds.listing import UNDEFINED, Listing, Undefined
from evidence.kinds.traits import WORDS, Traits

KIND: Final = "exchanges"
SCHEMA: Final = 1
TRAITS: Final = Traits(licence=WORDS, conversation=True, one_night=True)

REVISIONS: Final[Mapping[str, str]] = {
    "A": "2024-11-05",
    "B": "2025-03-26",
    "C": "2025-06-18",
    "D": "2025-11-25",
    "E": "2026-07-28",
}
"""Revisions of the protocol by the letters of the table of checks."""

MODERN: Final = "modern"
LEGACY: Final = "legacy"

MAX_SESSION_LENGTH: Final = 1024
"""Characters of a session id up to which it is sent back."""

_INITIALIZED: Final = {version: letter for letter, version in REVISIONS.items() if letter != "E"}
_PASSING: Final = frozenset({408, 425, 429})
_OPENINGS: Final = frozenset(
    {"initialize", "initialize-unknown", "initialize-origin", *(f"initialize-{known}" for known in REVISIONS.values())}
)
_REFUSALS: Final = frozenset({401, 402, 403, 407})
_UNANSWERED: Final = frozenset({"close", "malformed"})
"""Steps that need no answer over stdio: the end of the input, and a line that is no message."""
_FAILING: Final = frozenset({500, 502, 503, 504})
"""Statuses of a server that fails; 501 and 505 are answers to a question that it does not support."""
_DOWN: Final = frozenset({"unreachable", "start_failed"})
_UNASKED: Final = frozenset({"timeout", "not_collected"})


def find_revision(era: str, version: str | None) -> str:
    """Letter of a version in `REVISIONS`; empty for a version that the era does not have.

    2026-07-28 has no `initialize` (basic/lifecycle), so a legacy connection never has that revision.
    """
    return "E" if era == MODERN else _INITIALIZED.get(version or "", "")


def revision_letter(known: Listing) -> str:
    """Letter of a listing's revision; empty for a version that its era does not have."""
    return find_revision(known.era, known.protocol_version)


class Connection(Struct, frozen=True, kw_only=True):
    """One connection: a session of its own over HTTP, one opening of a process over stdio."""

    index: int
    transport: str
    era: str
    opened: bool
    offered: str
    negotiated: str
    session: Mapping[str, Json] | None

    @property
    def revision(self) -> str:
        """The letter of the negotiated revision, else of the offered one; empty for one that its era does not have."""
        return find_revision(self.era, self.negotiated) or find_revision(self.era, self.offered)

    @property
    def is_session_unsendable(self) -> bool:
        """Whether the server assigned a session id that a header cannot contain, or one that is too long."""
        session = self.session or {}
        length = session.get("length")
        return session.get("visible") is False or (isinstance(length, int) and length > MAX_SESSION_LENGTH)


class Received(Struct, frozen=True, dict=True):
    """One message, or text that is not a message. `message` includes its result; `missing` says why it lacks one."""

    message: Json = None
    text: str = ""
    event: str = ""
    has_id: bool = False
    missing: str = ""
    reveals: str = ""

    @cached_property
    def members(self) -> Mapping[str, Json]:
        """The message when it is an object, else an empty one."""
        return self.message if isinstance(self.message, Mapping) else {}

    @property
    def is_answer(self) -> bool:
        """Whether it is a response: it has a result or an error and no method."""
        return bool(self.missing) or (
            "method" not in self.members and ("result" in self.members or "error" in self.members)
        )

    @property
    def is_request(self) -> bool:
        return "method" in self.members and "id" in self.members

    @property
    def is_notification(self) -> bool:
        return "method" in self.members and "id" not in self.members


class Exchange(Struct, frozen=True, kw_only=True, dict=True):
    """One question and everything that was received for it."""

    index: int
    step: str
    page: int
    connection: Connection
    verb: str
    sent_headers: Mapping[str, str]
    sent: Json
    status: int | None
    headers: Mapping[str, str]
    form: str
    utf8: bool
    batch: bool
    ended: bool | None
    received: tuple[Received, ...]
    failure: str
    detail: str

    @property
    def at(self) -> str:
        """The path of the exchange, such as `exchanges/legacy/ping`."""
        return f"exchanges/{self.connection.era}/{self.step}"

    @property
    def is_question(self) -> bool:
        """Whether the message we sent expects an answer: a request, or bytes that are not JSON-RPC."""
        return not isinstance(self.sent, Mapping) or "id" in self.sent

    @cached_property
    def answer(self) -> Received | None:
        """The response, if any. Of several the one with the request's id, because others may be late."""
        answers = [one for one in self.received if one.is_answer]
        sent = self.sent if isinstance(self.sent, Mapping) else {}
        own = (one for one in answers if "id" in sent and one.members.get("id") == sent["id"])
        return next(own, answers[0] if answers else None)

    @cached_property
    def result(self) -> Json | Undefined:
        """The result, or UNDEFINED when it is missing or was too large to keep."""
        return self.answer.members.get("result", UNDEFINED) if self.answer else UNDEFINED

    @cached_property
    def fields(self) -> Mapping[str, Json]:
        """The result when it is an object, else an empty one."""
        return self.result if isinstance(self.result, Mapping) else {}

    @cached_property
    def error(self) -> Mapping[str, Json] | None:
        error = self.answer.members.get("error") if self.answer else None
        return error if isinstance(error, Mapping) else None

    @cached_property
    def code(self) -> int | None:
        code = self.error.get("code") if self.error else None
        return code if isinstance(code, int) and not isinstance(code, bool) else None

    @property
    def succeeded(self) -> bool:
        return self.result is not UNDEFINED or bool(self.answer and self.answer.missing)

    @property
    def is_refusal(self) -> bool:
        """Whether the status denies access (401, 402, 403, 407) and so does not answer the question."""
        return self.status in _REFUSALS

    @property
    def is_server_failure(self) -> bool:
        """Whether the server itself failed: no connection, or a status that says so."""
        return self.status in _FAILING or self.failure in _DOWN

    @property
    def is_lost(self) -> bool:
        """Whether nothing was learnt from the question: the server failed, was silent, or was not asked."""
        return self.is_server_failure or self.failure in _UNASKED

    @property
    def over_http(self) -> bool:
        return self.connection.transport != "stdio"

    @property
    def content_type(self) -> str:
        """The media type of the answer in lower case without parameters; empty when missing."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @cached_property
    def unclear(self) -> str:
        """Why the exchange allows no conclusion: our limits, or a transient state of the server; empty otherwise.

        A timeout, 408, 425, 429, 5xx, a redirect, a body above the bounds or one that cannot be decoded never fails a
        semantic
        check; checks of the transport read status and headers themselves.
        """
        if self.failure:
            return f"{self.failure}: {self.detail}" if self.detail else self.failure
        if self.status is not None and (self.status in _PASSING or self.status >= 500 or 300 <= self.status < 400):
            return f"HTTP {self.status}"
        if self.connection.is_session_unsendable and self.step not in _OPENINGS:
            return "the session id cannot be sent back"
        if self.form == "stream" and self.answer is None and "id" in object_or_empty(self.sent):
            return "the stream ended without an answer"
        return self.answer.missing if self.answer else ""


class ReadResult(Struct, frozen=True):
    """One result of `resources/read`: the keys of `_meta` in it and in its contents."""

    connection: Connection
    uri: str
    keys: tuple[str, ...]

    @property
    def at(self) -> str:
        """The path of the question, such as `exchanges/legacy/read-resource`."""
        return f"exchanges/{self.connection.era}/read-resource"


class Exchanges(Struct, frozen=True, dict=True):
    """Typed, tolerant view of an exchanges body."""

    depth: str
    target: Mapping[str, Json]
    connections: tuple[Connection, ...]
    exchanges: tuple[Exchange, ...]
    read: tuple[ReadResult, ...] = ()

    @staticmethod
    def parse(body: bytes, listing: Listing | None = None) -> Exchanges:
        """View over the body, with results that the listing holds put back; raise NotJson when it is not JSON."""
        members = object_or_empty(parse_json(body))
        connections = tuple(_connection(raw, at) for at, raw in enumerate(array_or_empty(members.get("connections"))))
        found: list[Exchange] = []
        for raw in map(object_or_empty, array_or_empty(members.get("exchanges"))):
            at = raw.get("connection")
            if isinstance(at, int) and 0 <= at < len(connections):
                found.append(_exchange(raw, len(found), connections[at], _Results(found, listing)))
        read = (_read_result(object_or_empty(raw), connections) for raw in array_or_empty(members.get("read")))
        return Exchanges(
            text_or_empty(members.get("depth")),
            object_or_empty(members.get("target")),
            connections,
            tuple(found),
            tuple(one for one in read if one is not None),
        )

    @property
    def eras(self) -> frozenset[str]:
        """The eras in which the server opened."""
        return frozenset(connection.era for connection in self.connections if connection.opened)

    @cached_property
    def stopped_at(self) -> Exchange | None:
        """The question from which on every question was lost; None when the last one was answered."""
        first = None
        for exchange in reversed(self.exchanges):
            if exchange.step in _UNANSWERED:
                continue
            if not exchange.is_lost:
                break
            first = exchange
        return first

    def with_exchanges(self, exchanges: Sequence[Exchange]) -> Exchanges:
        """The same conversation with these exchanges only."""
        return replace(self, exchanges=tuple(exchanges))

    def of(self, *steps: str) -> Iterator[Exchange]:
        """The exchanges of these steps, in the order of the questions."""
        return (exchange for exchange in self.exchanges if exchange.step in steps)


class _Results(Struct, frozen=True):
    """Finds results that are stored outside of their message."""

    earlier: Sequence[Exchange]
    listing: Listing | None

    def find(self, raw: Mapping[str, Json]) -> tuple[Json | Undefined, str]:
        """The result and an empty text, or UNDEFINED and why it is missing; UNDEFINED and an empty text for a complete
        message.
        """
        match raw:
            case {"listed": [str(name), int(page)]}:
                found = self.listing.page(name, page) if self.listing else UNDEFINED
                return found, "" if found is not UNDEFINED else "the listing is not there"
            case {"same_as": int(index)} if 0 <= index < len(self.earlier):
                found = self.earlier[index].result
                return found, "" if found is not UNDEFINED else "the same result is not there"
            case {"too_large": int(size)}:
                return UNDEFINED, f"too_large: a result of {size} bytes"
        return UNDEFINED, ""


def _connection(raw: Json, index: int) -> Connection:
    members = object_or_empty(raw)
    return read_members(Connection, members, index=index)


def _exchange(raw: Mapping[str, Json], index: int, connection: Connection, results: _Results) -> Exchange:
    sent = object_or_empty(raw.get("sent"))
    failure = object_or_empty(raw.get("failure"))
    status, page = raw.get("status"), raw.get("page")
    return read_members(
        Exchange,
        raw,
        index=index,
        page=page if isinstance(page, int) else 0,
        connection=connection,
        sent_headers=_headers(sent.get("headers")),
        sent=sent.get("message"),
        status=status if isinstance(status, int) else None,
        headers=_headers(raw.get("headers")),
        utf8=raw.get("utf8") is not False,
        received=tuple(_received(object_or_empty(each), results) for each in array_or_empty(raw.get("received"))),
        failure=text_or_empty(failure.get("reason")),
        detail=text_or_empty(failure.get("detail")),
    )


def _received(raw: Mapping[str, Json], results: _Results) -> Received:
    event, reveals = text_or_empty(raw.get("event")), text_or_empty(raw.get("reveals"))
    if "message" not in raw:
        return Received(None, text_or_empty(raw.get("text")), event, raw.get("id") is True, reveals=reveals)
    result, missing = results.find(raw)
    message = raw["message"]
    if result is not UNDEFINED and isinstance(message, Mapping):
        message = {**message, "result": result}
    return Received(message, "", event, raw.get("id") is True, missing, reveals)


def _read_result(raw: Mapping[str, Json], connections: Sequence[Connection]) -> ReadResult | None:
    at = raw.get("connection")
    if not isinstance(at, int) or not 0 <= at < len(connections):
        return None
    return ReadResult(connections[at], text_or_empty(raw.get("uri")), tuple(strings_in(raw.get("keys"))))


def _headers(value: Json) -> Mapping[str, str]:
    return {name: text for name, text in object_or_empty(value).items() if isinstance(text, str)}
