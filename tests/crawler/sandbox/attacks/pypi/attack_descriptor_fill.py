"""Opens files, pipes, sockets and watches until there are none left."""

import os
import resource
import socket

from attack_stage import attempt

AT = "call"
MANY = 5000


def exhaust(open_one):
    held = []
    try:
        while len(held) < MANY:
            held.append(open_one())
        return len(held)
    finally:
        for one in held:
            for each in one if isinstance(one, tuple) else (one,):
                each.close() if hasattr(each, "close") else os.close(each)


def in_flight():
    """Descriptors in transit over a socket count for no process; raises OSError when there are enough."""
    here, there = socket.socketpair()
    here.setblocking(False)
    handles = [os.open("/dev/null", os.O_RDONLY) for _ in range(200)]
    try:
        for _ in range(2 * MANY // len(handles)):
            socket.send_fds(here, [b"x"], handles)
        return 2 * MANY
    finally:
        for handle in handles:
            os.close(handle)
        here.close()
        there.close()


def attack():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return {
        "files": attempt(exhaust, lambda: os.open("/dev/null", os.O_RDONLY)),
        "pipes": attempt(exhaust, os.pipe),
        "sockets": attempt(exhaust, lambda: socket.socket(socket.AF_UNIX)),
        "in flight": attempt(in_flight),
    }
