"""Uses descriptors that it was not given: leftovers of its parent process, and folders outside its root."""

import os
import stat

from attack_stage import attempt, must

AT = "import"


def inherited():
    found = {}
    for number in range(3, 1024):
        try:
            kind = os.fstat(number)
        except OSError:
            continue
        found[number] = attempt(os.readlink, f"/proc/self/fd/{number}"), stat.filemode(kind.st_mode)
    return found


LEFT = inherited()  # before anything of ours is opened


def climb(number):
    handle = os.open("..", os.O_RDONLY, dir_fd=number)
    os.close(handle)
    return "a folder above"


def attack():
    # The parade's own pipes are open when it is not the first: those are pipes, and ours. Some builds of libffi keep
    # their own file open once `ctypes` is imported.
    foreign = {
        number: what
        for number, what in LEFT.items()
        if not what[1].startswith("p") and "/app" not in what[0] and "/usr/lib/libffi.so" not in what[0]
    }
    return {
        "left open": must(foreign, foreign),
        **{f"folder above {number}": attempt(climb, number) for number in range(3)},
        "standard streams are pipes": must(
            any(not stat.S_ISFIFO(os.fstat(number).st_mode) for number in (0, 1, 2)), "something else"
        ),
    }
