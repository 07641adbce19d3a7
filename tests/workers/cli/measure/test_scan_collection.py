"""What a scan collects, and in which time."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from crawler.collectors.interop import collector as interop
from crawler.collectors.interop.request import InteropRequest
from crawler.collectors.protocol import ProtocolCollector
from evidence.model import Absent, Dossier, Reason, Record, Server
from tests.workers.cli.conftest import Hallmark


def _kinds(saved: Path) -> set[str]:
    return {record["kind"] for record in json.loads(saved.read_bytes())["records"]}


@pytest.mark.parametrize(
    ("asked", "runs"), [((), 0), (("--official-client",), 1), (("--core", "--official-client"), 1)]
)
def test_the_official_client_runs_only_when_it_is_asked_for(
    hallmark: Hallmark,
    fleet: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    asked: tuple[str, ...],
    runs: int,
) -> None:
    requests: list[InteropRequest] = []

    async def run_client_process(request: InteropRequest) -> Absent:
        requests.append(request)
        return Absent(Reason.TIMEOUT, "a client that was not started")

    monkeypatch.setattr(interop, "run_client_process", run_client_process)
    saved = tmp_path / "saved.json"
    depth = () if "--core" in asked else ("--full",)
    url = f"{fleet}/s/3/mcp"
    assert hallmark("scan", url, "--allow-private", "--save", str(saved), *depth, *asked).code == 0
    assert (len(requests) > 0, "interop" in _kinds(saved)) == (runs > 0, runs > 0)


def test_after_its_deadline_a_scan_ends_with_a_reason_that_does_not_blame_the_server(
    hallmark: Hallmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(self: ProtocolCollector, target: Server, earlier: Dossier) -> list[Record]:
        await asyncio.Event().wait()
        return []

    monkeypatch.setattr(ProtocolCollector, "collect", never)
    saved = tmp_path / "saved.json"
    ended = hallmark("scan", "https://example.com/mcp", "--core", "--deadline", "1", "--save", str(saved))
    assert ended.code == 3
    assert "--deadline SECONDS allows more" in ended.err
    listing = next(one for one in json.loads(saved.read_bytes())["records"] if one["kind"] == "listing")
    assert listing["absent"] == {"reason": "not_collected", "detail": "not finished within the 1 s of this scan"}
