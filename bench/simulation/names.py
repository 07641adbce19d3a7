"""The name server of the simulation: it resolves only the simulated hosts."""

from __future__ import annotations

import asyncio
import ipaddress
import struct
from collections.abc import Callable
from typing import Any, Final

_A: Final = 1
_ANSWERED: Final = 0x8180
_NO_SUCH_NAME: Final = 0x8183
_HEADER: Final = struct.Struct("!6H")
_TTL: Final = 60


class NameServer(asyncio.DatagramProtocol):
    """Answers DNS questions over UDP; `address_of` maps a name to its address or None."""

    def __init__(self, address_of: Callable[[str], str | None]) -> None:
        self._address_of = address_of

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        if answer := respond(data, self._address_of):
            self._transport.sendto(answer, addr)


def respond(question: bytes, address_of: Callable[[str], str | None]) -> bytes | None:
    """The answer to one question (RFC 1035, 4.1); None for an invalid question."""
    try:
        name, end = _name(question)
        number, kind = _HEADER.unpack_from(question)[0], struct.unpack_from("!H", question, end)[0]
    except (IndexError, struct.error, UnicodeDecodeError):
        return None
    address = address_of(name)
    asked = question[_HEADER.size : end + 4]
    if address is None:
        return _HEADER.pack(number, _NO_SUCH_NAME, 1, 0, 0, 0) + asked
    if kind != _A:
        return _HEADER.pack(number, _ANSWERED, 1, 0, 0, 0) + asked
    record = struct.pack("!HHHIH", 0xC00C, _A, 1, _TTL, 4) + ipaddress.IPv4Address(address).packed
    return _HEADER.pack(number, _ANSWERED, 1, 1, 0, 0) + asked + record


def _name(question: bytes) -> tuple[str, int]:
    """The requested name and its end."""
    labels, at = [], _HEADER.size
    while length := question[at]:
        labels.append(question[at + 1 : at + 1 + length].decode("ascii"))
        at += length + 1
    return ".".join(labels), at + 1
