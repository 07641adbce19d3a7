"""Kills whatever it may, which would be its supervisor too if it saw it."""

import os
import signal

AT = "start"


def attack():
    for group in (-1, 0):
        try:
            os.kill(group, signal.SIGKILL)
        except ProcessLookupError:  # no other process is there
            continue
    os.kill(os.getpid(), signal.SIGKILL)
