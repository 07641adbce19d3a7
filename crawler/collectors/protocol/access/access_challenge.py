"""Classifies the access to a server from its first answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct

from crawler.collectors.protocol.session.absence_reasons import explain_reply
from crawler.http.authentication_challenges import Challenge, parse_challenges
from crawler.http.failures import BudgetSpent
from crawler.mcp.transcript import Reply
from evidence.kinds.access import AccessClass
from evidence.model import Absent, Reason

METHODS: Final = {
    "discover": "server/discover",
    "initialize": "initialize",
    "sse-open": "GET",
    "list-tools": "tools/list",
    "list-resources": "resources/list",
    "list-resourceTemplates": "resources/templates/list",
    "list-prompts": "prompts/list",
}
"""The method of each step before or at the opening."""

OPENING_STEPS: Final = frozenset({"discover", "initialize", "sse-open"})
LOCKED_REASONS: Final = frozenset({Reason.OAUTH_REQUIRED, Reason.CREDENTIALS_REQUIRED})
_CLASSES: Final[Mapping[Reason, AccessClass]] = {
    Reason.PAYMENT_REQUIRED: AccessClass.PAYMENT,
    Reason.FORBIDDEN: AccessClass.FORBIDDEN,
    Reason.BLOCKED_BY_WAF: AccessClass.BLOCKED_BY_WAF,
    Reason.NOT_MCP: AccessClass.NOT_MCP,
}
_DECISIVE: Final = (*sorted(LOCKED_REASONS), Reason.PAYMENT_REQUIRED, Reason.FORBIDDEN, Reason.BLOCKED_BY_WAF)


class AccessRequest(Struct, frozen=True, kw_only=True, dict=True):
    """One request before or at the opening. `step` and `era` are those of kind `exchanges`.

    `opened`: an opening that succeeded, with the `version` that was negotiated.
    """

    step: str
    era: str
    reply: Reply
    opened: bool = False
    version: str | None = None

    @property
    def is_opening(self) -> bool:
        """True for a question that opens a server, false for one to an opened server."""
        return self.step in OPENING_STEPS

    @cached_property
    def refusal(self) -> Absent | None:
        """Why the answer grants no access; None when it does."""
        if self.opened or (self.reply.result and not self.is_opening) or self._streams:
            return None
        if self.reply.status == 403 and any(one.scheme in {"bearer", "dpop"} for one in self.challenges):
            return Absent(Reason.OAUTH_REQUIRED, "HTTP 403 with a Bearer challenge")
        return explain_reply(self.reply, METHODS.get(self.step, self.step))

    @property
    def _streams(self) -> bool:
        """Whether the stream of an HTTP+SSE server opened; the questions that are asked over it decide the rest."""
        streams = self.reply.exchange.header("content-type").lower().startswith("text/event-stream")
        return self.step == "sse-open" and self.reply.status == 200 and self.reply.failure is None and streams

    @property
    def challenges(self) -> tuple[Challenge, ...]:
        return parse_challenges([value for name, value in self.reply.exchange.headers if name == "www-authenticate"])


class AccessDecision(Struct, frozen=True):
    """The class that all answers together give, and the answer that decides it (None when the server is open)."""

    access: AccessClass
    gate: AccessRequest | None = None
    refusal: Absent | None = None


def classify_access(requests: Sequence[AccessRequest]) -> AccessDecision | Absent:
    """The class of a server from all its first answers; Absent when no answer decides anything.

    An era that opens outweighs one that does not. Among refusals, the first that names a way in decides.
    """
    asked = [one for one in requests if not isinstance(one.reply.failure, BudgetSpent)]
    refused = [(one, refusal) for one in asked if (refusal := one.refusal)]
    opened = any(one.opened and one.step != "sse-open" for one in requests)
    deciding = [pair for pair in refused if not (opened and pair[0].is_opening)]
    for reasons in (LOCKED_REASONS, *({reason} for reason in _DECISIVE)):
        for one, refusal in deciding:
            if refusal.reason in reasons:
                return AccessDecision(_class_of(one, refusal), one, refusal)
    if opened:
        return AccessDecision(AccessClass.OPEN)
    openings = [pair for pair in refused if pair[0].step == "initialize"] or refused
    if not openings:
        return Absent(Reason.NOT_COLLECTED, "nothing was asked at the door")
    one, refusal = openings[-1]
    return AccessDecision(AccessClass.NOT_MCP, one, refusal) if refusal.reason is Reason.NOT_MCP else refusal


def _class_of(one: AccessRequest, refusal: Absent) -> AccessClass:
    if refusal.reason in LOCKED_REASONS:
        return AccessClass.GATED_AT_CONNECT if one.is_opening else AccessClass.GATED_AT_LIST
    return _CLASSES[refusal.reason]
