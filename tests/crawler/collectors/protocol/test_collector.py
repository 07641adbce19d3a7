"""The whole collector calls no more than the trials allow, over HTTP in the modern era and over stdio."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evidence.kinds import trials
from evidence.kinds.trials import TrialKind, TrialOutcome, Trials
from evidence.model import Absent, Dossier, Observed, Record, Server, Target
from tests.crawler.collectors.launching import PipeLauncher, module
from tests.crawler.collectors.protocol.probing import NOW, collector, remote
from tests.crawler.collectors.protocol.trials.recording_trials import reads
from tests.crawler.collectors.protocol.trials.test_tool_trials import DANGEROUS
from tests.servers import preloaded

TOOLS: list[dict[str, Any]] = [
    *DANGEROUS,
    {"name": "list_notes"},
    reads("get_note", properties={"note": {"type": "integer"}}),
    reads("get_broken", answers="protocol error"),
]


def files(folder: Path) -> tuple[Path, Path]:
    (folder / "listing.json").write_text(json.dumps(TOOLS), "utf-8")
    return folder / "calls.jsonl", folder / "listing.json"


@contextmanager
def over_http(folder: Path) -> Iterator[Target]:
    command = [sys.executable, "-m", "tests.servers.recording", *map(str, files(folder)), "http"]
    with preloaded.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            yield remote(f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp")
        finally:
            process.kill()


def trials_of(target: Target, depth: str = "core") -> Record:
    server = Server(ref="test", name="test", targets=(target,))
    found = asyncio.run(
        collector(launcher=PipeLauncher(), depth=depth).collect(server, Dossier(server=server, as_of=NOW))
    )
    [record] = [record for record in found if record.kind == trials.KIND]
    return record


def check(record: Record, folder: Path) -> None:
    calls = [json.loads(line)["name"] for line in (folder / "calls.jsonl").read_text().splitlines()]
    assert not isinstance(record.content, Absent), record.content
    view = Trials.parse(record.content.body)

    # One that cannot exist is asked for by the checks of the protocol.
    assert {name for name in calls if name in {tool["name"] for tool in TOOLS}} == {"get_note", "get_broken"}
    assert [(trial.tool, trial.kind, trial.outcome) for trial in view.trials] == [
        ("get_note", TrialKind.CALL, TrialOutcome.RESULT),
        ("get_broken", TrialKind.CALL, TrialOutcome.PROTOCOL_ERROR),
        ("get_note", TrialKind.INVALID_TYPE, TrialOutcome.TOOL_ERROR),
        ("get_note", TrialKind.MISSING_REQUIRED, TrialOutcome.TOOL_ERROR),
    ]
    assert len(view.skipped) == len(DANGEROUS) + 1
    assert [row.reason for row in view.skipped if row.tool == "list_notes"] == ["not_annotated"]


def test_a_remote_in_the_modern_era_is_tried(tmp_path: Path) -> None:
    with over_http(tmp_path) as target:
        check(trials_of(target, "full"), tmp_path)


def test_a_process_outside_our_sandbox_is_tried_like_a_remote(tmp_path: Path) -> None:
    check(trials_of(module("tests.servers.recording", *map(str, files(tmp_path)))), tmp_path)


def test_two_visits_of_an_unchanged_remote_leave_equal_bodies(tmp_path: Path) -> None:
    with over_http(tmp_path) as target:
        one, other = trials_of(target), trials_of(target)

    assert isinstance(one.content, Observed)
    assert one.content == other.content
