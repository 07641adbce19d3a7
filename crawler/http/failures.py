"""What can go wrong on the wire, each with the Reason it is recorded under and a detail that is stable between runs."""

from __future__ import annotations

from typing import ClassVar, Self

from evidence.model import Absent, Reason


class WireFailure(Exception):
    """The world failed. `detail` names no id, time or address, so that it can be evidence."""

    reason: ClassVar[Reason] = Reason.UNREACHABLE
    passing: ClassVar[bool] = False  # likely gone on a second try
    connected: bool = True  # False: the host was not reached, so that another question is pointless

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail

    def bare(self) -> Self:
        """Itself, without the frames it came through, which would keep whole bodies in memory."""
        self.__cause__ = self.__context__ = None
        return self.with_traceback(None)

    def absent(self) -> Absent:
        """The failure as evidence."""
        return Absent(self.reason, self.detail)


class BlockedAddress(WireFailure):
    """The name leads to an address, or the URL to a port, that the guard does not open."""

    reason = Reason.BLOCKED_ADDRESS
    connected = False


class InvalidTarget(WireFailure):
    """The URL or a header cannot be sent as it is written."""

    reason = Reason.INVALID_REGISTRATION
    connected = False


class Unreachable(WireFailure):
    """No such name, refused, reset, or closed before the answer was complete."""

    passing = True

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
    passing = True

    def __init__(self, detail: str, *, connected: bool = True) -> None:
        super().__init__(detail)
        self.connected = connected


class TooLarge(WireFailure):
    """More bytes, or deeper nesting, than the probe reads."""

    reason = Reason.TOO_LARGE


class Malformed(WireFailure):
    """The bytes are not HTTP, not gzip, or not what the framing promises."""

    reason = Reason.NOT_MCP


class UnsupportedEncoding(WireFailure):
    """The body has a content encoding that was not offered and is never inflated."""

    reason = Reason.TRANSPORT_UNSUPPORTED


class BudgetSpent(WireFailure):
    """The probe asked as many questions as it allows itself."""

    reason = Reason.NOT_COLLECTED
