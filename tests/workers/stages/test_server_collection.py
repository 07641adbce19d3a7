"""One step collects a server in a run and in a scan, behind one error boundary."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from crawler.collector import Scarce, make_record
from crawler.collectors.drift import DriftDeriver
from crawler.collectors.protocol import ProtocolCollector
from crawler.http.deadlines import pause_deadline
from evidence.kinds.traits import kinds_where, schemas, traits
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Trigger
from evidence.store import Stage
from tests.workers.world import ScriptedRegistry, World, context, ref
from workers import pipeline
from workers.cli import main
from workers.clock import Clock, SystemClock
from workers.log import Log, get_log
from workers.runs.options import RunOptions
from workers.settings.environment import Settings, read_settings
from workers.stages.collect_inputs import CollectInput
from workers.stages.collecting_time import TimeLeft
from workers.stages.routing import StageCollectors
from workers.stages.server_collection import collect_server


def test_derivers_run_beside_the_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []
    derive = DriftDeriver.derive

    def watched(self: DriftDeriver, found: Dossier, earlier: Dossier, at: datetime) -> list[Record]:
        threads.append(threading.current_thread())
        return derive(self, found, earlier, at)

    monkeypatch.setattr(DriftDeriver, "derive", watched)

    async def collect() -> None:
        async with context(tmp_path, World([ScriptedRegistry("first", [[ref(1)]])]), registries=("first",)) as ctx:
            run = pipeline.start_run(ctx, Trigger.LOCAL, RunOptions(registries=("first",)))
            await pipeline.discover(ctx, run)
            await pipeline.collect(ctx, run, ctx.store.list_planned_servers(run.id))

    asyncio.run(collect())
    assert threads
    assert threading.main_thread() not in threads


def test_a_bug_of_a_collector_ends_no_scan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def flawed(self: ProtocolCollector, target: Server, earlier: Dossier) -> list[Record]:
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr(ProtocolCollector, "collect", flawed)
    monkeypatch.setenv("HALLMARK_HOME", str(tmp_path))
    monkeypatch.setenv("HALLMARK_SOURCES", "[]")
    saved = tmp_path / "saved.json"
    monkeypatch.setattr("sys.argv", ["hallmark", "scan", "http://127.0.0.1:1/mcp", "--core", "--save", str(saved)])

    with pytest.raises(SystemExit) as left:
        main()

    assert left.value.code == 3  # the server could not be tested, and Hallmark did not fail
    assert '"reason":"collector_error"' in saved.read_text().replace(" ", "")
    assert "collector_failed" in capsys.readouterr().err


def test_every_kind_says_who_may_see_it_and_how_long_it_stands() -> None:
    assert traits().keys() == schemas().keys()
    standing = {declared.stands_with for declared in traits().values()} - {None}
    assert standing <= schemas().keys()
    assert kinds_where(lambda declared: declared.one_night) <= kinds_where(lambda declared: declared.conversation)


@dataclass
class _Working:
    """A collector of one kind that does what it is told before it answers."""

    kind: str
    work: Callable[[], Awaitable[object]]
    name: str = "working"
    version: int = 1
    needs: Scarce = Scarce.SERVER

    @property
    def kinds(self) -> tuple[str, ...]:
        return (self.kind,)

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        await self.work()
        return [make_record(self, target, self.kind, Observed(b"{}"), at=SystemClock().now())]


@dataclass
class _Collecting:
    settings: Settings
    clock: Clock
    log: Log


def _collect(left: TimeLeft, *collectors: _Working) -> dict[str, Observed | Absent]:
    server = Server(ref="https://example.com/mcp", name="example", targets=())
    empty = Dossier(server=server, as_of=SystemClock().now())
    subject = CollectInput(server, None, earlier=empty, found=empty)
    ctx = _Collecting(read_settings(), SystemClock(), get_log())
    sources = StageCollectors(collectors, (), ())
    found = asyncio.run(collect_server(ctx, sources, Stage.COLLECT, subject, left=left))
    return {record.kind: record.content for record in found.records}


async def _at_once() -> None: ...


async def _never() -> None:
    await asyncio.Event().wait()


def test_at_the_end_of_its_time_a_scan_keeps_what_was_collected() -> None:
    in_time, late, last = _Working("package", _at_once), _Working("repository", _never), _Working("source", _at_once)
    stopped = Absent(Reason.NOT_COLLECTED, "not finished within the 0.05 s of this scan")
    over = Absent(Reason.NOT_COLLECTED, "the 0.05 s of this scan were over")
    assert _collect(TimeLeft(0.05), in_time, late, last) == {
        "package": Observed(b"{}"),
        "repository": stopped,
        "source": over,
    }


def test_installing_does_not_count_as_time_of_a_scan() -> None:
    async def install() -> None:
        loop = asyncio.get_running_loop()
        now = loop.time
        with pause_deadline():
            loop.time = lambda: now() + 100  # type: ignore[method-assign]
            await asyncio.sleep(0)
        await asyncio.sleep(0)

    installed = _Working("package", install), _Working("source", _at_once)
    assert set(_collect(TimeLeft(60, installing=True), *installed).values()) == {Observed(b"{}")}
    assert _collect(TimeLeft(60), *installed) == {
        "package": Absent(Reason.NOT_COLLECTED, "not finished within the 60 s of this scan"),
        "source": Absent(Reason.NOT_COLLECTED, "the 60 s of this scan were over"),
    }


def test_a_timeout_of_a_collector_itself_is_not_the_end_of_the_scan() -> None:
    async def give_up() -> None:
        raise TimeoutError

    content = _collect(TimeLeft(60), _Working("package", give_up), _Working("source", _at_once))
    assert content == {"package": Absent(Reason.COLLECTOR_ERROR, "TimeoutError"), "source": Observed(b"{}")}


def test_the_index_is_read_while_a_package_is_installed_and_started() -> None:
    read = asyncio.Event()

    async def note() -> None:
        read.set()

    async def wait() -> None:
        await asyncio.wait_for(read.wait(), 10)

    started = _Working("listing", wait), _Working("package", note, needs=Scarce.INDEX)
    assert _collect(TimeLeft(60, installing=True), *started) == {"listing": Observed(b"{}"), "package": Observed(b"{}")}


def test_one_after_the_other_is_read_about_a_server_that_is_not_installed() -> None:
    done: list[str] = []

    async def start() -> None:
        await asyncio.sleep(0)
        done.append("listing")

    async def note() -> None:
        done.append("package")

    _collect(TimeLeft(60), _Working("listing", start), _Working("package", note, needs=Scarce.INDEX))
    assert done == ["listing", "package"]


def test_what_is_done_at_the_same_time_counts_once() -> None:
    async def pass_time() -> None:
        await asyncio.sleep(0.5)

    left = TimeLeft(60, installing=True)
    _collect(left, _Working("listing", pass_time), _Working("package", pass_time, needs=Scarce.INDEX))
    assert 59.1 < left.seconds <= 59.5
