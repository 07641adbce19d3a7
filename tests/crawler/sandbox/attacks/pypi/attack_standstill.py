"""Stops itself and all other processes, so that none can answer or end."""

import contextlib
import os
import signal

AT = "start"


def attack():
    with contextlib.suppress(ProcessLookupError):  # there may be no other process
        os.kill(-1, signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
