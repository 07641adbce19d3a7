"""Leaves folders so deep, and names so strange, that the cleanup may fail on them."""

import os

from attack_stage import must

AT = "call"
NAMES = (b"\xff\xfe", "\u202egpj.exe".encode(), b"\x1b[2J", b"-rf", b" ", b"a" * 255, b"new\nline", b"..\xe2\x80\x8b")


def attack():
    os.makedirs("/tmp/deep", exist_ok=True)
    here = os.open("/tmp/deep", os.O_RDONLY)
    for _ in range(300):  # deeper than any path may be long
        os.mkdir("d" * 200, dir_fd=here)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    for name in NAMES:
        os.close(os.open(b"/tmp/" + name, os.O_CREAT | os.O_WRONLY))
    os.symlink("/tmp", "/tmp/circle")
    os.chmod("/tmp/deep", 0)
    return {"they go with the box": must(os.path.ismount("/tmp") is False, "no file system of its own")}
