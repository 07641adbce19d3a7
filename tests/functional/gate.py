"""A gate that holds processes of a deployment at a known place until a test has done there what it wants to do.

The folder that `GATE` names holds one file for each passage, and `open` once the gate is open. Without the variable
there is no gate. A passage waits for `GATE_SECONDS` at most, so that a process that has to stop can.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from uuid import uuid4

FREE = 24  # passages before the gate closes


class Gate:
    """The gate as the test holds it."""

    def __init__(self, folder: Path, seconds: float = 60.0) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self.environment = {"GATE": str(folder), "GATE_SECONDS": str(seconds)}

    def open(self) -> None:
        """Let everything through from now on."""
        (self._folder / "open").touch()


async def passed(free: int = FREE) -> None:
    """Return when the gate is open, or when fewer than `free` came before."""
    if "GATE" not in os.environ:
        return
    folder = Path(os.environ["GATE"])
    (folder / uuid4().hex).touch()
    deadline = time.monotonic() + float(os.environ["GATE_SECONDS"])
    while len(list(folder.iterdir())) > free and not (folder / "open").exists() and time.monotonic() < deadline:
        await asyncio.sleep(0.05)
