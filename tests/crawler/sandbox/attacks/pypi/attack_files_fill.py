"""Fills every place where it may write, in bytes, until the host's memory or disk would be full."""

import os

from attack_stage import MIB, attempt

AT = "call"
PLACES = ("/tmp", "/dev/shm", "/dev", "/app", "/", "/run", "/var/tmp", "/usr", "/proc")
ENOUGH = 80 * MIB


def fill(folder):
    """Several files, as the size of one is limited too; raises OSError where the place is full."""
    block, made = b"x" * MIB, []
    try:
        written = 0
        while written < ENOUGH:
            made.append(f"{folder}/fill-{len(made)}")
            with open(made[-1], "wb", buffering=0) as file:
                for _ in range(8):
                    written += file.write(block)
        return written
    finally:
        for path in made:
            if os.path.exists(path):
                os.unlink(path)


def attack():
    return {folder: attempt(fill, folder) for folder in PLACES}
