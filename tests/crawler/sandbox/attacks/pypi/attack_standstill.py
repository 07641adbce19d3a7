"""Stops itself and everybody else, so that nobody is there to be asked or to die."""

import contextlib
import os
import signal

AT = "start"


def attack():
    with contextlib.suppress(ProcessLookupError):  # nobody else may be there
        os.kill(-1, signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
