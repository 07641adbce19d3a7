"""The time from the kill of a sandbox to the end of its last process."""

from __future__ import annotations

import asyncio
import os
import select
import statistics
import time

from crawler.sandbox import Sandbox
from crawler.sandbox.boxes.process_tree import list_descendants
from evidence.model import Absent, Target, TargetType
from tests.crawler.sandbox.driving import HOSTILE

DESCENDANTS = (1, 10, 25)  # each comes into being by two forks, and a box may have 64 processes


async def kills(box: Sandbox, rounds: int) -> dict[str, float]:
    """Milliseconds until the last process has ended, for boxes with few and many daemons that ignore signals."""
    result: dict[str, float] = {}
    for descendants in DESCENDANTS:
        deaths, returns = zip(*[await kill(box, descendants) for _ in range(rounds)], strict=True)
        print(
            f"kill with {descendants:2} daemons: last death {statistics.median(deaths):5.1f} ms "
            f"(most {max(deaths):.1f}), stop() returned {statistics.median(returns):5.1f} ms (most {max(returns):.1f})"
        )
        result |= {f"last_death_ms_{descendants}": statistics.median(deaths), f"most_ms_{descendants}": max(deaths)}
    return result


async def kill(box: Sandbox, descendants: int) -> tuple[float, float]:
    """Start daemons, then kill: milliseconds until the last of them has ended, and until `stop` returned."""
    arguments = ("python", "attack.py", "daemons", str(descendants))
    launched = await box.launch(Target(type=TargetType.COMMAND, identifier=str(HOSTILE), arguments=arguments))
    assert not isinstance(launched, Absent), launched
    await launched.read(4096)  # it writes when all of them have started
    handles = [os.pidfd_open(pid) for pid in list_descendants(os.getpid())[1:]]
    assert len(handles) > descendants
    watched = asyncio.get_running_loop().run_in_executor(None, last_death, handles)
    await asyncio.sleep(0.01)  # the thread watches by then
    began = time.perf_counter()
    await launched.stop()
    returned = time.perf_counter()
    return 1000 * (await watched - began), 1000 * (returned - began)


def last_death(handles: list[int]) -> float:
    """When the last of these processes ended."""
    waiting = select.poll()
    for handle in handles:
        waiting.register(handle, select.POLLIN)
    alive = set(handles)
    while alive:
        for handle, _ in waiting.poll():
            waiting.unregister(handle)
            alive.discard(handle)
            os.close(handle)
    return time.perf_counter()
