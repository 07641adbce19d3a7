"""A re-test asks what cost points, at most 30 requests, and leaves the rest as it was."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

from crawler.collectors.protocol.probes.carry_over import is_full_probe_due, read_full_probe_time
from crawler.collectors.protocol.questions.selection import QuestionSelection
from evidence.model import Record
from tests.crawler.collectors.launching import PipeLauncher, module
from tests.crawler.collectors.protocol.probes.test_carry_over import Changing, rows
from tests.crawler.collectors.protocol.probing import NOW, body, collector, records_of, remote, talk
from tests.servers.hostile import KNOWN, UNKNOWN, Call, serving

LATER = NOW + timedelta(hours=2)
LOST = """
    ping unknown-method call-nonexistent malformed stream version-unknown initialize-2024-11-05 batch initialize-unknown
    discover-origin list-tools-elsewhere discover-version-unknown discover-meta-missing discover-method-mismatch get
    removed-ping delete list-tools-again call-name-mismatch call-name-encoded read-nonexistent cursor-invented
"""
EVERYTHING = QuestionSelection.for_findings(
    f"exchanges/{era}/{step}" for era in ("legacy", "modern") for step in LOST.split()
)


class Counting(Changing):
    """Counts every request that arrives, and may answer some methods differently later."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived: list[str] = []

    async def __call__(self, call: Call) -> None:
        self.arrived.append(call.method)
        await super().__call__(call)


def retested(
    server: Counting, chosen: QuestionSelection, *between: Any
) -> tuple[Mapping[str, Record], Mapping[str, Record]]:
    """The records of a full probe and of a re-test two hours later; the server's count is that of the re-test."""

    async def run() -> tuple[Mapping[str, Record], Mapping[str, Record]]:
        async with serving(server) as url:
            full = await records_of(collector(depth="full"), remote(url))
            for change in between:
                change(server)
            server.arrived.clear()
            again = collector(depth="weekly", at=LATER, chosen=chosen)
            return full, await records_of(again, remote(url), earlier=full)

    return asyncio.run(run())


def test_an_unchanged_server_leaves_the_body_of_its_full_probe() -> None:
    full, again = retested(
        Counting(), QuestionSelection.for_findings(["exchanges/legacy/ping", "exchanges/modern/discover-origin"])
    )
    assert body(again) == body(full)
    assert talk(again).depth == "full"


def test_only_what_was_chosen_is_asked_and_a_repair_shows() -> None:
    server = Counting()

    def repair(server: Counting) -> None:
        async def pong(call: Call) -> None:
            await call.result({})

        server.inner.overrides["ping"] = pong

    full, again = retested(server, QuestionSelection.for_findings(["exchanges/legacy/ping"]), repair)
    assert server.arrived.count("ping") == 1
    assert set(server.arrived) <= KNOWN | {"notifications/initialized", "GET", "DELETE"}
    assert not rows(full)["legacy", "ping", 0].succeeded
    assert rows(again)["legacy", "ping", 0].succeeded
    unchanged = {key: row.received for key, row in rows(full).items() if key[1] != "ping"}
    assert {key: row.received for key, row in rows(again).items() if key[1] != "ping"} == unchanged


def test_no_more_than_thirty_requests_reach_the_server_whatever_was_lost() -> None:
    server = Counting()
    full, again = retested(server, EVERYTHING)
    assert 20 < len(server.arrived) <= 30
    assert rows(again).keys() == rows(full).keys()  # what was not asked any more still stands
    heard = [{key: (row.result, row.unclear) for key, row in rows(found).items()} for found in (full, again)]
    assert heard[0] == heard[1]  # also where an answer is that of another question, whose place has moved


def test_a_full_probe_is_due_after_a_retest() -> None:
    full, again = retested(Counting(), QuestionSelection())
    assert not is_full_probe_due(full["exchanges"], LATER)
    assert is_full_probe_due(again["exchanges"], LATER)
    assert read_full_probe_time(again["exchanges"]) == NOW


def test_a_server_that_asks_for_fewer_requests_keeps_what_it_said_before() -> None:
    def limit(server: Counting) -> None:
        async def refuse(call: Call) -> None:
            await call.reply(429, b"", ("Retry-After", "900"))

        server.inner.overrides[UNKNOWN] = refuse

    chosen = QuestionSelection.for_findings(["exchanges/legacy/unknown-method", "exchanges/legacy/malformed"])
    full, again = retested(Counting(), chosen, limit)
    assert rows(again)["legacy", "malformed", 0].status == rows(full)["legacy", "malformed", 0].status


@pytest.mark.parametrize(
    ("places", "steps"),
    [
        (["exchanges/legacy/batch"], {"batch", "initialized", "initialize-2025-03-26"}),
        (["exchanges/legacy/after-end/result"], {"after-end", "end"}),
        (["tools/search/description", "exchanges"], set()),
    ],
)
def test_what_can_only_be_asked_after_others_brings_them(places: Sequence[str], steps: set[str]) -> None:
    assert {step for _, step in QuestionSelection.for_findings(places).steps} == steps


def test_findings_about_access_bring_the_metadata() -> None:
    assert QuestionSelection.for_findings(["access/resource_metadata"]).metadata
    assert not QuestionSelection.for_findings(["accessories/x"]).metadata


def test_a_process_is_asked_what_was_chosen_of_it() -> None:
    async def run() -> Sequence[Mapping[str, Record]]:
        where = module("tests.servers.scripted_stdio")
        full = await records_of(collector(depth="full", launcher=PipeLauncher()), where)
        chosen = QuestionSelection.for_findings(["exchanges/legacy/ping"])
        return full, await records_of(collector(launcher=PipeLauncher(), chosen=chosen), where, earlier=full)

    full, again = asyncio.run(run())
    assert talk(again).depth == "full"
    heard = [{(one.connection.era, one.step): one.result for one in talk(found).exchanges} for found in (full, again)]
    assert heard[0] == heard[1]
