"""Writes lines that nobody asked for, for ever."""

import os

AT = "start"


def attack():
    while True:
        os.write(1, b"y" * 65535 + b"\n")
