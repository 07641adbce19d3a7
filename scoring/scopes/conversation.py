"""The scope `Conversation`: all exchanges with a server, for rules about the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Final

from msgspec.structs import replace

from evidence.canonical import Json
from evidence.kinds import exchanges
from evidence.kinds.exchanges import LEGACY, MODERN, REVISIONS, Exchange, Exchanges, ReadResult
from evidence.kinds.listing import Listing
from scoring.results.outcome import Inapplicable, Undecided
from scoring.scopes.base import Scope

CORE: Final = "core"
NOT_ASKED: Final = "not_asked"
"""The reason for steps that only a full probe performs."""

LEFT_OUT: Final = "not asked: the server fell after a question, or looks like a version that falls"
"""The reason for steps that a full probe over HTTP leaves out (docs/decisions/0042)."""

RISKY_STEPS: Final = frozenset(
    {"malformed", "batch", "unknown-method", "get", "delete", "listen", "initialize-unknown"}
    | {"removed-ping", "removed-logging", "removed-subscribe"}
    | {"initialize-2024-11-05", "initialize-2025-03-26", "initialize-2025-06-18"}
    | {"list-tools-undeclared", "list-resources-undeclared", "list-prompts-undeclared"}
)
"""The steps that are asked last. Every full probe over HTTP asks one of them, unless it leaves all of them out."""

_FIRST_STEPS: Final = frozenset(
    {"initialize", "initialized", "discover", "redirected", "ping", "stream", "end", "sse-open"}
    | {"list-tools", "list-tools-again", "list-tools-elsewhere"}
    | {"list-resources", "list-resourceTemplates", "list-prompts"}
)
"""The steps before all others: without any other one, the probe ended among them."""

_OPENED: Final = frozenset({"initialized", "discover"})
"""The steps that end an opening: a server that did not open has not fallen."""

_ENDING: Final = frozenset({"end", "after-end"})
"""The steps that end a session, which a server without sessions is never asked."""


class Conversation(Scope, frozen=True, kw_only=True, dict=True):
    """All exchanges with one server under some revisions; `listing` is the listing of the same dossier, if any."""

    reads: ClassVar[str] = exchanges.KIND
    recorded: Exchanges
    listing: Listing | None = None
    revisions: str = "".join(REVISIONS)

    def under_revisions(self, revisions: str) -> Conversation:
        """The conversation limited to these revisions (letters); cached, because many rules use the same."""
        found = self._by_revisions.get(revisions)
        if found is None:
            found = self._by_revisions[revisions] = replace(self, revisions=revisions)
        return found

    def over_transport(self, transport: str) -> Conversation:
        """The conversation limited to this transport; cached, because many rules use the same."""
        found = self._by_transport.get(transport)
        if found is None:
            kept = [one for one in self.recorded.exchanges if one.connection.transport == transport]
            found = self._by_transport[transport] = replace(self, recorded=self.recorded.with_exchanges(kept))
        return found

    @cached_property
    def _by_revisions(self) -> dict[str, Conversation]:
        return {}

    @cached_property
    def _by_transport(self) -> dict[str, Conversation]:
        return {}

    @property
    def leaves_out_openings(self) -> bool:
        """Whether a full probe over HTTP did not offer one of these revisions to a server of the legacy era."""
        openings = {f"initialize-{REVISIONS[letter]}" for letter in self.revisions}
        return LEGACY in self.recorded.eras and self.leaves_out(*(openings & RISKY_STEPS))

    @cached_property
    def _asked(self) -> frozenset[str]:
        """The steps that were asked over HTTP."""
        return frozenset(exchange.step for exchange in self.recorded.exchanges if exchange.over_http)

    @cached_property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges under the revisions. Where the server does not open, no revision is in force.

        A server of HTTP+SSE that refuses the POST of streamable HTTP opens in its era, but not over that transport.
        """
        return tuple(one for one in self.recorded.exchanges if one.connection.index in self._in_force)

    @property
    def read_results(self) -> tuple[ReadResult, ...]:
        """The results of `resources/read` under the revisions."""
        return tuple(one for one in self.recorded.read if one.connection.index in self._in_force)

    @cached_property
    def _in_force(self) -> frozenset[int]:
        """The indexes of the connections under the revisions."""
        opened = {(one.transport, one.era) for one in self.recorded.connections if one.opened}
        return frozenset(
            one.index
            for one in self.recorded.connections
            if (one.transport, one.era) in opened and one.revision and one.revision in self.revisions
        )

    @property
    def over_http(self) -> tuple[Exchange, ...]:
        """The exchanges over HTTP, of either transport; Inapplicable without any."""
        return self._some(tuple(exchange for exchange in self.exchanges if exchange.over_http), "not over HTTP")

    @property
    def over_stdio(self) -> tuple[Exchange, ...]:
        """The exchanges over stdio; Inapplicable without any."""
        return self._some(tuple(exchange for exchange in self.exchanges if not exchange.over_http), "not over stdio")

    @cached_property
    def is_dual_era(self) -> bool:
        """True for a server that opens in both eras, and for one whose legacy era could not be probed.

        Requirements that hold only for modern servers are not applied to a server that may speak an older revision.
        """
        if MODERN not in self.recorded.eras:
            return False
        handshakes = tuple(self.recorded.of("initialize"))
        unknown = bool(handshakes) and all(one.unclear or one.is_refusal for one in handshakes)
        return LEGACY in self.recorded.eras or unknown

    @property
    def stopped_at(self) -> Exchange | None:
        """The question from which on every question was lost, after answers, if any is about these revisions."""
        stop = self.recorded.stopped_at
        if stop is None or not stop.index:
            return None
        lost = self.recorded.exchanges[stop.index :]
        return stop if any(one.connection.revision in self.revisions for one in lost) else None

    def exchanges_of(self, *steps: str) -> tuple[Exchange, ...]:
        """The exchanges of these steps; Inapplicable without any.

        Undecided when only a full probe performs them, when the server was not asked to open any more, or when they
        were left out.
        """
        if not self.exchanges:
            if self.stopped_at:
                raise Undecided(f"nothing was answered from {self.stopped_at.at} on")
            if self.leaves_out_openings:
                raise Undecided(LEFT_OUT)
            raise Inapplicable("no messages were exchanged under these revisions")
        found = tuple(exchange for exchange in self.exchanges if exchange.step in steps)
        if not found and self.recorded.depth == CORE:
            raise Undecided(NOT_ASKED)
        if not found and self.leaves_out(*steps):
            raise Undecided(LEFT_OUT)
        return self._some(found, "not asked")

    def leaves_out(self, *steps: str) -> bool:
        """Whether a full probe over HTTP left one of these steps out, since the server fell or may fall."""
        has_opened = any(one.over_http and one.connection.opened for one in self.recorded.exchanges)
        is_whole = self.recorded.depth != CORE and has_opened and not _OPENED.isdisjoint(self._asked)
        if not is_whole or self._asked & RISKY_STEPS:
            return False
        if steps and _ENDING.issuperset(steps):
            return any(connection.session for connection in self.recorded.connections)
        return bool(steps) and (not RISKY_STEPS.isdisjoint(steps) or self._asked <= _FIRST_STEPS)

    def conclusive(self, *steps: str) -> tuple[Exchange, ...]:
        """Those of `exchanges_of` from which something can be concluded; Undecided when there is none.

        Left out are timeouts, passing failures, bodies beyond the caps and refusals of access.
        """
        found = self.exchanges_of(*steps)
        kept = tuple(exchange for exchange in found if not exchange.unclear and not exchange.is_refusal)
        if not kept:
            raise Undecided(found[0].unclear or f"HTTP {found[0].status}")
        return kept

    def results(self, *steps: str) -> tuple[Exchange, ...]:
        """The `conclusive` exchanges that were answered with a result; Inapplicable without any."""
        return self._some(tuple(one for one in self.conclusive(*steps) if one.succeeded), "no result")

    def capabilities(self, era: str) -> Mapping[str, Json]:
        """The capabilities that the server declared in the first exchange of an era; may be empty."""
        step = "discover" if era == MODERN else "initialize"
        for exchange in self.recorded.of(step):
            value = exchange.fields.get("capabilities")
            if exchange.connection.era == era and isinstance(value, Mapping):
                return value
        return {}

    def _some(self, found: tuple[Exchange, ...], why: str) -> tuple[Exchange, ...]:
        if not found:
            raise Inapplicable(why)
        return found
