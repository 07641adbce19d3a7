"""Crashes children on purpose, so that a core file, or a collector on the host, gets what they had in memory."""

import contextlib
import os
import resource
import signal

from attack_stage import attempt, must

AT = "call"


def crash(number):
    child = os.fork()
    if child == 0:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))
        os.chdir("/tmp")
        os.kill(os.getpid(), number)
        os._exit(0)
    return os.waitpid(child, 0)[1]


def attack():
    statuses = {number: crash(number) for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGQUIT, signal.SIGSYS)}
    found = {f"core of {number.name}": must(os.WCOREDUMP(status), "dumped") for number, status in statuses.items()}
    cores = [name for name in os.listdir("/tmp") if name.startswith("core")]
    return {**found, "core files": must(cores, cores), "where cores go": attempt(pattern)}


def pattern():
    with open("/proc/sys/kernel/core_pattern", "w") as file:
        return file.write("|/tmp/x")
