"""TLS sessions of hosts that are connected to again, so that later handshakes cost less on both sides (RFC 8446, 2.2).

Most hosts of a night are met once, and to copy a session costs as much as a resumed handshake saves. So a session is
kept from the second handshake on: for the fresh connections of a full probe, and for hosts with many servers.

Python's `ssl` copies the session for each connection that offers it. pyOpenSSL does not, but a probe took a seventh
more CPU with it.
"""

from __future__ import annotations

import ssl
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from crawler.http.url import Origin

_HOSTS: Final = 4096
_SECONDS: Final = 3600.0  # in which a host's certificate is verified again


class _Host(Struct):
    verified: float
    handshakes: int = 1
    is_settled: bool = False  # whether a session was looked for
    session: ssl.SSLSession | None = None


class TlsSessions:
    """The last session per origin, of connections that verified the certificate at most an hour ago."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._hosts: OrderedDict[Origin, _Host] = OrderedDict()

    def find(self, origin: Origin) -> ssl.SSLSession | None:
        """The session to offer to an origin, if one is kept."""
        host = self._hosts.get(origin)
        if host is not None and self._clock() - host.verified > _SECONDS:
            del self._hosts[origin]
            return None
        return host.session if host else None

    def withhold(self, origin: Origin) -> None:
        """Offer no session to an origin within the hour."""
        if (host := self._hosts.get(origin)) is not None:  # it may be forgotten meanwhile
            host.is_settled, host.session = True, None

    def record_handshake(self, origin: Origin) -> None:
        """Count a handshake in which the certificate was verified."""
        host = self._hosts.get(origin)
        if host is not None:
            host.handshakes += 1
            return
        self._hosts[origin] = _Host(self._clock())
        if len(self._hosts) > _HOSTS:
            self._hosts.popitem(last=False)

    def keep(self, origin: Origin, tls: ssl.SSLObject) -> None:
        """Keep the session of a connection that received an answer: servers send tickets after the handshake."""
        host = self._hosts.get(origin)
        if host is None or host.is_settled or host.handshakes < 2:
            return
        host.is_settled = True
        session = tls.session
        host.session = session if session and (session.has_ticket or session.id) else None


class ResumingContext:
    """Stands for a TLS context whose handshake offers a session. Event loops only call `wrap_bio` of a context."""

    def __init__(self, context: ssl.SSLContext, session: ssl.SSLSession) -> None:
        self._context = context
        self._session = session

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
    ) -> ssl.SSLObject:
        return self._context.wrap_bio(incoming, outgoing, server_side, server_hostname, self._session)
