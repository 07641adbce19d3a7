"""Looks for the host's environment and paths in every process that it can see."""

import os

from attack_stage import AIMS, must, read

AT = "start"
# Written backwards, so that the list of words is not itself a match.
WORDS = ("HALLMARK", "PYTEST", "VIRTUAL_ENV", "SSH_", "SUDO_", AIMS["canary"][::-1], AIMS["cache"][::-1])


def everything():
    for name in os.listdir("/proc"):
        for file in ("environ", "cmdline"):
            try:
                yield read(f"/proc/{name}/{file}", 1 << 20).decode("utf-8", "replace")
            except OSError:
                continue


def attack():
    seen = "\n".join(everything())
    return {word: must(word in seen, word) for word in WORDS}
