"""The number of boxes that run at once is limited over all processes, and no slot is lost."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from crawler.sandbox.box_slots import BoxSlots, count_box_slots
from crawler.sandbox.kernel.limits import MIB, RUN

# Takes every place there is, says so, and waits to be killed.
_HOLDER = """
import asyncio, sys
from pathlib import Path
from crawler.sandbox.box_slots import BoxSlots

async def hold():
    room = BoxSlots(Path(sys.argv[1]), 2)
    async with room.hold_slot(), room.hold_slot():
        print("held", flush=True)
        await asyncio.sleep(3600)

asyncio.run(hold())
"""


def test_places_are_shared_by_everybody_who_uses_the_folder(tmp_path: Path) -> None:
    rooms = [BoxSlots(tmp_path, 3) for _ in range(4)]
    inside = most = 0

    async def start(room: BoxSlots) -> None:
        nonlocal inside, most
        async with room.hold_slot():
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    async def run() -> None:
        await asyncio.gather(*(start(room) for room in rooms for _ in range(5)))

    asyncio.run(run())
    assert 1 < most <= 3


def test_a_process_that_dies_gives_its_places_back(tmp_path: Path) -> None:
    async def run() -> None:
        room = BoxSlots(tmp_path, 2)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(_taken(room), 0.2)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        await asyncio.wait_for(_taken(room), 60)

    with subprocess.Popen([sys.executable, "-c", _HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == "held\n"
        asyncio.run(run())


def test_who_is_cancelled_while_waiting_holds_no_place(tmp_path: Path) -> None:
    async def run() -> None:
        room = BoxSlots(tmp_path, 1)
        async with AsyncExitStack() as held:
            await held.enter_async_context(room.hold_slot())
            waiting = [asyncio.ensure_future(_taken(other)) for other in (room, BoxSlots(tmp_path, 1))]
            await asyncio.sleep(0)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        await asyncio.wait_for(_taken(BoxSlots(tmp_path, 1)), 60)

    asyncio.run(run())


def test_memory_bounds_what_processors_would_allow() -> None:
    assert count_box_slots(8, 3 * RUN.memory + MIB) == 3
    assert count_box_slots(2, 64 * RUN.memory) == 2
    assert count_box_slots(5, 1) == 1
    assert count_box_slots(0, 1024 * RUN.memory) == 2 * len(os.sched_getaffinity(0))
    assert count_box_slots() >= 1


async def _taken(room: BoxSlots) -> None:
    async with room.hold_slot():
        pass
