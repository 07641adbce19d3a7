"""Failures of network requests, each with the Reason under which it is recorded and a detail equal on every run."""

from __future__ import annotations

from typing import ClassVar, Self

from evidence.model import Absent, Reason


class WireFailure(Exception):
    """A request failed. `detail` contains no id, time or address, so that it can be evidence."""

    reason: Reason = Reason.UNREACHABLE
    transient: ClassVar[bool] = False  # True: a second attempt may succeed
    connected: bool = True  # False: the host was not reached, so that another request is pointless

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail

    def without_traceback(self) -> Self:
        """Return this exception without cause and traceback, whose frames would keep whole bodies in memory."""
        self.__cause__ = self.__context__ = None
        return self.with_traceback(None)

    def blame_collector(self) -> None:
        """Record this failure as one of this machine, which had no network."""
        if self.reason is not Reason.COLLECTOR_OFFLINE:
            self.reason, self.detail = Reason.COLLECTOR_OFFLINE, f"this machine was offline: {self.detail}"

    def absent(self) -> Absent:
        """This failure as a reason why evidence is missing."""
        return Absent(self.reason, self.detail)


class BlockedAddress(WireFailure):
    """The address guard forbids an address of the host name, or the port of the URL."""

    reason = Reason.BLOCKED_ADDRESS
    connected = False


class InvalidTarget(WireFailure):
    """The URL or a header is invalid and cannot be sent."""

    reason = Reason.INVALID_REGISTRATION
    connected = False


class Unreachable(WireFailure):
    """The name does not exist, or the connection was refused, reset or closed before the response was complete."""

    transient = True

    def __init__(self, detail: str, *, connected: bool = False) -> None:
        super().__init__(detail)
        self.connected = connected


class TlsFailure(WireFailure):
    """The TLS handshake failed, most often because of the certificate."""

    reason = Reason.TLS_ERROR
    connected = False


class TimedOut(WireFailure):
    """A deadline passed."""

    reason = Reason.TIMEOUT
    transient = True

    def __init__(self, detail: str, *, connected: bool = True) -> None:
        super().__init__(detail)
        self.connected = connected


class TooLarge(WireFailure):
    """The response has more bytes or deeper nesting than the limits allow."""

    reason = Reason.TOO_LARGE


class Malformed(WireFailure):
    """The bytes are not valid HTTP, gzip, JSON or framing."""

    reason = Reason.NOT_MCP


class UnsupportedEncoding(WireFailure):
    """The body has a content encoding that was not offered. It is not decoded."""

    reason = Reason.TRANSPORT_UNSUPPORTED


class BudgetSpent(WireFailure):
    """The probe sent as many requests, or took as much time, as it is allowed."""

    reason = Reason.NOT_COLLECTED
