"""Starts boxes that end by themselves below a process 1 that does not reap; prints the remaining zombies."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from evidence.model import Absent, Target, TargetType
from tests.crawler.sandbox.driving import HOSTILE, read_all, sandbox

BOXES = 3
# Process 1: starts its arguments and never waits.
NEVER_WAITS = "import os, sys, time; os.fork() or os.execv(sys.argv[1], sys.argv[1:]); time.sleep(600)"


async def main(cache: Path) -> None:
    """Three boxes that end, three launches given up half-way, and a count of zombies by name."""
    box = await sandbox(cache)
    target = Target(type=TargetType.COMMAND, identifier=str(HOSTILE), arguments=("python", "attack.py", "sleep", "0"))
    for number in range(BOXES):
        launched = await box.launch(target)
        assert not isinstance(launched, Absent), launched
        await read_all(launched)
        await launched.stop()
        given_up = asyncio.create_task(box.launch(target))
        await asyncio.wait([given_up], timeout=0.03 * (number + 1))
        given_up.cancel()
        for found in await asyncio.gather(given_up, return_exceptions=True):
            if not isinstance(found, BaseException | Absent):
                await found.stop()
    sys.stdout.write(json.dumps(zombies()) + "\n")
    sys.stdout.flush()


def zombies() -> list[str]:
    """The names of all unreaped dead processes of this pid namespace."""
    found = []
    for entry in filter(str.isdecimal, os.listdir("/proc")):
        state = Path(f"/proc/{entry}/stat").read_text("utf-8", "replace")
        if state.rsplit(")", 1)[1].split()[0] == "Z":
            found.append(state.split("(", 1)[1].rsplit(")", 1)[0])
    return found


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
