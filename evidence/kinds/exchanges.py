"""Kind `exchanges`: what was asked of a server and what it answered, question by question, as a transcript.

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
                    "failure": {"reason": REASON, "detail": STRING} | null}, ...]}

    RECEIVED: {"message": MESSAGE, "event": STRING, "id": BOOL}   one JSON-RPC message
            | {"text": STRING, "event": STRING, "id": BOOL}       anything else: its first 200 characters, masked, and
                                                                  each number as 0, since most are times or ids
    `event` and `id` are there only on a stream.
    A message without its result says where the result is: {"listed": [LIST, PAGE]} in the `listing` record of the same
    dossier, {"same_as": INT} in that exchange's answer, {"too_large": INT} bytes nowhere.

`step` names the question (`crawler.collectors.protocol.questions.inquiries`); `redirected` is an answer that sent us
to another address of the same origin, where the question was asked again. Of a question that was asked twice because
its first answer failed in passing, only the last answer is here. Request ids are ours and the same every night;
session ids, dates and timings are in the record's observation. Where a session id was received or sent it says
`session N`, by the connection that it was assigned on, or `another session`.
`headers` holds those about which a rule can ask; `x-endpoint` is ours and says where the endpoint of an HTTP+SSE
stream lies: `same-origin`, `other-origin` or `none`. In `sent` an `authorization` is only `configured` or
`bogus bearer`. `ended`: whether a stream ended, or a process exited, in good time after its last answer; null when
that was not watched.

A question that a full probe could not ask any more has the failure `not_collected`. A core probe of a server that opens
as it did keeps what the last full one found, for at most 14 days: `depth` is then `full`, and the observation says when
that was (`full_at`) and from which record it comes (`carried_from`). A re-test asks some of it again and says
`full_due`: the next probe is a full one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from evidence.canonical import Json, parse_json
from evidence.json_members import array_or_empty, object_or_empty, text_or_empty
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
"""Letters of the protocol's revisions, as the table of checks writes them."""

MODERN: Final = "modern"
LEGACY: Final = "legacy"

MAX_SESSION_LENGTH: Final = 1024
"""Characters of a session id that are sent back."""

_LETTER: Final = {version: letter for letter, version in REVISIONS.items()}
_PASSING: Final = frozenset({408, 425, 429})
_OPENINGS: Final = frozenset(
    {"initialize", "initialize-unknown", "initialize-origin", *(f"initialize-{known}" for known in REVISIONS.values())}
)
_REFUSALS: Final = frozenset({401, 402, 403, 407})


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """One connection: a session of its own over HTTP, a process of its own over stdio."""

    index: int
    transport: str
    era: str
    opened: bool
    offered: str
    negotiated: str
    session: Mapping[str, Json] | None

    @property
    def revision(self) -> str:
        """Letter of the revision in force: the negotiated one, else the one we offered; empty for an unknown one."""
        if self.era == MODERN:
            return "E"
        return _LETTER.get(self.negotiated, _LETTER.get(self.offered, ""))

    @property
    def is_session_unsendable(self) -> bool:
        """True when the server assigned a session id that no header carries, or one too long to repeat."""
        session = self.session or {}
        length = session.get("length")
        return session.get("visible") is False or (isinstance(length, int) and length > MAX_SESSION_LENGTH)


@dataclass(frozen=True)
class Received:
    """One message, or a piece of text that is none. `message` has its result put back; `missing`: why it lacks one."""

    message: Json = None
    text: str = ""
    event: str = ""
    has_id: bool = False
    missing: str = ""

    @cached_property
    def members(self) -> Mapping[str, Json]:
        """The message when it is an object, else an empty one."""
        return self.message if isinstance(self.message, Mapping) else {}

    @property
    def is_answer(self) -> bool:
        """True for a response: it has a result or an error and no method."""
        return bool(self.missing) or (
            "method" not in self.members and ("result" in self.members or "error" in self.members)
        )

    @property
    def is_request(self) -> bool:
        """True for a request of the server: method and id."""
        return "method" in self.members and "id" in self.members

    @property
    def is_notification(self) -> bool:
        """True for a notification of the server: method and no id."""
        return "method" in self.members and "id" not in self.members


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """One question and everything that came back."""

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
        """Its path, such as `exchanges/legacy/ping`."""
        return f"exchanges/{self.connection.era}/{self.step}"

    @property
    def is_question(self) -> bool:
        """True when what we sent expects an answer: a request, or bytes that are no JSON-RPC message."""
        return not isinstance(self.sent, Mapping) or "id" in self.sent

    @cached_property
    def answer(self) -> Received | None:
        """The response, when one came: of several the one under the request's id, since others may be late."""
        answers = [one for one in self.received if one.is_answer]
        sent = self.sent if isinstance(self.sent, Mapping) else {}
        own = (one for one in answers if "id" in sent and one.members.get("id") == sent["id"])
        return next(own, answers[0] if answers else None)

    @cached_property
    def result(self) -> Json | Undefined:
        """The result, or UNDEFINED when there is none or it was too large to keep."""
        return self.answer.members.get("result", UNDEFINED) if self.answer else UNDEFINED

    @cached_property
    def fields(self) -> Mapping[str, Json]:
        """The result when it is an object, else an empty one."""
        return self.result if isinstance(self.result, Mapping) else {}

    @cached_property
    def error(self) -> Mapping[str, Json] | None:
        """The error when it is an object."""
        error = self.answer.members.get("error") if self.answer else None
        return error if isinstance(error, Mapping) else None

    @cached_property
    def code(self) -> int | None:
        """The error's code when it is an integer."""
        code = self.error.get("code") if self.error else None
        return code if isinstance(code, int) and not isinstance(code, bool) else None

    @property
    def succeeded(self) -> bool:
        """True when the answer is a result."""
        return self.result is not UNDEFINED or bool(self.answer and self.answer.missing)

    @property
    def is_refusal(self) -> bool:
        """True for a status that decides on access (401, 402, 403, 407) and tells nothing about the question."""
        return self.status in _REFUSALS

    @property
    def over_http(self) -> bool:
        """True for both HTTP transports."""
        return self.connection.transport != "stdio"

    @property
    def content_type(self) -> str:
        """Media type of the answer in small letters without parameters; empty when there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @cached_property
    def unclear(self) -> str:
        """Why nothing can be concluded from it: our limits, or a passing state of the server; empty otherwise.

        A timeout, 408, 425, 429, 5xx, a redirect, a body beyond the caps or one that cannot be decoded never fails a
        check of meaning; the checks of the transport look at status and headers themselves.
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


@dataclass(frozen=True)
class Exchanges:
    """Typed, tolerant view of an exchanges body."""

    depth: str
    target: Mapping[str, Json]
    connections: tuple[Connection, ...]
    exchanges: tuple[Exchange, ...]

    @staticmethod
    def parse(body: bytes, listing: Listing | None = None) -> Exchanges:
        """View over the body, with results that are kept in the listing put back; raise NotJson on what is no body."""
        members = object_or_empty(parse_json(body))
        connections = tuple(_connection(raw, at) for at, raw in enumerate(array_or_empty(members.get("connections"))))
        found: list[Exchange] = []
        for raw in map(object_or_empty, array_or_empty(members.get("exchanges"))):
            at = raw.get("connection")
            if isinstance(at, int) and 0 <= at < len(connections):
                found.append(_exchange(raw, len(found), connections[at], _Results(found, listing)))
        return Exchanges(
            text_or_empty(members.get("depth")), object_or_empty(members.get("target")), connections, tuple(found)
        )

    @property
    def eras(self) -> frozenset[str]:
        """The eras in which the server opened."""
        return frozenset(connection.era for connection in self.connections if connection.opened)

    def of(self, *steps: str) -> Iterator[Exchange]:
        """The exchanges of these steps, in the order they were asked."""
        return (exchange for exchange in self.exchanges if exchange.step in steps)


@dataclass(frozen=True, slots=True)
class _Results:
    """Where results lie that are not in their own message."""

    earlier: Sequence[Exchange]
    listing: Listing | None

    def find(self, raw: Mapping[str, Json]) -> tuple[Json | Undefined, str]:
        """The result, or UNDEFINED and why it is missing; no reason when nothing is missing."""
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
    session = members.get("session")
    return Connection(
        index=index,
        transport=text_or_empty(members.get("transport")),
        era=text_or_empty(members.get("era")),
        opened=members.get("opened") is True,
        offered=text_or_empty(members.get("offered")),
        negotiated=text_or_empty(members.get("negotiated")),
        session=session if isinstance(session, Mapping) else None,
    )


def _exchange(raw: Mapping[str, Json], index: int, connection: Connection, results: _Results) -> Exchange:
    sent = object_or_empty(raw.get("sent"))
    failure = object_or_empty(raw.get("failure"))
    status, page, ended = raw.get("status"), raw.get("page"), raw.get("ended")
    return Exchange(
        index=index,
        step=text_or_empty(raw.get("step")),
        page=page if isinstance(page, int) else 0,
        connection=connection,
        verb=text_or_empty(raw.get("verb")),
        sent_headers=_headers(sent.get("headers")),
        sent=sent.get("message"),
        status=status if isinstance(status, int) else None,
        headers=_headers(raw.get("headers")),
        form=text_or_empty(raw.get("form")),
        utf8=raw.get("utf8") is not False,
        batch=raw.get("batch") is True,
        ended=ended if isinstance(ended, bool) else None,
        received=tuple(_received(object_or_empty(one), results) for one in array_or_empty(raw.get("received"))),
        failure=text_or_empty(failure.get("reason")),
        detail=text_or_empty(failure.get("detail")),
    )


def _received(raw: Mapping[str, Json], results: _Results) -> Received:
    if "message" not in raw:
        return Received(None, text_or_empty(raw.get("text")), text_or_empty(raw.get("event")), raw.get("id") is True)
    result, missing = results.find(raw)
    message = raw["message"]
    if result is not UNDEFINED and isinstance(message, Mapping):
        message = {**message, "result": result}
    return Received(message, "", text_or_empty(raw.get("event")), raw.get("id") is True, missing)


def _headers(value: Json) -> Mapping[str, str]:
    return {name: said for name, said in object_or_empty(value).items() if isinstance(said, str)}
