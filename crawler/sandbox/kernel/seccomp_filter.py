"""Assembles the seccomp filter for the allowed system calls as classic BPF, without libseccomp."""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Iterator
from functools import cache

from msgspec import Struct

from crawler.sandbox.kernel import syscalls

# linux/bpf_common.h and linux/seccomp.h
LOAD_WORD = 0x20  # BPF_LD | BPF_W | BPF_ABS
JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
JUMP_GREATER = 0x25  # BPF_JMP | BPF_JGT | BPF_K
JUMP_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K
ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
ERRNO = 0x00050000

# struct seccomp_data: nr at 0, arch at 4, instruction pointer at 8, six 64-bit arguments from 16.
NUMBER, ARCH = 0, 4
ARGUMENTS = 16

X32_BIT = 0x40000000
# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET: no new namespace.
NEW_NAMESPACE = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
SHARED_ANONYMOUS = 0x01 | 0x20  # MAP_SHARED | MAP_ANONYMOUS is memory that RLIMIT_DATA does not count.
GROWS_DOWN = 0x100  # MAP_GROWSDOWN: counted as stack, so RLIMIT_DATA does not count it either
FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6
SOCKET_TYPES = (1, 2, 5)  # SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET
SOCKET_TYPE_MASK = 0xF  # the rest are SOCK_NONBLOCK and SOCK_CLOEXEC
PROTOCOLS = (0, 6, 17)  # the default, TCP and UDP: neither SCTP, DCCP, MPTCP nor ICMP
# How libraries ask which interfaces there are (getifaddrs, Node at its start): AF_NETLINK, SOCK_DGRAM or SOCK_RAW, and
# NETLINK_ROUTE alone (docs/decisions/0035).
ROUTE_FAMILY, ROUTE_TYPES, ROUTE_PROTOCOLS = 16, (2, 3), (0,)
# Terminals as libc and libuv ask for them, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, FIOASYNC, and reading (never setting)
# what the network interfaces are: SIOCGIFNAME, -CONF, -FLAGS, -ADDR, -BRDADDR, -NETMASK, -MTU, -HWADDR, -INDEX.
IOCTLS = (
    0x5401, 0x5402, 0x5403, 0x5404, 0x540F, 0x5410, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x5452,
    0x8910, 0x8912, 0x8913, 0x8915, 0x8919, 0x891B, 0x8921, 0x8927, 0x8933,
)  # fmt: skip
# PR_ SET/GET_PDEATHSIG, _DUMPABLE, _NAME, GET_SECCOMP, CAPBSET_READ, GET_SECUREBITS, SET/GET_TIMERSLACK,
# _CHILD_SUBREAPER, _NO_NEW_PRIVS, _THP_DISABLE, CAP_AMBIENT, and SET_VMA with which V8 names its memory.
PRCTLS = (1, 2, 3, 4, 15, 16, 21, 23, 27, 29, 30, 36, 37, 38, 39, 41, 42, 47, 0x53564D41)
# F_DUPFD, _GETFD, _SETFD, _GETFL, _SETFL, _GETLK, _SETLK, _SETLKW, _SETOWN, _GETOWN, _SETSIG, _GETSIG, _SETOWN_EX,
# _GETOWN_EX, OFD_GETLK, OFD_SETLK, OFD_SETLKW, GETLEASE, DUPFD_CLOEXEC, GETPIPE_SZ, GET_SEALS. Without F_SETLEASE and
# F_NOTIFY, which delay and observe others who open a file, and F_SETPIPE_SZ, whose pages are counted per user.
FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 15, 16, 36, 37, 38, 1025, 1030, 1032, 1034)
# MADV_ NORMAL to DONTNEED, FREE, REMOVE, DONTFORK, DOFORK, HUGEPAGE to KEEPONFORK, POPULATE_*, DONTNEED_LOCKED, GUARD.
# Not MERGEABLE, which shows what others have in memory, and COLD, PAGEOUT and COLLAPSE, which move pages of files.
MADVICES = (0, 1, 2, 3, 4, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19, 22, 23, 24, 102, 103)
RWF_NOWAIT = 8  # fails where a file's page is not in memory, and so shows what others have read
# At its value of 1 no crash reaches the host's own handler, which a pipe in core_pattern starts even at 0 (core(5)).
CORE = 4
SOL_SOCKET, SOL_TCP = 1, 6
SOCKET_LEVELS = (0, 17, 41)  # IP, UDP, IPv6: never the packet filter's, ALG's or TLS's
SOCKET_PROGRAMS = (26, 27, 50, 51, 52)  # SO_ATTACH_FILTER, SO_DETACH_FILTER, SO_ATTACH_BPF and REUSEPORT's two
TCP_KERNEL_CODE = (19, 31)  # TCP_REPAIR, TCP_ULP


class UnsupportedMachineError(Exception):
    """There is no system call table for this machine."""


class Instruction(Struct, frozen=True):
    """One struct sock_filter."""

    code: int
    k: int
    if_true: int = 0
    if_false: int = 0

    def encode(self) -> bytes:
        """The instruction in the kernel's format on a little-endian machine."""
        return struct.pack("<HBBI", self.code, self.if_true, self.if_false, self.k)


@cache
def filter_program(machine: str) -> bytes:
    """The filter for `machine` (`x86_64` or `aarch64`), for bubblewrap's --seccomp."""
    return b"".join(instruction.encode() for instruction in assemble_filter(machine))


def assemble_filter(machine: str) -> list[Instruction]:
    """The instructions of the filter: refuse calls that are not allowed, kill processes of other architectures."""
    if machine not in syscalls.AUDIT_ARCH:
        raise UnsupportedMachineError(f"no system call table for {machine}; x86_64 and aarch64 have one")
    code = [
        Instruction(LOAD_WORD, ARCH),
        Instruction(JUMP_EQUAL, syscalls.AUDIT_ARCH[machine], if_true=1),
        Instruction(RETURN, KILL_PROCESS),
        Instruction(LOAD_WORD, NUMBER),
    ]
    if machine == "x86_64":  # the x32 table is a second entry to the same calls
        code += _when(JUMP_GREATER, X32_BIT - 1, return_errno(errno.EPERM))
    code += _when(JUMP_GREATER, syscalls.NEWEST_REVIEWED, return_errno(errno.ENOSYS))
    for call in syscalls.REPLACED:
        code += _on(call, machine, [return_errno(errno.ENOSYS)])
    for call in syscalls.WITHOUT_EFFECT:
        code += _on(call, machine, [return_errno(0)])
    for call, body in _restricted_calls():
        code += _on(call, machine, body)
    for low, high in find_ranges(call.number(machine) for call in syscalls.ALLOWED):
        code += [Instruction(JUMP_AT_LEAST, low, if_true=1), return_errno(errno.EPERM)]
        code += _when(JUMP_GREATER, high, ALLOWED, otherwise=True)
    return [*code, return_errno(errno.EPERM)]


def find_ranges(numbers: Iterable[int | None]) -> list[tuple[int, int]]:
    """Ranges of consecutive numbers as (first, last), in ascending order."""
    found: list[tuple[int, int]] = []
    for number in sorted({number for number in numbers if number is not None}):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def return_errno(number: int) -> Instruction:
    """The instruction that fails the call with the errno `number`."""
    return Instruction(RETURN, ERRNO | number)


ALLOWED = Instruction(RETURN, ALLOW)


def _restricted_calls() -> Iterator[tuple[syscalls.Syscall, list[Instruction]]]:
    denied = return_errno(errno.EPERM)
    unknown = return_errno(errno.EINVAL)  # what kernels answer that do not have a command
    yield syscalls.CLONE, [*_any_bit(0, NEW_NAMESPACE, denied), ALLOWED]
    yield syscalls.FCNTL, [*_none_of(1, FCNTLS, unknown), ALLOWED]
    yield syscalls.MADVISE, [*_none_of(2, MADVICES, unknown), ALLOWED]
    yield syscalls.PREADV2, [*_any_bit(5, RWF_NOWAIT, return_errno(errno.EOPNOTSUPP)), ALLOWED]
    mapping = [*_all_bits(3, SHARED_ANONYMOUS, return_errno(errno.ENOMEM)), *_any_bit(3, GROWS_DOWN, denied)]
    yield syscalls.MMAP, [*mapping, ALLOWED]
    yield syscalls.IOCTL, [*_none_of(1, IOCTLS, denied), ALLOWED]
    yield syscalls.PRCTL, [*_none_of(0, PRCTLS, denied), ALLOWED]
    yield syscalls.SETRLIMIT, [*_one_of(0, (CORE,), denied), ALLOWED]
    yield syscalls.PRLIMIT, [*_one_of(1, (CORE,), denied), ALLOWED]
    known = [*_none_of(0, FAMILIES, return_errno(errno.EAFNOSUPPORT)), *_kinds(SOCKET_TYPES, PROTOCOLS)]
    route = _kinds(ROUTE_TYPES, ROUTE_PROTOCOLS)
    yield syscalls.SOCKET, [_argument(0), Instruction(JUMP_EQUAL, ROUTE_FAMILY, if_false=len(route)), *route, *known]
    yield syscalls.SOCKETPAIR, known
    yield syscalls.SETSOCKOPT, _options()


def _kinds(types: tuple[int, ...], protocols: tuple[int, ...]) -> list[Instruction]:
    """socket(family, type, protocol): allow these types, with any flags, and these protocols of one family."""
    kind = _none_of(1, types, return_errno(errno.EPERM), mask=SOCKET_TYPE_MASK)
    return [*kind, *_none_of(2, protocols, return_errno(errno.EPROTONOSUPPORT)), ALLOWED]


def _options() -> list[Instruction]:
    """setsockopt(descriptor, level, option): refuse BPF programs and in-kernel protocols."""
    denied = return_errno(errno.EPERM)
    own = [*_one_of(2, SOCKET_PROGRAMS, denied), ALLOWED]
    tcp = [*_one_of(2, TCP_KERNEL_CODE, denied), ALLOWED]
    code = [_argument(1), Instruction(JUMP_EQUAL, SOL_SOCKET, if_false=len(own)), *own]
    code += [Instruction(JUMP_EQUAL, SOL_TCP, if_false=len(tcp)), *tcp]
    return [*code, *_none_of(1, SOCKET_LEVELS, denied), ALLOWED]


def _on(call: syscalls.Syscall, machine: str, body: list[Instruction]) -> list[Instruction]:
    """Run `body` for `call`. A body ends in a return; if it is skipped, the accumulator still has the call number."""
    number = call.number(machine)
    return [] if number is None else [Instruction(JUMP_EQUAL, number, if_false=len(body)), *body]


def _when(jump: int, k: int, then: Instruction, *, otherwise: bool = False) -> list[Instruction]:
    return [Instruction(jump, k, if_true=1) if otherwise else Instruction(jump, k, if_false=1), then]


def _argument(index: int) -> Instruction:
    # The kernel truncates every argument judged here to 32 bits (or its flags live there), so the low word decides.
    return Instruction(LOAD_WORD, ARGUMENTS + 8 * index)


def _any_bit(index: int, mask: int, then: Instruction) -> list[Instruction]:
    return [_argument(index), Instruction(AND, mask), *_when(JUMP_EQUAL, 0, then, otherwise=True)]


def _all_bits(index: int, mask: int, then: Instruction) -> list[Instruction]:
    return [_argument(index), Instruction(AND, mask), *_when(JUMP_EQUAL, mask, then)]


def _one_of(index: int, values: tuple[int, ...], then: Instruction) -> list[Instruction]:
    return [_argument(index), *(step for value in values for step in _when(JUMP_EQUAL, value, then))]


def _none_of(index: int, values: tuple[int, ...], then: Instruction, *, mask: int | None = None) -> list[Instruction]:
    """`then` unless the argument is one of `values`: each match jumps over the remaining tests and `then`."""
    tests = [Instruction(JUMP_EQUAL, value, if_true=len(values) - at) for at, value in enumerate(values)]
    return [_argument(index), *([] if mask is None else [Instruction(AND, mask)]), *tests, then]
