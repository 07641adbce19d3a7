"""Ends at once, and leaves a child that keeps its streams open and says nothing."""

import os
import time

AT = "start"


def attack():
    if os.fork() == 0:
        os.setsid()
        time.sleep(1000)
    os._exit(0)
