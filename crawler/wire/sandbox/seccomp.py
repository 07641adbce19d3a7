"""The seccomp filter of the sandbox as classic BPF, assembled here so that no libseccomp is needed."""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from crawler.wire.sandbox import syscalls

# linux/bpf_common.h and linux/seccomp.h
LOAD_WORD = 0x20  # BPF_LD | BPF_W | BPF_ABS
JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
JUMP_GREATER = 0x25  # BPF_JMP | BPF_JGT | BPF_K
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
FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6
TERMINAL_INJECTION = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX


class UnsupportedMachineError(Exception):
    """There is no system call table for this machine."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One struct sock_filter."""

    code: int
    k: int
    if_true: int = 0
    if_false: int = 0

    def encode(self) -> bytes:
        """The instruction as the kernel reads it on a little-endian machine."""
        return struct.pack("<HBBI", self.code, self.if_true, self.if_false, self.k)


def program(machine: str) -> bytes:
    """The filter for `machine` (`x86_64` or `aarch64`), to be handed to bubblewrap's --seccomp."""
    return b"".join(instruction.encode() for instruction in assemble(machine))


def assemble(machine: str) -> list[Instruction]:
    """The filter's instructions: unknown architectures are killed, listed and unreviewed calls refused."""
    if machine not in syscalls.AUDIT_ARCH:
        raise UnsupportedMachineError(f"no system call table for {machine}; x86_64 and aarch64 have one")
    code = [
        Instruction(LOAD_WORD, ARCH),
        Instruction(JUMP_EQUAL, syscalls.AUDIT_ARCH[machine], if_true=1),
        Instruction(RETURN, KILL_PROCESS),
        Instruction(LOAD_WORD, NUMBER),
    ]
    if machine == "x86_64":  # the x32 table is a second door to the same calls
        code += _when(JUMP_GREATER, X32_BIT - 1, refuse(errno.EPERM))
    code += _when(JUMP_GREATER, syscalls.NEWEST_REVIEWED, refuse(errno.ENOSYS))
    for call in syscalls.DENIED:
        code += _on(call, machine, [refuse(errno.EPERM)])
    code += _on(syscalls.CLONE3, machine, [refuse(errno.ENOSYS)])  # its flags are in memory; libc falls back to clone
    for call, body in _judged():
        code += _on(call, machine, body)
    return [*code, Instruction(RETURN, ALLOW)]


def refuse(number: int) -> Instruction:
    """Return `number` as errno to the caller."""
    return Instruction(RETURN, ERRNO | number)


def _judged() -> Iterator[tuple[syscalls.Syscall, list[Instruction]]]:
    yield syscalls.CLONE, [*_any_bit(0, NEW_NAMESPACE, refuse(errno.EPERM))]
    yield syscalls.MMAP, [*_all_bits(3, SHARED_ANONYMOUS, refuse(errno.ENOMEM))]
    yield syscalls.IOCTL, [*_one_of(1, TERMINAL_INJECTION, refuse(errno.EPERM))]
    for call in (syscalls.SOCKET, syscalls.SOCKETPAIR):
        yield call, [*_none_of(0, FAMILIES, refuse(errno.EAFNOSUPPORT))]


def _on(call: syscalls.Syscall, machine: str, body: list[Instruction]) -> list[Instruction]:
    """Run `body` for `call`. A body ends in a return, so the accumulator still holds the number after it is skipped."""
    number = call.number(machine)
    if number is None:
        return []
    ended = body if body[-1].code == RETURN else [*body, Instruction(RETURN, ALLOW)]
    return [Instruction(JUMP_EQUAL, number, if_false=len(ended)), *ended]


def _when(jump: int, k: int, then: Instruction) -> list[Instruction]:
    return [Instruction(jump, k, if_false=1), then]


def _argument(index: int) -> Instruction:
    # The kernel truncates every argument judged here to 32 bits (or its flags live there), so the low word decides.
    return Instruction(LOAD_WORD, ARGUMENTS + 8 * index)


def _any_bit(index: int, mask: int, then: Instruction) -> list[Instruction]:
    allow = Instruction(RETURN, ALLOW)
    return [_argument(index), Instruction(AND, mask), Instruction(JUMP_EQUAL, 0, if_false=1), allow, then]


def _all_bits(index: int, mask: int, then: Instruction) -> list[Instruction]:
    allow = Instruction(RETURN, ALLOW)
    return [_argument(index), Instruction(AND, mask), Instruction(JUMP_EQUAL, mask, if_true=1), allow, then]


def _one_of(index: int, values: tuple[int, ...], then: Instruction) -> list[Instruction]:
    tests = [_when(JUMP_EQUAL, value, then) for value in values]
    return [_argument(index), *(step for test in tests for step in test), Instruction(RETURN, ALLOW)]


def _none_of(index: int, values: tuple[int, ...], then: Instruction) -> list[Instruction]:
    allow = Instruction(RETURN, ALLOW)
    tests = [_when(JUMP_EQUAL, value, allow) for value in values]
    return [_argument(index), *(step for test in tests for step in test), then]
