"""The assembled filter, executed here instruction by instruction."""

from __future__ import annotations

import errno
import struct

import pytest

from crawler.sandbox.kernel import seccomp_filter, syscalls
from crawler.sandbox.kernel.seccomp_filter import ALLOW, ERRNO, KILL_PROCESS

MACHINES = ("x86_64", "aarch64")


def verdict(machine: str, number: int, *arguments: int, arch: int | None = None) -> int:
    """What the filter for `machine` returns for one call."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<IIQ6Q", number, syscalls.AUDIT_ARCH[machine] if arch is None else arch, 0, *padded)
    code = seccomp_filter.filter_program(machine)
    at = accumulator = 0
    while True:
        operation, if_true, if_false, k = struct.unpack_from("<HBBI", code, at * 8)
        at += 1
        if operation == seccomp_filter.LOAD_WORD:
            accumulator = struct.unpack_from("<I", data, k)[0]
        elif operation == seccomp_filter.AND:
            accumulator &= k
        elif operation == seccomp_filter.JUMP_EQUAL:
            at += if_true if accumulator == k else if_false
        elif operation == seccomp_filter.JUMP_GREATER:
            at += if_true if accumulator > k else if_false
        elif operation == seccomp_filter.JUMP_AT_LEAST:
            at += if_true if accumulator >= k else if_false
        else:
            assert operation == seccomp_filter.RETURN
            return int(k)


def refused(number: int) -> int:
    return ERRNO | number


def number_of(call: syscalls.Syscall, machine: str) -> int:
    found = call.number(machine)
    assert found is not None
    return found


JUDGED = (
    syscalls.CLONE, syscalls.FCNTL, syscalls.IOCTL, syscalls.MADVISE, syscalls.MMAP, syscalls.PRCTL, syscalls.PREADV2,
    syscalls.PRLIMIT, syscalls.SETRLIMIT, syscalls.SETSOCKOPT, syscalls.SOCKET, syscalls.SOCKETPAIR,
)  # fmt: skip
# What has been a way out of a box or around its limits, as numbers of x86_64 and of the generic table.
DANGEROUS = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "chroot": (161, 51), "fanotify_init": (300, 262),
    "fsopen": (430, 430), "io_setup": (206, 0), "io_uring_setup": (425, 425), "kexec_load": (246, 104),
    "keyctl": (250, 219), "landlock_create_ruleset": (444, 444), "mbind": (237, 235), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "mincore": (27, 232), "cachestat": (451, 451), "mknodat": (259, 33),
    "mount": (165, 40), "mq_open": (240, 180),
    "msgget": (68, 186), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_getfd": (438, 438), "pivot_root": (155, 41),
    "process_madvise": (440, 440), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "ptrace": (101, 117), "remap_file_pages": (216, 234), "request_key": (249, 218), "seccomp": (317, 277),
    "semget": (64, 190), "setns": (308, 268), "setxattr": (188, 5), "shmget": (29, 194), "swapon": (167, 224),
    "timer_create": (222, 107), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
    "vmsplice": (278, 75),
}  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_not_allowed_is_refused(machine: str) -> None:
    allowed = {number for call in syscalls.ALLOWED if (number := call.number(machine)) is not None}
    elsewhere = {number_of(call, machine) for call in (*JUDGED, *syscalls.REPLACED, *syscalls.WITHOUT_EFFECT)}
    answers = {n: verdict(machine, n) for n in range(syscalls.NEWEST_REVIEWED + 1) if n not in elsewhere}
    assert {number for number, answer in answers.items() if answer == ALLOW} == allowed
    assert set(answers.values()) == {ALLOW, refused(errno.EPERM)}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", sorted(DANGEROUS))
def test_dangerous_call_is_not_on_the_list(machine: str, name: str) -> None:
    assert verdict(machine, DANGEROUS[name][MACHINES.index(machine)]) == refused(errno.EPERM)
    assert name not in {call.name for call in syscalls.ALLOWED}


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
@pytest.mark.parametrize("number", [435, 437])
def test_calls_with_arguments_in_memory_fall_back_to_their_elders(machine: str, number: int) -> None:
    assert verdict(machine, number) == refused(errno.ENOSYS)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("call", [syscalls.SOCKET, syscalls.SOCKETPAIR])
def test_only_local_and_internet_sockets(machine: str, call: syscalls.Syscall) -> None:
    number = number_of(call, machine)
    assert [family for family in range(64) if verdict(machine, number, family, 1) == ALLOW] == [1, 2, 10]
    assert verdict(machine, number, 17, 3) == refused(errno.EAFNOSUPPORT)
    assert verdict(machine, number, 40, 1) == refused(errno.EAFNOSUPPORT)
    assert [kind for kind in range(16) if verdict(machine, number, 2, kind) == ALLOW] == [1, 2, 5]
    assert verdict(machine, number, 2, 1 | 0o2000000 | 0o4000) == ALLOW  # close-on-exec, without blocking
    assert [protocol for protocol in range(300) if verdict(machine, number, 2, 1, protocol) == ALLOW] == [0, 6, 17]


@pytest.mark.parametrize("machine", MACHINES)
def test_of_netlink_only_the_table_of_routes_may_be_asked(machine: str) -> None:
    number, pair = number_of(syscalls.SOCKET, machine), number_of(syscalls.SOCKETPAIR, machine)
    assert [kind for kind in range(16) if verdict(machine, number, 16, kind) == ALLOW] == [2, 3]
    assert verdict(machine, number, 16, 3 | 0o2000000 | 0o4000) == ALLOW
    for kind in (2, 3):
        others = {verdict(machine, number, 16, kind, protocol) for protocol in (*range(1, 300), 2**31, 2**32 - 1)}
        assert others == {refused(errno.EPROTONOSUPPORT)}
    assert verdict(machine, pair, 16, 3) == refused(errno.EAFNOSUPPORT)


@pytest.mark.parametrize("machine", MACHINES)
def test_sockets_take_no_programs(machine: str) -> None:
    number = number_of(syscalls.SETSOCKOPT, machine)
    programs = {
        "filter": (1, 26), "bpf": (1, 50), "reuseport": (1, 52), "tls": (6, 31), "repair": (6, 19), "packet": (263, 1),
        "alg": (279, 1), "tls level": (282, 1), "netlink": (270, 1),
    }  # fmt: skip
    assert {verdict(machine, number, 3, *each) for each in programs.values()} == {refused(errno.EPERM)}
    common = ((1, 2), (1, 7), (6, 1), (0, 1), (41, 26), (41, 27), (17, 103))
    assert {verdict(machine, number, 3, *each) for each in common} == {ALLOW}


@pytest.mark.parametrize("machine", MACHINES)
def test_memory_that_no_limit_counts_is_refused(machine: str) -> None:
    mmap = number_of(syscalls.MMAP, machine)
    flags = {
        "shared anonymous": 0x21, "with more bits": 0x4021, "validated": 0x23, "grows down": 0x122,
        "private anonymous": 0x22, "shared file": 0x01, "a stack": 0x20022,
    }  # fmt: skip
    answers = {name: verdict(machine, mmap, 0, 4096, 3, value) for name, value in flags.items()}
    assert [name for name, answer in answers.items() if answer == ALLOW] == [
        "private anonymous",
        "shared file",
        "a stack",
    ]


@pytest.mark.parametrize("machine", MACHINES)
def test_device_requests_are_listed(machine: str) -> None:
    ioctl = number_of(syscalls.IOCTL, machine)
    typing = (0x5412, 0x541C, 0x1_0000_5412)  # TIOCSTI, TIOCLINUX; the kernel looks at 32 bits
    other = (0x5422, 0x8914, 0x8933_0000, 0xC018AF0B, 0xB701)  # TIOCSPTLCK, SIOCSIFFLAGS, ...
    assert {verdict(machine, ioctl, 0, request) for request in (*typing, *other)} == {refused(errno.EPERM)}
    assert {verdict(machine, ioctl, 0, request) for request in (0x5401, 0x5421, 0x5451, 0x8933)} == {ALLOW}


@pytest.mark.parametrize("machine", MACHINES)
def test_process_options_are_listed(machine: str) -> None:
    prctl = number_of(syscalls.PRCTL, machine)
    refused_ones = (22, 35, 59, 62, 0x59616D61)  # SET_SECCOMP, SET_MM, SYSCALL_USER_DISPATCH, SCHED_CORE, SET_PTRACER
    assert {verdict(machine, prctl, option) for option in refused_ones} == {refused(errno.EPERM)}
    assert {verdict(machine, prctl, option) for option in (1, 15, 38, 0x53564D41)} == {ALLOW}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_limit_on_cores_stays_what_it_is(machine: str) -> None:
    calls = (number_of(syscalls.SETRLIMIT, machine), (4,)), (number_of(syscalls.PRLIMIT, machine), (0, 4))
    assert {verdict(machine, number, *given) for number, given in calls} == {refused(errno.EPERM)}
    assert verdict(machine, number_of(syscalls.PRLIMIT, machine), 0, 7) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_neither_leases_nor_notices_of_a_file_can_be_asked_for(machine: str) -> None:
    fcntl = number_of(syscalls.FCNTL, machine)
    others = {"F_SETLEASE": 1024, "F_NOTIFY": 1026, "F_SETPIPE_SZ": 1031, "F_SET_RW_HINT": 1036}
    others |= {f"{name}, and bits that the kernel ignores": command | 1 << 32 for name, command in others.items()}
    assert {verdict(machine, fcntl, 3, command) for command in others.values()} == {refused(errno.EINVAL)}
    locks_and_copies = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030)
    assert {verdict(machine, fcntl, 3, command) for command in locks_and_copies} == {ALLOW}


@pytest.mark.parametrize("machine", MACHINES)
def test_pages_of_files_are_neither_asked_about_nor_moved(machine: str) -> None:
    madvise, read = number_of(syscalls.MADVISE, machine), number_of(syscalls.PREADV2, machine)
    assert {verdict(machine, madvise, 0, 4096, advice) for advice in (12, 20, 21, 25, 100)} == {refused(errno.EINVAL)}
    assert {verdict(machine, madvise, 0, 4096, advice) for advice in (0, 3, 4, 8, 14, 16)} == {ALLOW}
    assert verdict(machine, read, 3, 0, 1, 0, 0, 0) == ALLOW
    assert {verdict(machine, read, 3, 0, 1, 0, 0, flags) for flags in (8, 9)} == {refused(errno.EOPNOTSUPP)}
    assert {verdict(machine, number_of(call, machine)) for call in syscalls.WITHOUT_EFFECT} == {refused(0)}


@pytest.mark.parametrize("machine", MACHINES)
def test_table_names_each_call_and_number_once(machine: str) -> None:
    every = (*syscalls.ALLOWED, *JUDGED, *syscalls.REPLACED, *syscalls.WITHOUT_EFFECT)
    numbers = [n for call in every if (n := call.number(machine)) is not None]
    assert len(numbers) == len(set(numbers))
    assert max(numbers) <= syscalls.NEWEST_REVIEWED
    assert len(every) == len({call.name for call in every})


def test_program_fits_the_kernel() -> None:
    assert all(len(seccomp_filter.filter_program(machine)) // 8 < 4096 for machine in MACHINES)


def test_unknown_machine_has_no_filter() -> None:
    with pytest.raises(seccomp_filter.UnsupportedMachineError):
        seccomp_filter.filter_program("riscv64")
