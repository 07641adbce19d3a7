"""The assembled filter, executed here instruction by instruction."""

from __future__ import annotations

import errno
import struct

import pytest

from crawler.wire.sandbox import seccomp, syscalls
from crawler.wire.sandbox.seccomp import ALLOW, ERRNO, KILL_PROCESS

MACHINES = ("x86_64", "aarch64")


def verdict(machine: str, number: int, *arguments: int, arch: int | None = None) -> int:
    """What the filter for `machine` returns for one call."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<IIQ6Q", number, syscalls.AUDIT_ARCH[machine] if arch is None else arch, 0, *padded)
    code = seccomp.program(machine)
    at = accumulator = 0
    while True:
        operation, if_true, if_false, k = struct.unpack_from("<HBBI", code, at * 8)
        at += 1
        if operation == seccomp.LOAD_WORD:
            accumulator = struct.unpack_from("<I", data, k)[0]
        elif operation == seccomp.AND:
            accumulator &= k
        elif operation == seccomp.JUMP_EQUAL:
            at += if_true if accumulator == k else if_false
        elif operation == seccomp.JUMP_GREATER:
            at += if_true if accumulator > k else if_false
        else:
            assert operation == seccomp.RETURN
            return k


def refused(number: int) -> int:
    return ERRNO | number


@pytest.mark.parametrize("machine", MACHINES)
def test_every_listed_call_is_refused(machine: str) -> None:
    numbers = [n for call in syscalls.DENIED if (n := call.number(machine)) is not None]
    assert {verdict(machine, number) for number in numbers} == {refused(errno.EPERM)}


@pytest.mark.parametrize("machine", MACHINES)
def test_every_other_reviewed_call_is_allowed(machine: str) -> None:
    special = (syscalls.CLONE3, *syscalls.DENIED)
    judged = (syscalls.SOCKET, syscalls.SOCKETPAIR)
    named = {call.number(machine) for call in (*special, *judged)}
    others = [number for number in range(syscalls.NEWEST_REVIEWED + 1) if number not in named]
    assert {verdict(machine, number) for number in others} == {ALLOW}


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_newer_than_the_review_do_not_exist(machine: str) -> None:
    assert verdict(machine, syscalls.NEWEST_REVIEWED + 1) == refused(errno.ENOSYS)
    assert verdict(machine, 0x3FFFFFFF) == refused(errno.ENOSYS)


def test_second_table_of_x86_64_is_closed() -> None:
    assert verdict("x86_64", 0x40000000) == refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_foreign_architecture_kills(machine: str) -> None:
    assert verdict(machine, 0, arch=0x40000003) == KILL_PROCESS


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("flag", [0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000])
def test_clone_makes_no_namespace(machine: str, flag: int) -> None:
    clone = syscalls.CLONE.number(machine)
    assert clone is not None
    assert verdict(machine, clone, flag | 17) == refused(errno.EPERM)
    assert verdict(machine, clone, 0x003D0F00) == ALLOW  # a thread
    assert verdict(machine, clone, 17) == ALLOW  # a fork


@pytest.mark.parametrize("machine", MACHINES)
def test_clone3_falls_back_to_clone(machine: str) -> None:
    assert verdict(machine, 435) == refused(errno.ENOSYS)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("call", [syscalls.SOCKET, syscalls.SOCKETPAIR])
def test_only_local_and_internet_sockets(machine: str, call: syscalls.Syscall) -> None:
    number = call.number(machine)
    assert number is not None
    allowed = [family for family in range(64) if verdict(machine, number, family) == ALLOW]
    assert allowed == [1, 2, 10]
    assert verdict(machine, number, 40) == refused(errno.EAFNOSUPPORT)


@pytest.mark.parametrize("machine", MACHINES)
def test_shared_anonymous_mapping_is_refused_and_others_are_not(machine: str) -> None:
    mmap = syscalls.MMAP.number(machine)
    assert mmap is not None
    flags = {"shared anonymous": 0x21, "with more bits": 0x4021, "private anonymous": 0x22, "shared file": 0x01}
    answers = {name: verdict(machine, mmap, 0, 4096, 3, value) for name, value in flags.items()}
    assert [name for name, answer in answers.items() if answer != ALLOW] == ["shared anonymous", "with more bits"]


@pytest.mark.parametrize("machine", MACHINES)
def test_terminal_cannot_be_typed_into(machine: str) -> None:
    ioctl = syscalls.IOCTL.number(machine)
    assert ioctl is not None
    assert verdict(machine, ioctl, 0, 0x5412) == verdict(machine, ioctl, 0, 0x541C) == refused(errno.EPERM)
    assert verdict(machine, ioctl, 0, 0x1_0000_5412) == refused(errno.EPERM)  # the kernel looks at 32 bits
    assert verdict(machine, ioctl, 0, 0x5401) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_table_names_each_call_and_number_once(machine: str) -> None:
    numbers = [n for call in syscalls.DENIED if (n := call.number(machine)) is not None]
    assert len(numbers) == len(set(numbers))
    assert max(numbers) <= syscalls.NEWEST_REVIEWED
    assert [call.name for call in syscalls.DENIED] == sorted({call.name for call in syscalls.DENIED})


def test_program_fits_the_kernel() -> None:
    assert all(len(seccomp.program(machine)) // 8 < 4096 for machine in MACHINES)


def test_unknown_machine_has_no_filter() -> None:
    with pytest.raises(seccomp.UnsupportedMachineError):
        seccomp.program("riscv64")
