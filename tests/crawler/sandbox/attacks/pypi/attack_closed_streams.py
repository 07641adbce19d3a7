"""Closes its streams and stays alive, so that no output shows it."""

import os
import time

AT = "start"


def attack():
    for handle in range(3):
        os.close(handle)
    time.sleep(1000)
