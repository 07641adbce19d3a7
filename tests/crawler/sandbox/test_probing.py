"""Servers in real boxes are probed like remote servers, including writing tools, and leave nothing behind."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from crawler.launcher import LaunchedServer
from crawler.sandbox import Sandbox
from evidence.kinds import listing as listing_kind
from evidence.kinds import trials
from evidence.kinds.trials import TrialKind, TrialOutcome, Trials
from evidence.model import Absent, Dossier, Observed, Record, Server, Target, TargetType
from scoring.protocol.conformance import Verdict
from tests.conformance.probing import Probed
from tests.crawler.collectors.protocol.probing import NOW, collector, listing, names, records_of
from tests.crawler.sandbox import census
from tests.crawler.sandbox.driving import HOSTILE, sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.xdist_group("attacks")]

REMEMBERING = Target(type=TargetType.COMMAND, identifier=str(HOSTILE), arguments=("python", "remembering.py"))
TOOLS = ["write_note", "delete_note", "get_note", "crash"]


@dataclass
class Counting:
    """A launcher that knows how many boxes run at once."""

    box: Sandbox
    running: int = 0
    most: int = 0

    async def launch(self, target: Target) -> LaunchedServer | Absent:
        launched = await self.box.launch(target)
        assert not isinstance(launched, Absent), launched
        self.running += 1
        self.most = max(self.most, self.running)
        launched.after_stop(self._left)  # type: ignore[attr-defined]
        return launched

    async def _left(self) -> None:
        self.running -= 1


def visits(
    cache: Path, *, servers: int = 1, slots: int = 1, depth: str = "core"
) -> tuple[list[dict[str, Record]], Counting]:
    async def run() -> tuple[list[dict[str, Record]], Counting]:
        launcher = Counting(await sandbox(cache, slots=slots))
        prober = collector(launcher=launcher, depth=depth)
        found = await asyncio.gather(*(records_of(prober, REMEMBERING) for _ in range(servers)))
        return list(found), launcher

    return asyncio.run(run())


def used(cache: Path) -> census.Census:
    """What there is on a machine with a cache that was in use before."""
    visits(cache)
    return census.take(cache)


def test_what_a_tool_writes_is_seen_by_nothing_else_and_leaves_nothing(cache: Path) -> None:
    before = used(cache)
    [records], launcher = visits(cache)
    content = records[trials.KIND].content

    assert isinstance(content, Observed), content
    tried = Trials.parse(content.body)
    assert tried.policy == "sandboxed_all"
    assert [(row.tool, row.outcome) for row in tried.trials if row.kind == TrialKind.CALL] == [
        ("get_note", TrialOutcome.RESULT),
        ("write_note", TrialOutcome.RESULT),
        ("delete_note", TrialOutcome.RESULT),
        ("crash", TrialOutcome.FAILURE),
    ]
    assert names(listing(records[listing_kind.KIND]).tools.items) == TOOLS
    assert launcher.most == 1
    assert census.take(cache).leaks(before) == []


def test_a_process_gets_the_verdicts_that_do_not_depend_on_http(cache: Path) -> None:
    [records], _ = visits(cache, depth="full")
    server = Server(ref="test", name="test", targets=(REMEMBERING,))
    verdicts = Probed(Dossier(server=server, as_of=NOW, records=records)).verdicts()

    for name in (
        "LIFE-01",
        "LIFE-02",
        "PING-01",
        "JSON-01",
        "JSON-02",
        "JSON-04",
        "TOOL-01",
        "IO-01",
        "IO-02",
        "IO-05",
    ):
        assert verdicts[name].verdict is Verdict.PASS, (name, verdicts[name])
    assert verdicts["LIFE-03"].verdict is Verdict.PASS


def test_many_servers_share_the_places_and_none_waits_for_ever(cache: Path) -> None:
    before = used(cache)
    found, launcher = visits(cache, servers=6, slots=2)

    bodies = {content.body for records in found if isinstance(content := records[trials.KIND].content, Observed)}
    assert len(bodies) == 1
    assert len(found) == 6
    assert launcher.most == 2
    assert launcher.running == 0
    assert census.take(cache).leaks(before) == []
