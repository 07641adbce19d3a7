"""Scans of hostile servers: how long each took, what it cost, and what it says.

`python -m tests.conformance.scanning [NAME ...]` serves the hostile servers of these names (default: all), runs
`hallmark scan` on each in a process of its own, two at a time, and prints seconds, MiB, the reason with its detail, and
what is above the bounds or other than expected.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from crawler.collectors.protocol import ProbeLimits
from crawler.http.connection import Limits
from evidence.model import Absent, Dossier, Server, Target, TargetType
from tests.conformance.mishandling import CASES, served
from tests.conformance.probing import prober
from tests.crawler.collectors.protocol.probing import NOW
from tests.servers.hostile_access import SSE

SECONDS = 60.0
MIB = 150
AT_ONCE = 2
# A scan in a process that prints its own peak memory last; that of a child would begin with its parent's.
_SCRIPT = """
import atexit, pathlib, sys
from workers.cli import main
status = pathlib.Path("/proc/self/status")
atexit.register(lambda: sys.stderr.write(status.read_text().partition("VmHWM:")[2].split()[0]))
main()
"""


@dataclass(frozen=True, slots=True)
class Scanned:
    """What came of one scan. `mib`: the peak memory of the scanning process, 0 if it was not measured."""

    name: str
    seconds: float
    mib: float
    reason: str
    detail: str

    def list_flaws(self, seconds: float = SECONDS) -> list[str]:
        """What is above the bounds, or other than the server's case says."""
        expected = CASES[self.name].reason
        found = [f"took {self.seconds:.1f} s"] if self.seconds > seconds else []
        found += [f"took {self.mib:.0f} MiB"] if self.mib > MIB else []
        found += [f"{self.reason or 'listed'}, not {expected or 'listed'}"] if self.reason != (expected or "") else []
        return found + (["no detail"] if self.reason and not self.detail else [])


async def probe_as_scan(name: str, url: str, limits: Limits, probe_limits: ProbeLimits) -> Scanned:
    """Collect in this process what a scan asks the server itself: over both transports."""
    kinds = [TargetType.STREAMABLE_HTTP, TargetType.SSE]
    targets = tuple(Target(type=kind, identifier=url) for kind in (kinds[::-1] if name in SSE else kinds))
    server = Server(ref=name, name=name, targets=targets)
    began = time.monotonic()
    listed, *_ = await prober(limits=limits, probe=probe_limits).collect(server, Dossier(server=server, as_of=NOW))
    content = listed.content
    reason, detail = (content.reason.value, content.detail) if isinstance(content, Absent) else ("", "")
    return Scanned(name, time.monotonic() - began, 0, reason, detail)


async def scan(name: str, url: str) -> Scanned:
    """Run `hallmark scan` on the address of a server."""
    command = [sys.executable, "-c", _SCRIPT, "scan", url, "--allow-private", "--json"]
    began = time.monotonic()
    pipe = asyncio.subprocess.PIPE
    with tempfile.TemporaryDirectory() as home:  # without a database, which costs a scan 30 MiB
        environment = {**os.environ, "HALLMARK_HOME": home}
        process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe, env=environment)
        output, notes = await process.communicate()
    seconds = time.monotonic() - began
    absent = json.loads(output)["evidence"]["listing"]["absent"] or {"reason": "", "detail": ""}
    return Scanned(name, seconds, int(notes.split()[-1]) / 1024, absent["reason"], absent["detail"])


async def scan_all(names: Sequence[str]) -> AsyncIterator[Scanned]:
    """Scan the servers of these names, and give each result as it comes."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(name: str, url: str) -> Scanned:
        async with turns:
            return await scan(name, url)

    with served() as addresses:
        for done in asyncio.as_completed([one(name, addresses[name]) for name in names]):
            yield await done


async def _main(names: Sequence[str]) -> None:
    async for one in scan_all(names or list(CASES)):
        flaws = "; ".join(one.list_flaws())
        row = f"{one.seconds:6.1f} s {one.mib:5.0f} MiB  {one.name}: {one.reason or 'listed'} {one.detail}"
        sys.stdout.write(f"{row}{'  !! ' if flaws else ''}{flaws}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1:]))
