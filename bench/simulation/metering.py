"""CPU seconds and peak memory of process trees, read from /proc while they run."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_TICK: Final = os.sysconf("SC_CLK_TCK")
_PROC: Final = Path("/proc")


@dataclass
class Meter:
    """Trees of processes by role; call `sample` regularly, since the peak of an ended process is lost."""

    trees: Mapping[str, list[int]]
    seconds: dict[str, float] = field(default_factory=dict)
    peaks: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def sample(self) -> None:
        """Read the figures of all live processes."""
        children = _children()
        for role, roots in self.trees.items():
            pids = [pid for root in roots for pid in descendants(root, children)]
            if used := sum(_cpu_seconds(pid) for pid in pids):
                self.seconds[role] = max(used, self.seconds.get(role, 0.0))
            for pid in pids:
                if peak := _peak_kib(pid):
                    self.peaks[role][pid] = peak

    def peak_mib(self) -> dict[str, float]:
        """The highest peak of one process of each role."""
        return {role: round(max(peaks.values()) / 1024, 1) for role, peaks in self.peaks.items() if peaks}


def descendants(root: int, children: Mapping[int, list[int]]) -> Iterator[int]:
    """A process and everything below it."""
    yield root
    for child in children.get(root, ()):
        yield from descendants(child, children)


def children_of(root: int) -> list[int]:
    """The direct children of a process."""
    return _children().get(root, [])


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for folder in _PROC.iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))):
            found[int(fields[1])].append(int(folder.name))
    return found


def _cpu_seconds(pid: int) -> float:
    """Its own time and that of the children it has waited for."""
    fields = _stat(pid)
    return sum(int(value) for value in fields[11:15]) / _TICK if fields else 0.0


def _peak_kib(pid: int) -> int:
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def _stat(pid: int) -> list[str]:
    """The fields of `stat` from the state on (proc(5)); empty when the process has ended."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
