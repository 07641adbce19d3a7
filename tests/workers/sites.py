"""Sites that run as processes of their own."""

from __future__ import annotations

import subprocess
from pathlib import Path


def heard(process: subprocess.Popen[str], word: str) -> str:
    """What is said up to the line with a word."""
    assert process.stderr is not None
    said = ""
    while word not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    return said


def children(parent: int) -> list[int]:
    """The processes that a process has started, by whichever of its threads."""
    found = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(pid) for path in found for pid in path.read_text().split()]
