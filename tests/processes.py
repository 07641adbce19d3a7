"""Processes that tests have started."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def children(parent: int | None = None) -> set[int]:
    """Processes of a parent, by default this one, whichever of its threads began them, and those not waited for."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # gone since it was listed
            if int(stat.read_text().rpartition(")")[2].split()[1]) == (parent or os.getpid()):
                found.add(int(stat.parent.name))
    return found
