"""Behaviour of a server's processes as one record."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import cast

from crawler.collectors.protocol.stdio.recording_launcher import RecordingLauncher, behaviour_content
from crawler.launcher import LaunchedServer
from evidence.kinds.behaviour import Behaviour
from evidence.model import Absent, Observed, Reason, Target, TargetType

PACKAGE = Target(type=TargetType.NPM, identifier="x")
REMOTE = Target(type=TargetType.STREAMABLE_HTTP, identifier="https://example.com/mcp")
REFUSED = Absent(Reason.SANDBOX_RESTRICTED, "no")


@dataclass
class Started:
    behaviour: Behaviour | Absent


@dataclass
class Launching:
    """Launches what it was given, one after the other."""

    given: list[Behaviour | Absent | None]

    async def launch(self, target: Target) -> LaunchedServer | Absent:
        seen = self.given.pop(0)
        return REFUSED if seen is None else cast(LaunchedServer, Started(seen))


def combine_behaviour(*given: Behaviour | Absent | None) -> Observed | Absent | None:
    async def scenario() -> Observed | Absent | None:
        observing = RecordingLauncher(Launching(list(given)))
        for _ in given:
            await observing.launch(PACKAGE)
        return observing.behaviour()

    return asyncio.run(scenario())


def test_behaviour_of_all_processes_is_combined() -> None:
    found = combine_behaviour(
        Behaviour(names=("b.example",), decoys=()), None, Behaviour(names=("a.example",), decoys=())
    )
    assert isinstance(found, Observed)
    assert Behaviour.parse(found.body).names == ("a.example", "b.example")


def test_one_unobserved_process_makes_the_behaviour_unknown() -> None:
    assert combine_behaviour(Behaviour(), REFUSED) == REFUSED


def test_no_process_gives_no_behaviour() -> None:
    assert combine_behaviour(None) is None
    assert behaviour_content(None, (PACKAGE,), REFUSED) == REFUSED
    elsewhere = behaviour_content(None, (REMOTE,), REFUSED)
    assert isinstance(elsewhere, Absent)
    assert elsewhere.reason is Reason.TRANSPORT_UNSUPPORTED
