"""Reads everything and never answers."""

import sys

AT = "start"


def attack():
    while sys.stdin.buffer.readline():
        pass
    while True:
        pass
