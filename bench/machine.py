"""What the kernel counted: processor time and memory of everything below us, and how busy the machine was beside it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from crawler.sandbox.boxes.process_tree import list_descendants

TICK = os.sysconf("SC_CLK_TCK")


class Machine:
    """How busy the machine is from now on."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._before = _busy_ticks()
        self._load = os.getloadavg()[0]

    def busy_seconds(self) -> float:
        """Processor seconds that anybody used since."""
        return (_busy_ticks() - self._before) / TICK

    def said(self) -> dict[str, float]:
        """Prints and returns the load before and now, and the share of all processors that was in use meanwhile."""
        seconds = time.perf_counter() - self._began
        share = self.busy_seconds() / seconds / (os.cpu_count() or 1)
        now = os.getloadavg()[0]
        print(f"{seconds:.0f} s; load {self._load:.1f} before, {now:.1f} after; processors {share:.0%} busy")
        return {"seconds": seconds, "load_before": self._load, "load_after": now, "busy": share}


class Meter:
    """Processor seconds of us and of every process below us from now on, killed ones as they were when last looked at.

    What the kernel adds up for a parent that waits leaves out whoever is killed together with its namespace.
    """

    def __init__(self) -> None:
        self._own = time.process_time()
        self._below: dict[str, int] = {}

    def look(self) -> None:
        """Note what the living have used so far; best called right before one of them is stopped."""
        for pid in list_descendants(os.getpid())[1:]:
            for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
                try:
                    self._below[str(path)] = int(path.read_text("ascii").split()[0])
                except OSError:
                    continue

    @property
    def seconds(self) -> float:
        """What was noted, and what we used ourselves."""
        return sum(self._below.values()) / 1e9 + time.process_time() - self._own


def proportional_memory() -> int:
    """Bytes of every descendant of ours; a page that several share counts once among them."""
    found = 0
    for pid in list_descendants(os.getpid())[1:]:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
        except OSError:
            continue
        found += sum(int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith("Pss:"))
    return found


def _busy_ticks() -> int:
    user, nice, system, _, _, irq, soft, *_ = map(int, Path("/proc/stat").read_text("ascii").split("\n")[0].split()[1:])
    return user + nice + system + irq + soft
