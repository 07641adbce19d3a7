"""Writes unrequested lines without end."""

import os

AT = "start"


def attack():
    while True:
        os.write(1, b"y" * 65535 + b"\n")
