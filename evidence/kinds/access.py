"""Kind `access`: the level of access without credentials, and how the server announces where to get credentials.

Body, schema 1 (UTF-8 JSON; a DOCUMENT is as it was sent, queries masked):

    {"registered": STRING,                 the address as registered, values of its query masked
     "class": CLASS,                       see `AccessClass`
     "gate": {"step": STRING, "era": ERA, "status": INT | null, "reason": REASON, "detail": STRING} | null,
     "versions": {ERA: STRING | null},     the eras that open without credentials, each with the negotiated version
     "answers": [{"step": STRING, "era": STRING, "status": INT | null, "outcome": "open" | REASON}, ...],
     "challenges": [{"scheme": STRING, "token68": BOOL, "parameters": {NAME: STRING}}, ...],
     "resource_metadata": [ATTEMPT, ...],  RFC 9728: `by` is header, path or root
     "authorization_servers": [{"issuer": STRING, "layout": "discovered" | "legacy", "attempts": [ATTEMPT, ...]}, ...],
     "bogus": {"step": STRING, "status": INT | null, "outcome": "accepted" | REASON, "detail": STRING} | null,
     "cut": ["challenges" | "metadata", ...]}

    ATTEMPT: {"by": STRING, "url": STRING, "status": INT | null, "location": STRING | null,
              "document": DOCUMENT | null, "problem": STRING, "failure": {"reason": REASON, "detail": STRING} | null}

`gate` is the answer that determines the class; null when the server is open. `challenges` are those of the gate, and
`bogus` is the answer to the same question with a bearer token that cannot be valid. Values of challenges are kept
unless they look like a token or change with each answer. `by` of an authorization server's metadata is rfc8414, openid
(path inserted) or openid-appended; layout `legacy` is metadata at the root of the server's own origin, as 2025-03-26
defines it. `cut` names the parts that our own bounds cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from typing import Final

from msgspec import Struct

from evidence.canonical import Json, parse_json
from evidence.json_members import array_or_empty, object_or_empty, objects_in, read_members, text_or_empty
from evidence.kinds.exchanges import find_revision
from evidence.kinds.traits import WORDS, Traits

KIND: Final = "access"
SCHEMA: Final = 1
TRAITS: Final = Traits(
    licence=WORDS,
    # The other members hold the status that shows that a server accepts any token.
    public_observation=frozenset(),
    conversation=True,
    one_night=True,
)

ACCEPTED: Final = "accepted"
HEADER: Final = "header"
LEGACY_LAYOUT: Final = "legacy"

_PASSING: Final = frozenset({408, 425, 429})


class AccessClass(StrEnum):
    """The level of access without credentials."""

    OPEN = "open"
    GATED_AT_CONNECT = "gated_at_connect"
    GATED_AT_LIST = "gated_at_list"
    PAYMENT = "payment"
    FORBIDDEN = "forbidden"
    BLOCKED_BY_WAF = "blocked_by_waf"
    NOT_MCP = "not_mcp"

    @property
    def is_gated(self) -> bool:
        """Whether credentials would give access."""
        return self in {AccessClass.GATED_AT_CONNECT, AccessClass.GATED_AT_LIST}


_ASKING: Final = {*(one for one in AccessClass if one.is_gated), AccessClass.PAYMENT}


class Gate(Struct, frozen=True, kw_only=True):
    """The answer that denies access. `reason` is an evidence Reason's value."""

    step: str
    era: str
    status: int | None
    reason: str
    detail: str


class Challenge(Struct, frozen=True, kw_only=True):
    """One authentication challenge of the gate; names of parameters in lower case."""

    scheme: str
    token68: bool
    parameters: Mapping[str, str]


class MetadataAttempt(Struct, frozen=True, kw_only=True):
    """One request for a metadata document."""

    by: str
    url: str
    status: int | None
    location: str
    document: Mapping[str, Json] | None
    problem: str
    failure: str

    @property
    def unclear(self) -> str:
        """Why the attempt allows no conclusion, in a few words; empty when it found a document or certainly none.

        Reasons are our own bounds, transient states of the host, addresses that we do not open, and redirects, which
        clients
        follow.
        """
        if self.document is not None:
            return ""
        if self.failure:
            return self.failure
        passing = self.status is not None and (self.status in _PASSING or self.status >= 500)
        return f"HTTP {self.status}" if passing or self.location else ""


class AuthorizationServer(Struct, frozen=True, kw_only=True):
    """One authorization server and the requests for its metadata."""

    issuer: str
    layout: str
    attempts: tuple[MetadataAttempt, ...]

    @property
    def found(self) -> MetadataAttempt | None:
        return next((attempt for attempt in self.attempts if attempt.document is not None), None)


class InvalidTokenResult(Struct, frozen=True, kw_only=True):
    """The result for a bearer token that cannot be valid. `outcome` is ACCEPTED or an evidence Reason's value."""

    step: str
    status: int | None
    outcome: str
    detail: str


class Access(Struct, frozen=True, dict=True):
    """Typed, tolerant view of an access body."""

    body: Mapping[str, Json]

    @classmethod
    def parse(cls, body: bytes) -> Access:
        """View a body of the current schema; raise NotJson when it is not JSON."""
        return cls(object_or_empty(parse_json(body)))

    @property
    def registered(self) -> str:
        """The address as registered, values of its query masked."""
        return text_or_empty(self.body.get("registered"))

    @property
    def access_class(self) -> AccessClass:
        return AccessClass(text_or_empty(self.body.get("class")))

    @property
    def asks_for_access(self) -> bool:
        """Whether credentials or a payment would give more access; False for a class that is not known."""
        return text_or_empty(self.body.get("class")) in _ASKING

    @cached_property
    def gate(self) -> Gate | None:
        """The answer that denies access; None when the server is open."""
        raw = self.body.get("gate")
        return read_members(Gate, raw, status=_status(raw)) if isinstance(raw, Mapping) else None

    @property
    def revision(self) -> str:
        """The letter of the newest revision in which the server opens; D, the most common, when none is known."""
        versions = object_or_empty(self.body.get("versions")).items()
        letters = (find_revision(era, version) for era, version in versions if isinstance(version, str))
        return max(filter(None, letters), default="D")

    @cached_property
    def challenges(self) -> tuple[Challenge, ...]:
        return tuple(
            read_members(
                Challenge,
                raw,
                parameters={k: v for k, v in object_or_empty(raw.get("parameters")).items() if isinstance(v, str)},
            )
            for raw in objects_in(self.body.get("challenges"))
        )

    @cached_property
    def resource_metadata(self) -> tuple[MetadataAttempt, ...]:
        """The requests for protected resource metadata, in order."""
        return _attempts(self.body, "resource_metadata")

    @property
    def resource(self) -> MetadataAttempt | None:
        """The attempt that found protected resource metadata."""
        return next((attempt for attempt in self.resource_metadata if attempt.document is not None), None)

    @cached_property
    def authorization_servers(self) -> tuple[AuthorizationServer, ...]:
        """The authorization servers, in the order in which they are advertised."""
        return tuple(
            read_members(AuthorizationServer, raw, attempts=_attempts(raw, "attempts"))
            for raw in objects_in(self.body.get("authorization_servers"))
        )

    @cached_property
    def bogus(self) -> InvalidTokenResult | None:
        """The result for an invalid token; None when it was not tried."""
        raw = self.body.get("bogus")
        return read_members(InvalidTokenResult, raw, status=_status(raw)) if isinstance(raw, Mapping) else None

    def is_cut(self, part: str) -> bool:
        """Whether our own bounds cut `challenges` or `metadata`."""
        return part in array_or_empty(self.body.get("cut"))


def _attempts(holder: Mapping[str, Json], member: str) -> tuple[MetadataAttempt, ...]:
    return tuple(_attempt(raw) for raw in objects_in(holder.get(member)))


def _attempt(raw: Mapping[str, Json]) -> MetadataAttempt:
    failure = object_or_empty(raw.get("failure"))
    parts = [part for part in (text_or_empty(failure.get("reason")), text_or_empty(failure.get("detail"))) if part]
    return read_members(MetadataAttempt, raw, status=_status(raw), failure=": ".join(parts))


def _status(raw: Mapping[str, Json]) -> int | None:
    status = raw.get("status")
    return status if isinstance(status, int) and not isinstance(status, bool) else None
