"""Makes new namespaces, where it would have every right, and enters others."""

import os
import signal

from attack_stage import attempt, attempts, call, write

AT = "call"
NEW = {
    "user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "uts": 0x4000000, "ipc": 0x8000000,
    "cgroup": 0x2000000, "time": 0x80,
}  # fmt: skip


def enter(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        return call("setns", handle, 0)
    finally:
        os.close(handle)


def attack():
    found = {f"unshare {name}": attempt(call, "unshare", flag) for name, flag in NEW.items()}
    for name, flag in NEW.items():
        if name != "time":  # its bit means something else to clone
            found[f"clone {name}"] = attempt(child, flag)
    return {
        **found,
        "clone3": attempt(call, "clone3", 0, 0),
        **attempts(enter, *(f"/proc/{who}/ns/{name}" for who in ("self", 1) for name in ("user", "mnt", "pid", "net"))),
        **attempts(write, "/proc/self/uid_map", "/proc/self/gid_map", "/proc/self/setgroups", "/proc/1/uid_map"),
    }


def child(flag):
    pid = call("clone", flag | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid
