"""Raises its rights: other users and groups, capabilities, setuid files, device files, fewer restrictions."""

import ctypes
import os
import stat

from attack_stage import LIBC, attempt, attempts, call, must, write

AT = "call"
NO_NEW_PRIVILEGES, SECUREBITS, AMBIENT, RAISE, SPECULATION = 38, 28, 47, 2, 53


def become(user):
    os.setresuid(user, user, user)
    return os.getuid()


def setuid_copy():
    write("/tmp/setuid", b"x")
    try:
        os.chmod("/tmp/setuid", 0o6777)
        return must(not os.statvfs("/tmp").f_flag & os.ST_NOSUID, "setuid counts in /tmp")
    finally:
        os.unlink("/tmp/setuid")


def device(number):
    path = "/tmp/device"
    os.mknod(path, stat.S_IFBLK | 0o666, number)
    os.unlink(path)


def prctl(*arguments):
    if LIBC.prctl(*arguments) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    return arguments


def attack():
    return {
        **attempts(become, 0, 64100, 64102, 65534),
        "groups": attempt(os.setgroups, [0]),
        "group of root": attempt(os.setresgid, 0, 0, 0),
        "capabilities": attempt(call, "capset", b"\x22\x05\x08\x20" + bytes(4), b"\xff" * 24),
        "an ambient capability": attempt(prctl, AMBIENT, RAISE, 21, 0, 0),
        "no-new-privileges off": attempt(prctl, NO_NEW_PRIVILEGES, 0, 0, 0, 0),
        "secure bits": attempt(prctl, SECUREBITS, 0, 0, 0, 0),
        "setuid file": setuid_copy(),
        "the disk": attempt(device, os.makedev(8, 0)),
        "memory of the machine": attempt(device, os.makedev(1, 1)),
        "give a file away": attempt(give_away),
        "programs that raise rights": must(setuid_programs(), setuid_programs()),
        "speculation": attempt(prctl, SPECULATION, 9, 0, 0, 0),
    }


def give_away():
    write("/tmp/gift")
    try:
        return os.chown("/tmp/gift", 0, 0)
    finally:
        os.unlink("/tmp/gift")


def setuid_programs():
    found = []
    for folder in ("/usr", "/opt", "/app"):
        for place, _, files in os.walk(folder):
            found += [name for name in files if os.lstat(f"{place}/{name}").st_mode & 0o6000]
    return found
