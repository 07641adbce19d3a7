"""Seccomp user notifications: a filter that holds some calls until we have read them; receiving and answering calls.

This filter cannot allow a call that the allow-list refuses: the kernel applies the strictest result of all filters.
When we die, held calls fail, including `execve`: a box without supervisor cannot start anything.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
from functools import cache
from typing import Final

from msgspec import Struct

from crawler.sandbox.kernel import seccomp_filter, syscalls
from crawler.sandbox.kernel.seccomp_filter import Instruction
from crawler.sandbox.kernel.syscalls import Syscall

# linux/seccomp.h
HOLD = 0x7FC00000  # SECCOMP_RET_USER_NOTIF
NEW_LISTENER = 1 << 3
CONTINUE = 1
RECEIVE, ANSWER, STILL_HELD = 0xC0502100, 0xC0182101, 0x40082102  # SECCOMP_IOCTL_NOTIF_RECV, _SEND, _ID_VALID
_NOTICE = struct.Struct("<QIIiIQ6Q")
_REPLY = struct.Struct("<QqiI")
WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

MONITORED_CALLS: Final = (
    Syscall("connect", 42, 203),
    Syscall("sendto", 44, 206),
    Syscall("sendmsg", 46, 211),
    Syscall("sendmmsg", 307, 269),
    Syscall("execve", 59, 221),
    Syscall("execveat", 322, 281),
    Syscall("openat", 257, 56),
    Syscall("open", 2, None),
    Syscall("creat", 85, None),
    Syscall("setsid", 112, 157),
)
MIN_QUERY_BYTES, MAX_QUERY_BYTES = 17, 512  # bytes of a DNS query in a datagram


class HeldCall(Struct, frozen=True):
    """A held call: notification id, pid of the process on the host, number of the system call, its six arguments."""

    number: int
    pid: int
    call: int
    arguments: tuple[int, ...]


@cache
def notification_program(machine: str) -> bytes:
    """The filter for `machine` (`x86_64` or `aarch64`), in the kernel's format."""
    return b"".join(each.encode() for each in assemble_notification_filter(machine))


def assemble_notification_filter(machine: str) -> list[Instruction]:
    """The filter that holds the monitored calls: opens only for writing, sends only with an address or a DNS query."""
    hold, go = Instruction(seccomp_filter.RETURN, HOLD), seccomp_filter.ALLOWED
    code = [
        Instruction(seccomp_filter.LOAD_WORD, seccomp_filter.ARCH),
        Instruction(seccomp_filter.JUMP_EQUAL, syscalls.AUDIT_ARCH[machine], if_true=1),
        go,  # the allow-list kills those
        Instruction(seccomp_filter.LOAD_WORD, seccomp_filter.NUMBER),
    ]
    bodies = {"open": _if_writing(1), "openat": _if_writing(2), "sendto": _if_named()}
    for call in MONITORED_CALLS:
        number = call.number(machine)
        if number is not None:
            body = bodies.get(call.name, [hold])
            code += [Instruction(seccomp_filter.JUMP_EQUAL, number, if_false=len(body)), *body]
    return [*code, go]


def _if_writing(index: int) -> list[Instruction]:
    load = Instruction(seccomp_filter.LOAD_WORD, seccomp_filter.ARGUMENTS + 8 * index)
    tested = [load, Instruction(seccomp_filter.AND, WRITING), Instruction(seccomp_filter.JUMP_EQUAL, 0, if_true=1)]
    return [*tested, Instruction(seccomp_filter.RETURN, HOLD), seccomp_filter.ALLOWED]


def _if_named() -> list[Instruction]:
    """sendto with an address, or without one and with the length of a DNS query; not the wake-up of a thread."""
    low, high = (Instruction(seccomp_filter.LOAD_WORD, seccomp_filter.ARGUMENTS + 8 * 4 + half) for half in (0, 4))
    length = Instruction(seccomp_filter.LOAD_WORD, seccomp_filter.ARGUMENTS + 8 * 2)
    return [
        low, Instruction(seccomp_filter.JUMP_EQUAL, 0, if_false=5),
        high, Instruction(seccomp_filter.JUMP_EQUAL, 0, if_false=3),
        length, Instruction(seccomp_filter.JUMP_AT_LEAST, MIN_QUERY_BYTES, if_false=2),
        Instruction(seccomp_filter.JUMP_GREATER, MAX_QUERY_BYTES, if_true=1),
        Instruction(seccomp_filter.RETURN, HOLD), seccomp_filter.ALLOWED,
    ]  # fmt: skip


def wait_for_call(listener: int, milliseconds: int) -> bool:
    """Wait at most `milliseconds` for a held call; whether there is one."""
    return bool(_poll_events(listener, milliseconds) & select.POLLIN)


def has_no_process(listener: int) -> bool:
    """Whether all processes with this filter have ended."""
    return bool(_poll_events(listener, 0) & select.POLLHUP)


def receive_call(listener: int) -> HeldCall | None:
    """Receive one held call; None if its process has ended."""
    notice = bytearray(_NOTICE.size)
    try:
        fcntl.ioctl(listener, RECEIVE, notice)
    except OSError:
        return None
    number, pid, _, call, _, _, *arguments = _NOTICE.unpack(notice)
    return HeldCall(number, pid, call, tuple(arguments))


def is_call_held(listener: int, notice: HeldCall) -> bool:
    """Whether the call is still held, so that its pid is still the same process."""
    try:
        fcntl.ioctl(listener, STILL_HELD, struct.pack("<Q", notice.number))
    except OSError:
        return False
    return True


def continue_call(listener: int, notice: HeldCall) -> None:
    """Let a held call continue; no effect when its process has ended."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(listener, ANSWER, _REPLY.pack(notice.number, 0, 0, CONTINUE))


def refuse_call(listener: int, notice: HeldCall, number: int) -> None:
    """Fail a held call with the errno `number`; no effect when its process has ended."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(listener, ANSWER, _REPLY.pack(notice.number, 0, -number, 0))


def _poll_events(listener: int, milliseconds: int) -> int:
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    return next((events for _, events in poll.poll(milliseconds)), 0)
