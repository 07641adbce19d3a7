"""Reads and writes the memory and descriptors of other processes, its parent's and its siblings'."""

import ctypes
import os

from attack_stage import attempt, call, calls

AT = "call"


def peek(pid):
    buffer = ctypes.create_string_buffer(8)
    here = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    return call("process_vm_readv", pid, here, 1, here, 1, 0)


def attack():
    parent = os.getppid()
    return {
        **calls(
            ptrace__me=(0, 0, 0, 0),
            ptrace__parent=(16, parent, 0, 0),
            process_vm_writev=(parent, 0, 0, 0, 0, 0),
            kcmp=(parent, os.getpid(), 0, 0, 0),
            process_madvise=(0, 0, 0, 0, 0),
            process_mrelease=(0, 0),
            pidfd_getfd=(0, 0, 0),
            move_pages=(parent, 0, 0, 0, 0, 0),
        ),
        "read the parent's memory": attempt(peek, parent),
        "read the first process's memory": attempt(peek, 1),
    }
