"""Changes the layer and the root that other servers get too: writing, linking, renaming, reopening, racing."""

import os
import threading

from attack_stage import attempt, attempts, must, read, write

AT = "call"
OWN = os.path.abspath(__file__)
PLACES = (
    "/app/new",
    "/usr/bin/new",
    "/etc/new",
    "/new",
    "/lib/new",
    "/opt/new",
    "/dev/new",
    "/build/new",
    "/cache/new",
)


def reopen():
    handle = os.open(OWN, os.O_RDONLY)
    try:
        return write(f"/proc/self/fd/{handle}")
    finally:
        os.close(handle)


def link():
    os.link(OWN, "/tmp/link")
    return write("/tmp/link")


def through_a_link():
    os.symlink(OWN, "/tmp/through")
    try:
        return write("/tmp/through")
    finally:
        os.unlink("/tmp/through")


def race():
    """Swap a link between a harmless file and the layer while it is opened for writing."""
    write("/tmp/harmless")
    before, stop = read(OWN, 1 << 20), threading.Event()

    def swap():
        while not stop.is_set():
            for target in ("/tmp/harmless", OWN):
                os.symlink(target, "/tmp/next")
                os.replace("/tmp/next", "/tmp/swapped")

    os.symlink("/tmp/harmless", "/tmp/swapped")
    thread = threading.Thread(target=swap)
    thread.start()
    for _ in range(300):
        attempt(write, "/tmp/swapped")
    stop.set()
    thread.join()
    return must(read(OWN, 1 << 20) != before, "the layer changed")


def attack():
    return {
        **attempts(write, *PLACES, OWN),
        **attempts(os.unlink, OWN, "/usr/bin/node", "/etc/passwd"),
        "mode": attempt(os.chmod, OWN, 0o777),
        "times": attempt(os.utime, OWN),
        "owner": attempt(os.chown, OWN, os.getuid(), os.getgid()),
        "attribute": attempt(os.setxattr, OWN, "user.x", b"y"),
        "name": attempt(os.rename, OWN, "/app/renamed"),
        "hard link": attempt(link),
        "reopened": attempt(reopen),
        "through a link": attempt(through_a_link),
        "truncated": attempt(os.truncate, OWN, 0),
        "race": race(),
    }
