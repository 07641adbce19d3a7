"""Who a contained process is on the host: a user id of its own when we are root, the user's own otherwise."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# Inside the 65536 ids that a container usually maps, and outside what Debian hands out by itself.
INSTALLER_UID = 64100
FIRST_SLOT_UID = 64101
SLOTS = 64
# User ids are the machine's: two caches must not give the same one away, or a fork bomb of one stops the other.
MACHINE_LOCKS = Path("/run/hallmark")
POLL = 0.05


@dataclass(frozen=True, slots=True)
class Identity:
    """The host user id to become; None keeps our own."""

    uid: int | None


OWN_IDENTITY = Identity(None)


def installer_identity() -> Identity:
    """Who unpacks packages; owns the download cache."""
    return Identity(INSTALLER_UID) if os.geteuid() == 0 else OWN_IDENTITY


@contextlib.asynccontextmanager
async def claim_slot(cache_dir: Path) -> AsyncIterator[Identity]:
    """A user id that no other running sandbox on this machine has, for as long as the context lasts."""
    if os.geteuid() != 0:
        yield OWN_IDENTITY
        return
    folder = _register(cache_dir)
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
    """The slots, last those whose user ids have processes that others left behind; these count against its limit.

    Looked up once. Zombies of boxes stay for ever where the first process of a container reaps nobody.
    """
    left: Counter[int] = Counter()
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdecimal():
                with contextlib.suppress(OSError):
                    left[entry.stat().st_uid] += 1
    return sorted(range(SLOTS), key=lambda number: left[FIRST_SLOT_UID + number])


def _register(cache_dir: Path) -> Path:
    """Where it is written down who has which user id; where the machine's own place is read-only, in the cache."""
    try:
        MACHINE_LOCKS.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return cache_dir / "slots"
    return MACHINE_LOCKS if os.access(MACHINE_LOCKS, os.W_OK) else cache_dir / "slots"


@contextlib.asynccontextmanager
async def hold_lock(path: Path) -> AsyncIterator[None]:
    """Hold the lock file exclusively among tasks and processes; the kernel frees it when we die."""
    while (handle := try_lock(path)) is None:  # noqa: ASYNC110 (another process frees it: there is no event to wait for)
        await asyncio.sleep(POLL)
    try:
        yield
    finally:
        os.close(handle)


def try_lock(path: Path) -> int | None:
    """The open lock file, held until it is closed; None when another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle
