"""All starts of a server share one time, and a start for which none is left hides no reason."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from crawler.collectors.protocol.probes.probe import ProbeDependencies, ProbeOptions
from crawler.collectors.protocol.session.asking_time import AskingTime
from crawler.collectors.protocol.session.dialogue import ProbeLimits
from crawler.collectors.protocol.stdio.port_probe import PortStart
from crawler.collectors.protocol.stdio.processes import TargetProcesses
from crawler.collectors.protocol.stdio.start_attempts import StartAttempts
from crawler.http.rate_limiting import HostRateLimiter
from crawler.mcp.channel import Era
from crawler.mcp.transcript import Transcript
from evidence.model import Absent, Reason, Target, TargetType
from tests.crawler.collectors.launching import PipeLauncher, Pipes
from tests.crawler.collectors.protocol.probing import NOW
from tests.crawler.collectors.protocol.stdio.test_start_attempts import SERVER, Started

SILENT = Target(type=TargetType.COMMAND, identifier=".", arguments=(sys.executable, "-c", "input()\ninput()"))
OVER = Absent(Reason.NOT_COLLECTED, "the time for one server was over")
DEPENDENCIES = ProbeDependencies(limiter=HostRateLimiter(), clock=lambda: NOW, limits=ProbeLimits(), client_version="0")


class OneStart(AskingTime):
    """The time of one start, however long it takes."""

    def spend(self, seconds: float) -> None:
        del seconds
        self.seconds = 0


class Portless(PipeLauncher):
    """Starts processes that listen on no port."""

    async def launch(self, target: Target) -> Pipes | Absent:
        found = await super().launch(target)
        found.list_ports, found.connect = tuple, None  # type: ignore[attr-defined]
        return found


def test_all_starts_of_a_server_share_one_time() -> None:
    launcher, time = PipeLauncher("bubblewrap", {"layer": "a" * 64}), AskingTime(0.8)

    async def start() -> float | Absent:
        async with TargetProcesses(launcher, SILENT, ProbeLimits(), "0", time).started(Transcript()) as process:
            if isinstance(process, Absent):
                return process
            left = process.channel.left
            await process.channel.send_request("ping", {}, Era.LEGACY)
            return left

    first, other = asyncio.run(start()), asyncio.run(start())
    assert isinstance(first, float)
    assert first <= 0.8
    assert other == OVER


@pytest.mark.parametrize("checks", ["want('CHAT_TOKEN')", "sys.exit('ImportError: cannot import name of a library')"])
def test_when_the_time_of_all_starts_is_over_the_reason_of_the_last_one_stays(tmp_path: Path, checks: str) -> None:
    (tmp_path / "server.py").write_text(SERVER.replace("{checks}", checks))
    launcher = Started(tmp_path / "server.py")
    attempts = StartAttempts(launcher, DEPENDENCIES, ProbeOptions(), None, OneStart(60))
    found = asyncio.run(attempts.run(Target(type=TargetType.NPM, identifier="wanting-server"))).listing

    assert isinstance(found, Absent)
    assert found.reason in {Reason.CREDENTIALS_REQUIRED, Reason.START_FAILED}
    assert len(launcher.given) == 1


@pytest.mark.parametrize("seconds", [0.2, 1.0])
def test_a_server_that_had_no_time_to_listen_is_not_said_to_be_silent(seconds: float) -> None:
    launcher = Portless("bubblewrap", {"layer": "a" * 64})
    start = PortStart(launcher, DEPENDENCIES, ProbeOptions(), AskingTime(seconds))
    assert asyncio.run(asyncio.wait_for(start.run(SILENT), 20)).listing == OVER
