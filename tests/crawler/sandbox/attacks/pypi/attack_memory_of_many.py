"""Takes memory with many processes, each of which stays below its own limit."""

import os
import time

from attack_stage import MIB

AT = "call"


def attack():
    for _ in range(24):
        if os.fork() == 0:
            held = bytearray(b"x") * (60 * MIB)
            time.sleep(300)
            os._exit(len(held) and 0)
    time.sleep(300)
