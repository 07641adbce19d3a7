"""The scope `Access`: who gets into a server without credentials, and the documents that tell the others the way."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from evidence.canonical import Json
from evidence.kinds import access
from evidence.kinds.access import LEGACY_LAYOUT, AccessClass, AuthorizationServer, Challenge, Gate, MetadataAttempt
from evidence.kinds.exchanges import REVISIONS
from scoring.results.outcome import Inapplicable, Undecided
from scoring.scopes.base import Scope

_BEARER: Final = frozenset({"bearer", "dpop"})
_LOOPBACK: Final = re.compile(r"https?://(localhost|127(\.\d{1,3}){3}|\[::1\])(?=[:/?#]|$)", re.IGNORECASE)


class Access(Scope, frozen=True, kw_only=True, dict=True):
    """The access evidence of one server, under some revisions."""

    reads: ClassVar[str] = access.KIND
    seen: access.Access
    revisions: str = "".join(REVISIONS)

    def under_revisions(self, revisions: str) -> Access:
        """The same access; raise Inapplicable when its revision is not one of these (letters)."""
        if self.seen.revision not in revisions:
            raise Inapplicable(f"not required under {REVISIONS[self.seen.revision]}")
        return self

    @property
    def gate(self) -> Gate:
        """The response that asks for credentials; Inapplicable when the server asks for none."""
        gate = self.seen.gate
        if gate is None or not self.seen.access_class.is_gated:
            raise Inapplicable(f"the access class is {self.seen.access_class.replace('_', ' ')}")
        return gate

    @property
    def wants_own_key(self) -> bool:
        """Whether the server asks for its own key or password instead of the tokens of the specification."""
        return self.gate.reason == "credentials_required"

    @property
    def uses_oauth(self) -> bool:
        """Whether the server shows that its tokens come from the authorization that the specification defines.

        A bare 401, or a Bearer challenge alone, may also stand for a token that its user configures by hand.
        """
        if self.seen.resource is not None:
            return True
        named = self.bearer is not None and "resource_metadata" in self.bearer.parameters
        found = any(server.found for server in self.seen.authorization_servers)
        return not self.wants_own_key and (named or found)

    @property
    def revision_is_known(self) -> bool:
        """Whether the server opened a connection and so showed its revision."""
        return bool(self.seen.body.get("versions"))

    @property
    def bearer(self) -> Challenge | None:
        """The first challenge that asks for a token."""
        return next((challenge for challenge in self.seen.challenges if challenge.scheme in _BEARER), None)

    @property
    def resource(self) -> Mapping[str, Json]:
        """The protected resource metadata; Inapplicable without metadata, Undecided when a request was inconclusive."""
        found = self.seen.resource
        if found is None or found.document is None:
            require_decided(self.seen.resource_metadata)
            raise Inapplicable("no protected resource metadata")
        return found.document

    @property
    def issuers(self) -> tuple[tuple[AuthorizationServer, Mapping[str, Json]], ...]:
        """Every authorization server with metadata, and the metadata; Inapplicable or Undecided without any."""
        servers = self.seen.authorization_servers
        found = [
            (server, attempt.document)
            for server in servers
            if (attempt := server.found) is not None and attempt.document is not None
        ]
        if not found:
            require_decided([attempt for server in servers for attempt in server.attempts])
            require_decided(self.seen.resource_metadata)
            raise Inapplicable("no authorization server metadata")
        return tuple(found)

    @property
    def advertised(self) -> tuple[AuthorizationServer, ...]:
        """The authorization servers that the resource metadata names; Inapplicable or Undecided without any."""
        servers = tuple(one for one in self.seen.authorization_servers if one.layout != LEGACY_LAYOUT)
        if not servers:
            require_decided(self.seen.resource_metadata)
            raise Inapplicable("no authorization server is named")
        return servers


def require_decided(attempts: Sequence[MetadataAttempt]) -> None:
    """Raise Undecided when a request is inconclusive, because its document may exist."""
    for attempt in attempts:
        if attempt.unclear:
            raise Undecided(attempt.unclear)


def is_loopback(address: str) -> bool:
    """Whether an address is a loopback address, where encryption is not needed."""
    return _LOOPBACK.match(address) is not None


__all__ = ["Access", "AccessClass", "is_loopback", "require_decided"]
