"""Dies of a fault before it was asked anything."""

import os
import signal
import sys

AT = "start"


def attack():
    sys.stderr.write("Error: segmentation fault on purpose\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGSEGV)
