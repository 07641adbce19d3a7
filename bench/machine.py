"""Counters of the kernel: processor time and memory of this process's descendants, and the load of the machine."""

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
        """Processor seconds that all processes of the machine used since."""
        return (_busy_ticks() - self._before) / TICK

    def report(self) -> dict[str, float]:
        """Print and return the load before and now, and the share of all processors that was in use meanwhile."""
        seconds = time.perf_counter() - self._began
        share = self.busy_seconds() / seconds / (os.cpu_count() or 1)
        now = os.getloadavg()[0]
        print(f"{seconds:.0f} s; load {self._load:.1f} before, {now:.1f} after; processors {share:.0%} busy")
        return {"seconds": seconds, "load_before": self._load, "load_after": now, "busy": share}


class Meter:
    """Processor seconds of this process and its descendants from now on; a killed one counts as of its last sample.

    The kernel's total for waited-for children leaves out processes that were killed together with their namespace.
    """

    def __init__(self) -> None:
        self._own = time.process_time()
        self._below: dict[str, int] = {}

    def sample(self) -> None:
        """Sample every live descendant; call this right before one of them is stopped."""
        for pid in list_descendants(os.getpid())[1:]:
            for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
                try:
                    self._below[str(path)] = int(path.read_text("ascii").split()[0])
                except OSError:
                    continue

    @property
    def seconds(self) -> float:
        """The sampled seconds of the descendants, and those of this process."""
        return sum(self._below.values()) / 1e9 + time.process_time() - self._own


def proportional_memory() -> int:
    """Bytes of all descendants; a page that several of them share counts once."""
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
