"""Makes empty files, folders and links without end: they take no bytes that a cap on size would count."""

import os

from attack_stage import attempt

AT = "call"
MANY = 60_000


def fill(folder):
    made = 0
    try:
        for _ in range(MANY):
            os.mkdir(f"{folder}/{made}")
            made += 1
        return made
    finally:
        for number in range(made):
            os.rmdir(f"{folder}/{number}")


def attack():
    return {folder: attempt(fill, folder) for folder in ("/tmp", "/dev/shm", "/dev")}
