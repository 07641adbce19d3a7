"""Fills the table of processes with dead ones that no parent reaps."""

import os

from attack_stage import attempt

AT = "call"
MANY = 4000


def die():
    for _ in range(MANY):
        if os.fork() == 0:
            os._exit(0)
    return MANY


def attack():
    return {"zombies": attempt(die)}
