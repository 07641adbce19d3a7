"""One step collects a server in a run and in a scan, behind one error boundary."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime
from pathlib import Path

import pytest

from crawler.collectors.drift import DriftDeriver
from crawler.collectors.protocol import ProtocolCollector
from evidence.kinds.traits import kinds_where, schemas, traits
from evidence.model import Dossier, Record, Server, Trigger
from tests.workers.world import ScriptedRegistry, World, context, ref
from workers import pipeline
from workers.cli import main
from workers.runs.options import RunOptions


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
