"""Arms timers, signals and exit hooks that are to go off later, in another process."""

import ctypes
import os
import signal

from attack_stage import AIMS, LIBC, attempt

AT = "call"
MAP = 35


class Event(ctypes.Structure):
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("thread", ctypes.c_int),
        ("rest", ctypes.c_char * 44),
    )


def timer_for(thread):
    """A timer whose signal goes to another thread; only our own may be named."""
    timer, event = ctypes.c_void_p(), Event(None, signal.SIGKILL, 4, thread)
    if LIBC.timer_create(1, ctypes.byref(event), ctypes.byref(timer)) != 0:
        raise OSError(ctypes.get_errno(), "timer_create")
    return timer.value


def rewrite_map():
    if LIBC.prctl(MAP, 1, 0x1000, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    return "rewritten"


def attack():
    return {
        "a timer for the first process": attempt(timer_for, 1),
        "a timer for a host process": attempt(timer_for, AIMS["pid"]),
        "a signal from a pipe to a host process": attempt(os.kill, AIMS["pid"], 0),
        "another memory map": attempt(rewrite_map),
    }
