"""Several processes of one target: what is tried in which, that none outlives its visit, and what is not redone."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from crawler.collectors.protocol import ProbeLimits
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.collectors.protocol.session.asking_time import AskingTime
from crawler.collectors.protocol.stdio import processes as started_processes
from crawler.collectors.protocol.stdio.processes import StartedProcess, TargetProcesses
from crawler.collectors.protocol.trials.call_policy import CallPolicy
from crawler.mcp.channel import Era
from crawler.mcp.transcript import Transcript
from evidence.kinds import listing as listing_kind
from evidence.kinds.samples import Samples
from evidence.kinds.trials import TrialKind, TrialOutcome, Trials
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType
from scoring.protocol.conformance import Verdict
from tests.conformance.probing import Probed
from tests.crawler.collectors.launching import PipeLauncher, Pipes, module
from tests.crawler.collectors.protocol.probing import NOW, PROBE, collector, listing, names, records_of, talk

FACTS = {"package": "npm:x", "version": "1.0.0", "layer": "a" * 64}


class Visit:
    """One visit of the server that remembers, with everything that its processes were asked, by process."""

    def __init__(self, records: dict[str, Record], launcher: PipeLauncher, log: Path) -> None:
        self.records = records
        self.launcher = launcher
        self.processes: dict[int, list[tuple[str, ...]]] = {}
        for line in log.read_text().splitlines():
            pid, *message = json.loads(line)
            self.processes.setdefault(pid, []).append(tuple(message))

    @property
    def trials(self) -> Trials:
        content = self.records["trials"].content
        assert isinstance(content, Observed), content
        return Trials.parse(content.body)

    def calls(self) -> list[list[str]]:
        """The tools called in each process, in the order in which the processes were started."""
        called = [[message[1] for message in each if message[0] == "tools/call"] for each in self.processes.values()]
        return [
            [name for name in each if name in {"get_note", "add_tool", "crash", "delete_note", "frobnicate"}]
            for each in called
        ]


def visit(
    folder: Path,
    fault: str = "",
    *,
    runtime: str = "bubblewrap",
    facts: Mapping[str, Any] = FACTS,
    earlier: Visit | None = None,
    at: datetime = NOW,
    depth: str = "core",
    chosen: QuestionSelection | None = None,
    environment: tuple[tuple[str, str], ...] = (),
    processes: int = 1,
) -> Visit:
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    launcher = PipeLauncher(runtime, facts)
    prober = collector(launcher=launcher, depth=depth, at=at, chosen=chosen, limits=replace(PROBE, processes=processes))
    known = earlier.records if earlier else None
    (folder / "fault").write_text(fault)
    target = replace(module("tests.servers.forgetful", str(log)), environment=environment)
    return Visit(asyncio.run(records_of(prober, target, earlier=known)), launcher, log)


def test_deeds_are_done_in_a_process_of_their_own_and_leave_the_list_alone(tmp_path: Path) -> None:
    found = visit(tmp_path, depth="full")

    # The first process reads, makes both mistakes and answers the questions of a full probe; the last ones act.
    reading, *_, acting, after = found.calls()
    assert reading == ["get_note"] * 3
    assert acting == ["add_tool", "crash"]
    assert after == ["delete_note", "frobnicate"]
    assert names(listing(found.records[listing_kind.KIND]).tools.items) == [
        "add_tool",
        "crash",
        "get_note",
        "delete_note",
        "frobnicate",
    ]


def test_a_core_probe_calls_tools_that_write_last_in_the_process_that_it_listed(tmp_path: Path) -> None:
    found = visit(tmp_path)

    assert found.calls() == [["get_note"] * 3 + ["add_tool", "crash"], ["delete_note", "frobnicate"]]
    assert len(listing(found.records["listing"]).tools.items) == 5
    asked = [row["method"] for row in found.records["listing"].observation["exchanges"]]
    assert asked.count("tools/call") == 3


@pytest.mark.parametrize("fault", ["", "agrees", "agrees once", "once", "never", "deadly"])
def test_calls_in_a_process_that_refused_the_modern_era_leave_only_their_trials(tmp_path: Path, fault: str) -> None:
    core, full = visit(tmp_path, fault), visit(tmp_path, fault, depth="full")

    assert full.records["trials"].content == core.records["trials"].content
    asked = [row["method"] for row in full.records["listing"].observation["exchanges"]]
    assert "tools/call" not in asked[asked.index("server/discover") if "server/discover" in asked else 0 :]


def test_a_call_that_ends_its_process_spoils_no_other(tmp_path: Path) -> None:
    calls = [(row.tool, row.outcome) for row in visit(tmp_path).trials.trials if row.kind == TrialKind.CALL]

    assert calls == [
        ("get_note", TrialOutcome.RESULT),
        ("add_tool", TrialOutcome.RESULT),
        ("crash", TrialOutcome.FAILURE),
        ("delete_note", TrialOutcome.RESULT),
        ("frobnicate", TrialOutcome.RESULT),
    ]


@pytest.mark.parametrize("runtime", ["none", "", "chroot"])
def test_nothing_but_what_reads_is_called_where_nothing_contains_a_server(tmp_path: Path, runtime: str) -> None:
    found = visit(tmp_path, runtime=runtime)

    assert found.calls() == [["get_note"] * 3]
    assert found.trials.policy == CallPolicy.ANNOTATED


@pytest.mark.parametrize(
    ("depth", "processes", "most"), [("core", 1, 1), ("core", 3, 1), ("full", 1, 1), ("full", 2, 2), ("full", 3, 2)]
)
def test_so_many_processes_live_at_a_time_and_none_afterwards(
    tmp_path: Path, depth: str, processes: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive: list[int] = []
    launch = PipeLauncher.launch

    async def counting(self: PipeLauncher, target: Any) -> Pipes | Absent:
        found = await launch(self, target)
        alive.append(sum(not pipes.stops for pipes in self.launched))
        return found

    monkeypatch.setattr(PipeLauncher, "launch", counting)
    found = visit(tmp_path, depth=depth, processes=processes)

    assert max(alive) == most
    assert all(pipes.stops for pipes in found.launcher.launched)


@pytest.mark.parametrize("fault", ["", "agrees", "once", "never", "deadly"])
def test_processes_that_were_started_ahead_answer_like_others(tmp_path: Path, fault: str) -> None:
    alone, ahead = visit(tmp_path, fault, depth="full"), visit(tmp_path, fault, depth="full", processes=4)

    assert {kind: record.content for kind, record in ahead.records.items()} == {
        kind: record.content for kind, record in alone.records.items()
    }


def test_processes_that_were_started_ahead_and_not_used_are_stopped_when_a_visit_is_cut_off() -> None:
    launcher = PipeLauncher("bubblewrap", FACTS)
    silent = Target(type=TargetType.COMMAND, identifier=".", arguments=(sys.executable, "-c", "input()"))

    async def run() -> None:
        processes = TargetProcesses(launcher, silent, ProbeLimits(processes=3), "0")
        async with processes.started(Transcript()):
            processes.start_ahead(5)
            while len(launcher.launched) < 3:
                await asyncio.sleep(0)
        closing = asyncio.ensure_future(processes.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        for launched in launcher.launched:
            await asyncio.wait_for(launched.ended.wait(), 60)

    asyncio.run(run())
    assert len(launcher.launched) == 3


@pytest.mark.parametrize(("most", "starts"), [(1, [1, 1, 2]), (2, [1, 2, 2])])
def test_the_next_process_is_started_ahead_where_two_may_live(most: int, starts: list[int]) -> None:
    class Counting(PipeLauncher):
        starts = 0

        async def launch(self, target: Target) -> Pipes | Absent:
            self.starts += 1
            return await super().launch(target)

    launcher, seen = Counting("bubblewrap", FACTS), []
    silent = Target(type=TargetType.COMMAND, identifier=".", arguments=(sys.executable, "-c", "input()"))

    async def run() -> None:
        processes = TargetProcesses(launcher, silent, ProbeLimits(processes=most), "0")
        async with processes.started(Transcript()):
            seen.append(launcher.starts)
            processes.start_ahead(1)
            processes.start_ahead(1)  # it is the same one
            await asyncio.sleep(0)  # a turn of the event loop, in which it begins
            seen.append(launcher.starts)
        async with processes.started(Transcript()) as process:
            assert isinstance(process, StartedProcess)
            assert [pipes.stops > 0 for pipes in launcher.launched] == [True, False]
            seen.append(launcher.starts)
        await processes.close()

    asyncio.run(asyncio.wait_for(run(), 60))
    assert seen == starts
    assert all(pipes.stops for pipes in launcher.launched)


@pytest.mark.parametrize(("depth", "processes"), [("core", 2), ("full", 1), ("full", 2)])
def test_what_was_started_ahead_of_a_server_that_does_not_open_is_stopped_and_changes_no_record(
    depth: str, processes: int
) -> None:
    launcher = PipeLauncher("bubblewrap", FACTS)
    broken = Target(type=TargetType.COMMAND, identifier=".", arguments=(sys.executable, "-c", "raise SystemExit(7)"))
    prober = collector(launcher=launcher, depth=depth, limits=replace(PROBE, processes=processes))
    found = asyncio.run(asyncio.wait_for(records_of(prober, broken), 60))

    why = "the process ended before answering initialize: exit code 7"
    assert found[listing_kind.KIND].content == Absent(Reason.START_FAILED, why)
    assert len(launcher.launched) <= (2 if depth == "full" and processes > 1 else 1)
    assert all(pipes.stops for pipes in launcher.launched)


def test_a_process_that_is_there_is_used_although_an_earlier_one_waits_for_its_slot() -> None:
    class Slots(PipeLauncher):
        """The second start waits for a slot that only the third process frees."""

        starts = 0

        async def launch(self, target: Target) -> Pipes | Absent:
            self.starts += 1
            if self.starts == 2:
                while len(self.launched) < 2:
                    await asyncio.sleep(0)
                await self.launched[1].ended.wait()
            return await super().launch(target)

    launcher = Slots("bubblewrap", FACTS)
    silent = Target(type=TargetType.COMMAND, identifier=".", arguments=(sys.executable, "-c", "input()"))

    async def run() -> None:
        processes = TargetProcesses(launcher, silent, ProbeLimits(processes=3), "0")
        async with processes.started(Transcript()):
            processes.start_ahead(2)
        for _ in range(2):
            async with processes.started(Transcript()) as process:
                assert isinstance(process, StartedProcess)
        await processes.close()

    asyncio.run(asyncio.wait_for(run(), 30))
    assert [pipes.stops > 0 for pipes in launcher.launched] == [True] * 3


# Ends when nothing is asked within half a second, and takes its time to answer.
_IMPATIENT = """
import json, select, sys, time
if not select.select([sys.stdin], [], [], 0.5)[0]:
    sys.exit("nobody is there")
for line in sys.stdin:
    message = json.loads(line) if line.rstrip().endswith("}") else {}
    if "id" not in message:
        continue
    time.sleep(0.2)
    answer = {"error": {"code": -32601, "message": "Method not found"}}
    if message["method"] == "initialize":
        info = {"name": "impatient", "version": "1"}
        answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}}
    if message["method"] == "tools/list":
        answer = {"result": {"tools": []}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


def test_a_process_that_ended_before_its_turn_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(started_processes, "_FRESH_SECONDS", 0.1)
    target = Target(type=TargetType.COMMAND, identifier=".", arguments=(sys.executable, "-c", _IMPATIENT))

    def look(processes: int) -> dict[str, Observed | Absent]:
        launcher = PipeLauncher("bubblewrap", FACTS)
        prober = collector(launcher=launcher, depth="full", limits=replace(PROBE, processes=processes))
        found = asyncio.run(records_of(prober, target))
        assert all(pipes.stops for pipes in launcher.launched)
        return {kind: record.content for kind, record in found.items()}

    assert look(3) == look(1)


def test_a_visit_that_is_cut_off_leaves_no_process(tmp_path: Path) -> None:
    launcher = PipeLauncher("bubblewrap", FACTS)

    async def run() -> None:
        log = tmp_path / "log.jsonl"
        task = asyncio.ensure_future(
            records_of(collector(launcher=launcher, depth="full"), module("tests.servers.forgetful", str(log)))
        )
        while not launcher.launched:
            await asyncio.sleep(0)
        await launcher.launched[0].reading.wait()
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # nothing waits for the end of the process any more
        await asyncio.gather(task, return_exceptions=True)
        [launched] = launcher.launched
        await asyncio.wait_for(launched.ended.wait(), 60)

    asyncio.run(run())


OFFERED = {"initialize-unknown", "initialize-2024-11-05", "initialize-2025-03-26", "initialize-2025-06-18"}


def agreed(found: Visit) -> dict[str, str]:
    """What was agreed to at each further opening, by its step; one of which nothing is recorded is missing."""
    rows = talk(found.records).exchanges
    return {row.step: row.connection.negotiated for row in rows if row.step in OFFERED}


def openings(found: Visit) -> list[int]:
    """How many openings each process got."""
    return [sum(message[0] == "initialize" for message in each) for each in found.processes.values()]


def test_a_process_that_agrees_to_a_version_is_offered_the_next_one(tmp_path: Path) -> None:
    found = visit(tmp_path, "agrees", depth="full")

    assert agreed(found) == {
        "initialize-unknown": "2025-11-25",
        "initialize-2024-11-05": "2024-11-05",
        "initialize-2025-03-26": "2025-03-26",
        "initialize-2025-06-18": "2025-06-18",
    }
    assert openings(found) == [1, 5, 1]  # the second refuses the modern era, and is opened once more to act
    assert found.calls()[1:] == [["add_tool", "crash"], ["delete_note", "frobnicate"]]


@pytest.mark.parametrize("fault", ["agrees once", "agrees and ends", "agrees and falls silent"])
def test_a_version_to_which_an_opened_process_does_not_agree_is_offered_to_a_new_one(
    tmp_path: Path, fault: str
) -> None:
    found, alike = visit(tmp_path, fault, depth="full"), visit(tmp_path, "agrees", depth="full")

    assert agreed(found) == agreed(alike)
    assert max(openings(found)) == 2
    assert sum(map(len, found.processes.values())) > sum(map(len, alike.processes.values()))


def test_an_answer_that_may_be_about_an_earlier_opening_is_not_recorded(tmp_path: Path) -> None:
    found = visit(tmp_path, depth="full")

    assert agreed(found) == dict.fromkeys(OFFERED, "2025-11-25")
    assert [row.step for row in talk(found.records).exchanges if row.step in OFFERED] == [
        "initialize-unknown",
        "initialize-2024-11-05",
        "initialize-2025-03-26",
        "initialize-2025-06-18",
    ]
    assert sum(count > 0 for count in openings(found)) >= 1 + 4


def test_a_process_beside_another_gets_what_that_one_has_left() -> None:
    launcher = PipeLauncher("bubblewrap", FACTS)
    silent = Target(type=TargetType.COMMAND, identifier=".", arguments=(sys.executable, "-c", "input()"))

    async def run() -> tuple[float, float]:
        processes = TargetProcesses(launcher, silent, ProbeLimits(total=60), "0", AskingTime(30))
        async with processes.started(Transcript()) as first:
            assert isinstance(first, StartedProcess)
            await asyncio.sleep(0.3)
            await first.channel.close()
            async with processes.started(Transcript()) as second:
                assert isinstance(second, StartedProcess)
                return first.channel.lived, second.channel.left

    lived, left = asyncio.run(run())
    assert lived >= 0.3
    assert left <= 30 - lived


def test_the_processes_of_one_server_live_no_longer_than_it_may_take() -> None:
    launcher = PipeLauncher("bubblewrap", FACTS)
    silent = Target(type=TargetType.COMMAND, identifier=".", arguments=(sys.executable, "-c", "input()\ninput()"))

    async def run() -> Absent | None:
        processes = TargetProcesses(launcher, silent, ProbeLimits(total=0.5), "0")
        for _ in range(4):
            async with processes.started(Transcript()) as process:
                if isinstance(process, Absent):
                    return process
                await process.channel.send_request("ping", {}, Era.LEGACY)
        return None

    assert asyncio.run(run()) == Absent(Reason.NOT_COLLECTED, "the time for one server was over")
    assert 1 <= len(launcher.launched) <= 2


def test_tools_of_an_unchanged_package_are_not_tried_again(tmp_path: Path) -> None:
    first = visit(tmp_path / "", "")
    kept = Visit(_without_crash(first), first.launcher, tmp_path / "log.jsonl")
    second = visit(tmp_path, earlier=kept, at=NOW + timedelta(days=1))

    assert second.calls() == [[]]
    assert second.records["trials"].content == kept.records["trials"].content
    third = visit(tmp_path, earlier=second, at=NOW + timedelta(days=13), facts={**FACTS, "reinstalled": "changed"})
    assert third.calls() == [[]]


@pytest.mark.parametrize(
    "changes",
    [
        {"facts": {**FACTS, "layer": "b" * 64}},
        {"environment": (("KEY", "value"),)},
        {"facts": {"command": "x"}},
        {"at": NOW + timedelta(days=15)},
        {"depth": "full"},
        {"chosen": QuestionSelection()},
        {"runtime": "none"},
    ],
    ids=["another layer", "given something", "a command", "long ago", "full", "re-test", "not contained"],
)
def test_tools_are_tried_again_when_anything_about_them_may_have_changed(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    first = visit(tmp_path)
    kept = Visit(_without_crash(first), first.launcher, tmp_path / "log.jsonl")

    assert any(visit(tmp_path, earlier=kept, **changes).calls())


def test_trials_with_a_call_that_failed_are_made_again(tmp_path: Path) -> None:
    assert any(visit(tmp_path, earlier=visit(tmp_path)).calls())


def test_a_start_that_fails_once_of_a_package_that_starts_is_tried_again(tmp_path: Path) -> None:
    well = visit(tmp_path)
    again = visit(tmp_path, "once", earlier=well, at=NOW + timedelta(days=1))

    assert isinstance(again.records[listing_kind.KIND].content, Observed)
    assert _samples(again) == (2, 2)


def test_failed_starts_of_a_package_that_started_before_are_failed_attempts(tmp_path: Path) -> None:
    well = visit(tmp_path)
    down = visit(tmp_path, "never", earlier=well, at=NOW + timedelta(days=1))
    still = visit(tmp_path, "never", earlier=down, at=NOW + timedelta(days=2))

    assert isinstance(down.records[listing_kind.KIND].content, Absent)
    assert (_samples(down), _samples(still)) == ((1, 2), (1, 3))


@pytest.mark.parametrize("facts", [{**FACTS, "layer": "b" * 64}, {"command": "x"}])
def test_a_package_that_never_started_here_has_made_no_attempt(tmp_path: Path, facts: dict[str, Any]) -> None:
    well = visit(tmp_path)
    down = visit(tmp_path, "never", facts=facts, earlier=well, at=NOW + timedelta(days=1))

    assert _samples(down) == (1, 1)
    assert isinstance(visit(tmp_path, "never").records["samples"].content, Absent)


def _samples(found: Visit) -> tuple[int, int]:
    content = found.records["samples"].content
    assert isinstance(content, Observed), content
    seen = Samples.parse(content.body)
    return seen.successes, seen.samples


def _without_crash(found: Visit) -> dict[str, Record]:
    """The records of a visit in which no call went unanswered."""
    record = found.records["trials"]
    assert isinstance(record.content, Observed)
    body = json.loads(record.content.body)
    body["trials"] = [row for row in body["trials"] if row["tool"] != "crash"]
    return found.records | {"trials": replace(record, content=Observed(json.dumps(body).encode()))}


# A server of the modern era alone, which acknowledges a subscription and never answers it.
_MODERN = """
import json, sys
CAPABILITIES = {"tools": {"listChanged": True}}
for line in sys.stdin:
    message = json.loads(line) if line.rstrip().endswith("}") else {}
    if "id" not in message:
        continue
    answer = {"error": {"code": -32601, "message": "Method not found"}}
    if message["method"] == "server/discover":
        answer = {"result": {"supportedVersions": ["2026-07-28"], "capabilities": CAPABILITIES}}
    if message["method"] == "tools/list":
        answer = {"result": {"tools": []}}
    reply = {"id": message["id"], **answer}
    if message["method"] == "subscriptions/listen":
        meta = {"_meta": {"io.modelcontextprotocol/subscriptionId": message["id"]}}
        reply = {"method": "notifications/subscriptions/acknowledged", "params": meta}
    print(json.dumps({"jsonrpc": "2.0", **reply}), flush=True)
"""


@pytest.mark.parametrize(("listens", "verdict"), [(True, Verdict.PASS), (False, Verdict.NOT_APPLICABLE)])
def test_a_process_is_listened_to_only_when_the_operator_says_so(listens: bool, verdict: Verdict) -> None:
    prober = collector(launcher=PipeLauncher(), depth="full")
    prober._listen = listens
    target = Target(type=TargetType.COMMAND, identifier=".", arguments=(sys.executable, "-c", _MODERN))
    server = Server(ref="test", name="test", targets=(target,))
    probed = Probed(Dossier(server=server, as_of=NOW, records=asyncio.run(records_of(prober, target))))

    assert probed.verdicts()["SUB-01"].verdict is verdict


def test_a_call_that_ends_the_first_process_costs_no_question(tmp_path: Path) -> None:
    found = visit(tmp_path, "deadly", depth="full")
    server = Server(ref="test", name="test", targets=(module("tests.servers.forgetful", ""),))
    verdicts = Probed(Dossier(server=server, as_of=NOW, records=found.records)).verdicts()

    assert {verdicts[name].verdict for name in ("PING-01", "JSON-01", "JSON-04")} == {Verdict.PASS}
