"""The allowed system calls as a JSON profile for container engines: the same list as for bubblewrap.

https://docs.docker.com/engine/security/seccomp/. Entries of one call are alternatives; the conditions of one entry all
have to hold, and each may only ask about another argument.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from crawler.sandbox.kernel import seccomp_filter, syscalls
from evidence.canonical import Json

MACHINES = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}
SOCKET_OPTIONS, TCP_OPTIONS = range(1, 84), range(1, 46)  # asm-generic/socket.h, linux/tcp.h


def build_profile(machine: str) -> dict[str, Json]:
    """The profile for `machine` (`x86_64` or `aarch64`)."""
    if machine not in MACHINES:
        raise seccomp_filter.UnsupportedMachineError(f"no system call table for {machine}; x86_64 and aarch64 have one")
    rules: list[Json] = [_rule(_names(syscalls.ALLOWED, machine))]
    rules.append(_rule(_names(syscalls.REPLACED, machine), refused=errno.ENOSYS))
    rules.append(_rule(_names(syscalls.WITHOUT_EFFECT, machine), refused=0))
    for call, conditions in _restricted_calls():
        rules.append(_rule(_names([call], machine), conditions))
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": errno.EPERM,
        "architectures": [MACHINES[machine]],
        "syscalls": rules,
    }


def _names(calls: Iterable[syscalls.Syscall], machine: str) -> list[str]:
    return [call.name for call in calls if call.number(machine) is not None]


def _restricted_calls() -> Iterator[tuple[syscalls.Syscall, list[Json]]]:
    yield syscalls.CLONE, [_masked(0, seccomp_filter.NEW_NAMESPACE, 0)]
    judged = seccomp_filter.SHARED_ANONYMOUS | seccomp_filter.GROWS_DOWN
    # Neither, shared, or anonymous: never both, and never growing down.
    for bits in (0, 1, seccomp_filter.SHARED_ANONYMOUS & ~1):
        yield syscalls.MMAP, [_masked(3, judged, bits)]
    for command in seccomp_filter.FCNTLS:
        yield syscalls.FCNTL, [_equal(1, command)]
    for advice in seccomp_filter.MADVICES:
        yield syscalls.MADVISE, [_equal(2, advice)]
    yield syscalls.PREADV2, [_masked(5, seccomp_filter.RWF_NOWAIT, 0)]
    for command in seccomp_filter.IOCTLS:
        yield syscalls.IOCTL, [_equal(1, command)]
    for command in seccomp_filter.PRCTLS:
        yield syscalls.PRCTL, [_equal(0, command)]
    known = list(product(seccomp_filter.FAMILIES, seccomp_filter.SOCKET_TYPES, seccomp_filter.PROTOCOLS))
    route = list(product((seccomp_filter.ROUTE_FAMILY,), seccomp_filter.ROUTE_TYPES, seccomp_filter.ROUTE_PROTOCOLS))
    for call, sockets in ((syscalls.SOCKET, [*known, *route]), (syscalls.SOCKETPAIR, known)):
        for family, kind, protocol in sockets:
            yield call, [_equal(0, family), _masked(1, seccomp_filter.SOCKET_TYPE_MASK, kind), _equal(2, protocol)]
    for level in seccomp_filter.SOCKET_LEVELS:
        yield syscalls.SETSOCKOPT, [_equal(1, level)]
    yield from _options(seccomp_filter.SOL_SOCKET, SOCKET_OPTIONS, seccomp_filter.SOCKET_PROGRAMS)
    yield from _options(seccomp_filter.SOL_TCP, TCP_OPTIONS, seccomp_filter.TCP_KERNEL_CODE)


def _options(level: int, known: Iterable[int], refused: Sequence[int]) -> Iterator[tuple[syscalls.Syscall, list[Json]]]:
    for option in known:
        if option not in refused:
            yield syscalls.SETSOCKOPT, [_equal(1, level), _equal(2, option)]


def _rule(names: Sequence[str], conditions: Sequence[Json] = (), *, refused: int | None = None) -> Json:
    if refused is not None:
        return {"names": list(names), "action": "SCMP_ACT_ERRNO", "errnoRet": refused}
    return {"names": list(names), "action": "SCMP_ACT_ALLOW", "args": list(conditions)}


def _equal(index: int, value: int) -> Json:
    return {"index": index, "value": value, "op": "SCMP_CMP_EQ"}


def _masked(index: int, mask: int, value: int) -> Json:
    return {"index": index, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
