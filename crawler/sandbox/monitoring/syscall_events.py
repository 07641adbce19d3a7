"""Turns held system calls into facts about the behaviour of a server, by reading its memory.

These facts decide nothing about the calls. The server can change its memory before the kernel reads it, so a fact may
be false; only the box and its filter restrict the server.
"""

from __future__ import annotations

import ipaddress
import os
import re
import struct
from collections.abc import Sequence
from typing import Final, Protocol, TypeVar

from msgspec import Struct, field

from crawler.secret_masking import mask_tail
from evidence.kinds.behaviour import MAX_ENTRIES, MAX_LENGTH, Behaviour, Contact, Decoy, build_behaviour

AT_FDCWD: Final = -100
COMMAND_FOLDERS: Final = ("/usr/bin", "/bin", "/usr/local/bin", "/usr/sbin", "/sbin", "/opt/python/bin")
# Writable folders: writes there are not recorded, and their file names are often random.
SCRATCH: Final = ("/tmp", "/dev/shm")  # noqa: S108
IGNORED_DEVICES: Final = ("/dev/null", "/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd")
RESOLVER: Final = 53
NAME_SERVICE: Final = "/var/run/nscd/socket"  # the C library contacts it before the resolver
FIRST_EPHEMERAL_PORT: Final = 32768  # net.ipv4.ip_local_port_range begins here
_SOCKADDR: Final = 128
_PATH: Final = 4096
_PAGE: Final = 4096
_DATAGRAM: Final = 512
_MESSAGES: Final = 8
_HEX: Final = "[0-9a-fA-F]"
# The longest pattern first: decimal digits within a hexadecimal name are not a separate number.
_VARIABLE_PARTS: Final = re.compile(
    rf"(?<=/)\d+(?=/|$)|(?<!{_HEX})(?:{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}|{_HEX}{{12,}})(?!{_HEX})|\d{{5,}}"
)
_HOST: Final = re.compile(r"[a-z0-9_*](?:[a-z0-9_.*-]{0,251}[a-z0-9_*])?", re.ASCII)

T = TypeVar("T")


class Caller(Protocol):
    """The process of a held call."""

    def memory(self, address: int, size: int) -> bytes:
        """At most `size` bytes at `address`; raises OSError for an invalid address."""
        ...

    def link(self, name: str) -> str: ...


class SyscallEvents(Struct):
    """The recorded behaviour of one box, limited to twice the number of entries that evidence keeps."""

    contacts: set[Contact] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    programs: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    cut: bool = False

    def record_call(self, call: str, arguments: Sequence[int], caller: Caller) -> None:
        """Record one call by its name. Invalid calls are ignored; unreadable memory sets `cut`."""
        try:
            self._record(call, arguments, caller)
        except PermissionError:
            self.cut = True
        except (OSError, struct.error, ValueError):
            return

    def to_behaviour(self, decoys: Sequence[Decoy] | None) -> Behaviour:
        """The recorded behaviour and the touched decoys; None: the decoys could not be monitored."""
        return build_behaviour(
            contacts=self.contacts,
            names=self.names,
            programs=self.programs,
            writes=self.writes,
            decoys=decoys,
            cut=self.cut,
        )

    def _record(self, call: str, arguments: Sequence[int], caller: Caller) -> None:
        first, second, third, *_ = arguments
        match call:
            case "connect":
                self._contact(_address(caller, second, third))
            case "sendto":
                port = self._contact(_address(caller, arguments[4], arguments[5])) if arguments[4] else RESOLVER
                if port == RESOLVER:
                    self._question(caller.memory(second, min(third, _DATAGRAM)))
            case "sendmsg":
                self._message(caller.memory(second, 32), caller)
            case "sendmmsg":
                for number in range(min(third, _MESSAGES)):
                    self._message(caller.memory(second + 64 * number, 32), caller)
            case "execve":
                self._add(self.programs, _program(_string(caller, first)))
            case "execveat":
                self._add(self.programs, _program(_string(caller, second)))
            case "creat" | "open":
                self._write(_place(caller, AT_FDCWD, first))
            case _:
                self._write(_place(caller, _signed(first), second))

    def _message(self, header: bytes, caller: Caller) -> None:
        """One struct msghdr: name, length of the name, vectors, their number."""
        name, length, vectors, count = struct.unpack("<QI4xQQ", header)
        port = self._contact(_address(caller, name, length)) if name else RESOLVER
        if port == RESOLVER and count:
            base, size = struct.unpack("<QQ", caller.memory(vectors, 16))
            self._question(caller.memory(base, min(size, _DATAGRAM)))

    def _contact(self, found: Contact | None) -> int | None:
        """Record a contact and return its port. The resolver is not a contact; its queries are recorded instead."""
        if found is None or found.to == NAME_SERVICE:
            return None
        if found.port not in {0, RESOLVER} or not _is_loopback(found.to):  # connecting to port 0 only queries a route
            port = None if found.port and found.port >= FIRST_EPHEMERAL_PORT and _is_loopback(found.to) else found.port
            if port != 0:
                self._add(self.contacts, Contact(found.to, port))
        return found.port

    def _question(self, datagram: bytes) -> None:
        name = parse_dns_question(datagram)
        if name:
            self._add(self.names, name)

    def _write(self, place: str) -> None:
        if not any(place == one or place.startswith(f"{one}/") for one in (*SCRATCH, *IGNORED_DEVICES)):
            self._add(self.writes, clean_text(place))

    def _add(self, found: set[T], one: T) -> None:
        if len(found) < 2 * MAX_ENTRIES:
            found.add(one)
        else:
            self.cut = self.cut or one not in found


def parse_dns_question(datagram: bytes) -> str:
    """The name in a DNS query; empty if the datagram is not a query (RFC 1035, section 4.1)."""
    if len(datagram) < 17:
        return ""
    _, flags, questions, *_ = struct.unpack(">6H", datagram[:12])
    if flags & 0xF800 or questions != 1:
        return ""
    labels, at = [], 12
    while at < len(datagram) and (length := datagram[at]):
        labels.append(datagram[at + 1 : at + 1 + length].decode("ascii", "replace"))
        at += 1 + length
        if length > 63 or at > 12 + 255:
            return ""
    name = _VARIABLE_PARTS.sub("*", ".".join(labels).lower())
    return name if at < len(datagram) and _HOST.fullmatch(name) else ""


def clean_text(text: str) -> str:
    """A server's text as evidence: on one line, without secrets and without parts that differ between starts."""
    plain = "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in text[:_PATH])
    return mask_tail(_VARIABLE_PARTS.sub("*", plain), _PATH)[:MAX_LENGTH]


def _program(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return clean_text(name if folder in COMMAND_FOLDERS else path)


def _place(caller: Caller, folder: int, address: int) -> str:
    path = _string(caller, address)
    if not path.startswith("/"):
        path = f"{caller.link('cwd' if folder == AT_FDCWD else f'fd/{folder}')}/{path}"
    return "/" + os.path.normpath(path).lstrip("/")


def _address(caller: Caller, address: int, length: int) -> Contact | None:
    found = caller.memory(address, min(length, _SOCKADDR))
    family = struct.unpack_from("<H", found)[0] if len(found) >= 2 else 0
    if family == 1:
        return Contact(_socket(found[2:])) if len(found) > 2 else None
    if family == 2:
        return Contact(str(ipaddress.IPv4Address(found[4:8])), struct.unpack_from(">H", found, 2)[0])
    if family == 10:
        six = ipaddress.IPv6Address(found[8:24])
        return Contact(str(six.ipv4_mapped or six), struct.unpack_from(">H", found, 2)[0])
    return None


def _socket(name: bytes) -> str:
    abstract = name.startswith(b"\0")
    raw = name[1:] if abstract else name.partition(b"\0")[0]
    return ("@" if abstract else "") + clean_text(raw.rstrip(b"\0").decode("utf-8", "replace"))


def _is_loopback(address: str) -> bool:
    return address == "::1" or address.startswith("127.")


def _string(caller: Caller, address: int) -> str:
    found = bytearray()
    while b"\0" not in found and len(found) < _PATH:
        more = caller.memory(address + len(found), _PAGE - (address + len(found)) % _PAGE)
        if not more:
            break
        found += more
    return bytes(found).partition(b"\0")[0].decode("utf-8", "replace")


def _signed(argument: int) -> int:
    return int(struct.unpack("<i", struct.pack("<I", argument & 0xFFFFFFFF))[0])
