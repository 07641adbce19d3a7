"""The host user id of a contained process: an id of its own if we are root, otherwise ours."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct

# Inside the 65536 ids that a container usually maps, and outside of the range that Debian assigns.
INSTALLER_UID = 64100
FIRST_SLOT_UID = 64101
SLOTS = 64
# User ids belong to the machine: if two caches used the same one, a fork bomb in one box would affect another.
MACHINE_LOCKS = Path("/run/hallmark")
OWN_PROCESS = Path("/proc/self")
POLL = 0.05


class Identity(Struct, frozen=True):
    """The host user id to become; None keeps our own."""

    uid: int | None


OWN_IDENTITY = Identity(None)


def installer_identity() -> Identity:
    """The identity of installers."""
    return Identity(INSTALLER_UID) if os.geteuid() == 0 else OWN_IDENTITY


def find_unmapped_id() -> int | None:
    """The lowest user or group id that root would give to a box and that this container does not map.

    None if there is none, and on a kernel without user namespaces, which has no maps.
    """
    if os.geteuid() != 0:
        return None
    try:
        maps = [(OWN_PROCESS / name).read_text("ascii").splitlines() for name in ("uid_map", "gid_map")]
    except FileNotFoundError:
        return None
    mapped = [
        [range(int(first), int(first) + int(count)) for first, _, count in map(str.split, lines)] for lines in maps
    ]
    wanted = range(INSTALLER_UID, FIRST_SLOT_UID + SLOTS)
    return next((each for each in wanted for ranges in mapped if not any(each in one for one in ranges)), None)


@contextlib.asynccontextmanager
async def claim_slot(cache_dir: Path) -> AsyncIterator[Identity]:
    """Reserve a user id that no other running sandbox on this machine has, until the context ends."""
    if os.geteuid() != 0:
        yield OWN_IDENTITY
        return
    folder = _lock_folder(cache_dir)
    while True:
        for number in _least_used():
            handle = try_lock(folder / str(number))
            if handle is not None:
                try:
                    yield Identity(FIRST_SLOT_UID + number)
                finally:
                    os.close(handle)
                return
        await asyncio.sleep(POLL)


@cache
def _least_used() -> Sequence[int]:
    """The slots, sorted by the number of existing processes of their user id, which count against its process limit.

    Cached. Zombies of boxes stay for ever in a container whose first process does not reap.
    """
    left: Counter[int] = Counter()
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdecimal():
                with contextlib.suppress(OSError):
                    left[entry.stat().st_uid] += 1
    return sorted(range(SLOTS), key=lambda number: left[FIRST_SLOT_UID + number])


def _lock_folder(cache_dir: Path) -> Path:
    """The folder for the locks of user ids: MACHINE_LOCKS, or the cache if that is not writable."""
    try:
        MACHINE_LOCKS.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return cache_dir / "slots"
    return MACHINE_LOCKS if os.access(MACHINE_LOCKS, os.W_OK) else cache_dir / "slots"


@contextlib.asynccontextmanager
async def hold_lock(path: Path) -> AsyncIterator[None]:
    """Hold the lock file exclusively among tasks and processes; the kernel frees it when the process dies."""
    while (handle := try_lock(path)) is None:  # noqa: ASYNC110 (another process frees it: there is no event to wait for)
        await asyncio.sleep(POLL)
    try:
        yield
    finally:
        os.close(handle)


def try_lock(path: Path) -> int | None:
    """The descriptor of the locked file, which closing unlocks; None if it is locked already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle
