"""Closes its streams and lives on, so that nobody hears of it."""

import os
import time

AT = "start"


def attack():
    for handle in range(3):
        os.close(handle)
    time.sleep(1000)
