"""Writes to its log for ever."""

import os

AT = "start"


def attack():
    while True:
        os.write(2, b"y" * 65535 + b"\n")
