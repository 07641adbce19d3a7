"""Looks for processes of the host and signals them: by number, by descriptor, by group, by ownership of a file."""

import fcntl
import os
import signal

from attack_stage import AIMS, attempt, call, must

AT = "call"


def own_the_signals():
    reader, writer = os.pipe()
    try:
        fcntl.fcntl(reader, fcntl.F_SETOWN, AIMS["pid"])
        return fcntl.fcntl(reader, fcntl.F_GETOWN)
    finally:
        os.close(reader)
        os.close(writer)


def attack():
    pid = AIMS["pid"]
    return {
        "host processes in /proc": must(
            sum(name.isdigit() for name in os.listdir("/proc")) > 16, "more than the box's"
        ),
        "status of a host process": attempt(open, f"/proc/{pid}/status"),
        "kill a host process": attempt(os.kill, pid, signal.SIGSTOP),
        "kill its group": attempt(os.killpg, pid, signal.SIGSTOP),
        "pidfd of a host process": attempt(call, "pidfd_open", pid, 0),
        "signals of a pipe to a host process": attempt(own_the_signals),
        "raise its priority": attempt(os.setpriority, os.PRIO_PROCESS, 0, -10),
        "priority of a host process": attempt(os.getpriority, os.PRIO_PROCESS, pid),
        "scheduling of a host process": attempt(os.sched_getscheduler, pid),
        "processors of a host process": attempt(os.sched_setaffinity, pid, {0}),
        "real-time scheduling": attempt(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1)),
    }
