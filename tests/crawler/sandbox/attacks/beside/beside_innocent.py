"""A server that uses what others may hold, watch or exhaust, as real servers do, and lists what it got."""

import contextlib
import fcntl
import mmap
import os
import select
import signal
import socket
import sqlite3
import struct
import sys
import threading
import time

from attack_stage import LIBC, MIB, read, write

AT = "list"
FILES = (os.path.realpath(sys.executable), os.__file__, os.path.abspath(__file__).replace("innocent", "attacker"))
FOLDERS, DEVICES = ("/", "/app"), ("/dev/null", "/dev/urandom")


def locked(path):
    file = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(file)


def lock_of(path):
    """The kind of a lock that others hold."""
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
    with open(path, "rb") as file:
        return {fcntl.F_UNLCK: "none", fcntl.F_RDLCK: "read"}.get(
            struct.unpack_from("h", fcntl.fcntl(file, fcntl.F_GETLK, asked))[0], "write"
        )


def device_lock():
    file = os.open("/dev/null", os.O_RDWR)
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(file)


def opened():
    began = time.monotonic()
    for path in (*FILES, "/dev/null", "/dev/urandom", "/etc/passwd"):
        read(path)
    os.listdir("/app")
    return "in time" if time.monotonic() - began < 5 else "late"


def database():
    path = f"/tmp/{os.getpid()}.db"
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        base.execute("create table a (b)")
        base.execute("insert into a values (1)")
    os.unlink(path)


def watched():
    number = LIBC.inotify_init1(0)
    if number < 0 or LIBC.inotify_add_watch(number, b"/tmp/work", 0x100) < 0:
        raise OSError("no watch")
    for folder, _, _ in os.walk("/app"):
        if LIBC.inotify_add_watch(number, folder.encode(), 0x100) < 0:
            raise OSError("no watch")
    try:
        write(path := os.path.join("/tmp/work", str(os.getpid())))
        os.unlink(path)
        return os.read(number, 4096).count(b"\0") > 0
    finally:
        os.close(number)


def polled():
    ends = os.pipe()
    copies = [os.dup(ends[0]) for _ in range(100)]
    with select.epoll() as poll:
        for copy in copies:
            poll.register(copy, select.EPOLLIN)
    for copy in (*copies, *ends):
        os.close(copy)


def piped():
    ends = os.pipe()
    size = fcntl.fcntl(ends[0], 1032)
    for end in ends:
        os.close(end)
    return size


def sent():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        socket.send_fds(ours, [b"x"], [0])
        _, handles, _, _ = socket.recv_fds(theirs, 1, 1)
        for handle in handles:
            os.close(handle)


def helped():
    threads = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    for pid in [os.fork() or os._exit(0) for _ in range(8)]:
        os.waitpid(pid, 0)


def signalled():
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGRTMIN})
    for _ in range(20):
        signal.pthread_kill(threading.get_ident(), signal.SIGRTMIN)
    while signal.sigtimedwait({signal.SIGRTMIN}, 0):
        pass


def remembered():
    bytearray(100 * MIB)
    with mmap.mmap(-1, 16384, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as area:
        import ctypes

        place = ctypes.c_char.from_buffer(area)
        if LIBC.mlock(ctypes.byref(place), ctypes.c_size_t(16384)) != 0:
            raise OSError("not locked")
        del place


def named():
    with socket.socket(socket.AF_UNIX) as stream, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagram:
        stream.bind("\0beside-1")
        datagram.bind("\0beside-2")
    with socket.socket() as nobody:
        met = nobody.connect_ex(("127.0.0.1", 8123))
    socket.create_server(("0.0.0.0", 8123)).close()
    return os.path.exists("/dev/shm/beside"), met == 0


def stored():
    for number in range(100):
        write(f"/tmp/{os.getpid()}-{number}")
    write(f"/tmp/{os.getpid()}", bytes(8 * MIB))
    write("/dev/shm/own", bytes(MIB))
    for name in os.listdir("/tmp"):
        if name.startswith(str(os.getpid())):
            os.unlink(f"/tmp/{name}")


def neighbours():
    return len([name for name in os.listdir("/proc") if name.isdigit()])


def locks():
    with open("/proc/locks") as file:
        return file.read()


USES = {
    **{f"lock of {path}": lambda path=path: locked(path) for path in (*FILES, *FOLDERS, *DEVICES)},
    **{f"other locks of {path}": lambda path=path: lock_of(path) for path in FILES},
    "lock of a device": device_lock, "files": opened, "database": database, "watches": watched, "polls": polled,
    "pipe": piped, "descriptors sent": sent, "threads and children": helped, "signals": signalled,
    "memory": remembered, "names": named, "temporary files": stored, "processes": neighbours, "locks": locks,
}  # fmt: skip


def used(use):
    try:
        return f"ok: {use()}"
    except (OSError, RuntimeError, MemoryError, sqlite3.Error) as error:
        return f"{type(error).__name__}: {error}"


def attack():
    return {name: used(use) for name, use in USES.items()}
