"""Full probes of hostile servers: what each leaves behind, and how long each question took.

`python -m tests.conformance.mishandling serve` serves all of them and prints their addresses as JSON;
`python -m tests.conformance.mishandling` starts that in a process of its own, probes all that do more than keep silent,
and prints how many there were, the seconds it took, and the peak resident memory of the probing process in KiB;
with `large`, it probes only those that send much; with `served`, those whose addresses it reads.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from crawler.collectors.protocol import ProbeLimits
from crawler.http.connection import Limits
from evidence.model import Reason, TargetType
from tests.conformance.probing import Probed, look, prober
from tests.crawler.collectors.protocol.probing import remote
from tests.servers.hostile import serving
from tests.servers.hostile_access import LOCKED, SSE
from tests.servers.hostile_behaviour import Case
from tests.servers.hostile_framing import FRAMING
from tests.servers.hostile_lists import LISTED
from tests.servers.hostile_meaning import MEANING

HASTY = Limits(connect=4, first_byte=1.6, between_bytes=1.0, total=2.4)
PROBE = ProbeLimits(discover=1.6, total=40, stdio_answer=2.4, retry_pause=0)
# For servers that answer: on a busy machine a second may pass before they do.
PATIENT = Limits(connect=20, first_byte=8, between_bytes=8, total=12)
PATIENT_PROBE = ProbeLimits(discover=8, total=100, stdio_answer=12, retry_pause=0)
AT_ONCE = 8
MEASURED_AT_ONCE = 4
LARGE = re.compile("bomb|endless|MB|gigabytes|thousand|20,000")
CASES: Mapping[str, Case] = {**FRAMING, **MEANING, **LISTED, **LOCKED, **SSE}


@dataclass(frozen=True, slots=True)
class Suffered:
    """What came of one hostile server, and the seconds that all of it took."""

    probed: Probed
    seconds: float

    @property
    def slowest(self) -> float:
        """Seconds of the longest exchange."""
        recorded = self.probed.listing.observation.get("exchanges")
        times = [one.get("ms") for one in recorded if isinstance(one, Mapping)] if isinstance(recorded, list) else []
        return max((time for time in times if isinstance(time, float)), default=0.0) / 1000


@contextlib.contextmanager
def served() -> Iterator[Mapping[str, str]]:
    """The address of every hostile server, all in one process of their own."""
    command = [sys.executable, "-m", "tests.conformance.mishandling", "serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield json.loads(process.stdout.readline())
        finally:
            process.kill()


async def suffer(addresses: Mapping[str, str], *, keep: bool = True, at_once: int = AT_ONCE) -> Mapping[str, Suffered]:
    """Probe every hostile server, some at once; an exception of the collector goes through."""
    turns = asyncio.Semaphore(at_once)
    found: dict[str, Suffered] = {}

    async def one(name: str) -> None:
        kind = TargetType.SSE if name in SSE else TargetType.STREAMABLE_HTTP
        async with turns:
            began = time.monotonic()
            limits, probe = (HASTY, PROBE) if _is_silent(CASES[name]) else (PATIENT, PATIENT_PROBE)
            probed = await look(prober(limits=limits, probe=probe), remote(addresses[name], kind))
            if keep:
                found[name] = Suffered(probed, time.monotonic() - began)

    async with asyncio.TaskGroup() as group:
        for name in addresses:
            group.create_task(one(name))
    return found


def _is_silent(case: Case) -> bool:
    return case.reason is Reason.TIMEOUT or (case.sees or ("", ""))[1] == "timeout"


async def _serve() -> None:
    async with contextlib.AsyncExitStack() as stack:
        addresses = {name: await stack.enter_async_context(serving(case.make())) for name, case in CASES.items()}
        sys.stdout.write(json.dumps(addresses) + "\n")
        sys.stdout.flush()
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def main() -> None:
    """Serve, or suffer once and tell."""
    logging.disable(logging.WARNING)  # asyncio remarks on each write to a client that hung up
    if sys.argv[1:] == ["serve"]:
        asyncio.run(_serve())
        return
    began = time.monotonic()
    with contextlib.nullcontext(json.load(sys.stdin)) if "served" in sys.argv else served() as addresses:
        wanted = {name: url for name, url in addresses.items() if (CASES[name].sees or ("", ""))[1] != "timeout"}
        if "large" in sys.argv:
            wanted = {name: url for name, url in wanted.items() if LARGE.search(name)}
        asyncio.run(suffer(wanted, keep=False, at_once=MEASURED_AT_ONCE))
    sys.stdout.write(f"{len(wanted)} {time.monotonic() - began:.1f} {_peak()}\n")


def _peak() -> int:
    """KiB; not ru_maxrss, which begins with the size of the process that started this one."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    main()
