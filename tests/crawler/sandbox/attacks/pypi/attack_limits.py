"""Lifts the limits that were set on it, for itself and for the first process."""

import os
import resource
import struct

from attack_stage import MIB, attempt, call, must, write

AT = "start"
NAMES = ("CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "MSGQUEUE", "NICE", "NOFILE", "NPROC", "RTPRIO", "SIGPENDING")


def lift(name):
    number = getattr(resource, f"RLIMIT_{name}")
    hard = resource.getrlimit(number)[1]
    if hard == resource.RLIM_INFINITY:
        return "it has no limit"
    try:
        resource.setrlimit(number, (hard + 1, hard + 1))
    except ValueError as error:
        raise PermissionError(1, str(error)) from error
    return hard


def core_limit():
    with open("/proc/self/limits") as file:
        return next(line for line in file if line.startswith("Max core")).split()[-2]


def lift_of_first(number):
    return call("prlimit64", 1, number, struct.pack("QQ", (1 << 64) - 1, (1 << 64) - 1), 0)


def lock_memory():
    import mmap

    with mmap.mmap(-1, MIB) as area:
        if mlock(area) != 0:
            raise MemoryError
    return "locked"


def mlock(area):
    import ctypes

    from attack_stage import LIBC

    return LIBC.mlock(ctypes.byref(ctypes.c_char.from_buffer(area)), ctypes.c_size_t(len(area)))


def attack():
    return {
        **{name: attempt(lift, name) for name in NAMES},
        **{f"first process {number}": attempt(lift_of_first, number) for number in (2, 4, 6, 7)},
        "spared when memory is short": attempt(write, "/proc/self/oom_score_adj", b"-1000"),
        "a nicer place": attempt(os.nice, -20),
        "a core for the handler of the host": attempt(call, "prlimit64", 0, 4, bytes(16), 0),
        "core files": must(core_limit() != "1", core_limit()),
        "a megabyte locked": attempt(lock_memory),
    }
