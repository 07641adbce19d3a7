"""Leaves memory, semaphores and queues that outlive a process and count for no process."""

import mmap
import os

from attack_stage import MIB, attempt, calls

AT = "call"
CREATE, SHARED_ANONYMOUS = 0o1600, 0x21


def anonymous():
    mmap.mmap(-1, 64 * MIB, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS).close()
    return "shared memory that no limit counts"


def zero():
    with open("/dev/zero", "r+b") as file:
        mmap.mmap(file.fileno(), 64 * MIB, mmap.MAP_SHARED).close()
    return "shared memory that no limit counts"


def huge():
    mmap.mmap(-1, 2 * MIB, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000).close()
    return "a huge page"


def beyond_the_cap():
    with open("/dev/shm/attack", "wb", buffering=0) as file:
        try:
            os.posix_fallocate(file.fileno(), 0, 64 * MIB)
        finally:
            os.unlink("/dev/shm/attack")


def attack():
    return {
        **calls(
            shmget=(0, 4096, CREATE),
            shmget__named=(0x4841, 4096, CREATE),
            semget=(0, 1, CREATE),
            msgget=(0, CREATE),
            mq_open=(b"attack", 0o102, 0o600, 0),
        ),
        "shared and anonymous": attempt(anonymous),
        "mapped from zero": attempt(zero),
        "huge pages": attempt(huge),
        "more than /dev/shm holds": attempt(beyond_the_cap),
    }
