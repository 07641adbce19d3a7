from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.publish import samples
from tests.servers import preloaded, scripted
from tests.workers.cli.conftest import SCRIPT, Hallmark
from workers.cli.display.console import ExitCode
from workers.cli.measure.run import find_exit_code
from workers.embedded import RunResult

RESULT = [
    "event",
    "run",
    "as_of",
    "resumed",
    "interrupted",
    "published",
    "planned",
    "collected",
    "scored",
    "failed",
    "seconds",
    "absent",
    "outage",
    "registries",
    "report",
    "lost_output",
    "hint",
]
PRIVATE = {"HALLMARK_ALLOW_PRIVATE": "1"}


def test_a_run_ends_with_a_table_paths_and_what_to_do_next(process: Hallmark, registry: Path, tmp_path: Path) -> None:
    for number in {*range(20)} - {1, 6}:  # one answers, one is locked
        (registry / f"{number}.json").unlink()
    result = process("run", "--registry", str(registry), "--report", str(tmp_path / "report"), env=PRIVATE)
    assert result.code == 0, result.err
    assert "com.example/server-1" in result.out
    assert "oauth required" in result.out
    assert "3 of 3 servers scored" in result.out
    assert str(tmp_path / "report" / "index.html") in result.out
    assert "Next: hallmark show" in result.err
    assert "Collecting" in result.err
    assert "Collecting" not in result.out


@pytest.mark.usefixtures("home")
def test_a_run_goes_on_when_the_disk_of_its_log_is_full_and_says_so(registry: Path) -> None:
    for number in range(3, 20):  # server-1 answers; a choice by ids, which depend on the port, may hold none that does
        (registry / f"{number}.json").unlink()
    command = [str(SCRIPT), "run", "--registry", str(registry)]
    with Path("/dev/full").open("w") as full:
        done = preloaded.run(command, env={**os.environ, **PRIVATE}, stdout=subprocess.PIPE, stderr=full, text=True)
    assert done.returncode == 0
    assert "4 of 4 servers scored" in done.stdout
    assert "lines of progress and log could not be written to stderr: No space left on device" in done.stdout


def test_events_are_one_json_object_per_line(hallmark: Hallmark, registry: Path) -> None:
    result = hallmark("run", "--registry", str(registry), "--json", env=PRIVATE)
    assert result.code == 0, result.err
    events = result.rows
    assert {event["event"] for event in events} == {"progress", "server", "result"}
    assert list(events[-1]) == RESULT
    assert events[-1]["planned"] == 21
    assert events[-1]["registries"][0]["invalid"] == 1  # type: ignore[index]
    assert [event["stage"] for event in events if event["event"] == "progress" and event["done"]][-1] == "publish"


def test_quiet_prints_only_the_result(hallmark: Hallmark, registry: Path) -> None:
    result = hallmark("run", "--registry", str(registry), "--limit", "3", "--quiet", env=PRIVATE)
    assert result.code in {0, 3}
    assert "Collecting" not in result.err
    assert "3 of 3 servers scored" in result.out


@pytest.mark.soak
def test_a_run_that_measures_nothing_says_so(hallmark: Hallmark, registry: Path) -> None:
    result = hallmark("run", "--registry", str(registry))
    assert result.code == 3
    assert "blocked address" in result.out
    nothing = hallmark("run", "--registry", str(registry), "--only", "no-such-*", "--report", "r")
    assert nothing.code == 3
    assert "--only" in nothing.err
    assert "No report was written to r" in nothing.err


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, ExitCode.OK),
        ({"absent": {"timeout": 3}}, ExitCode.NOTHING),
        ({"planned": 0, "collected": 0, "scored": 0, "published": False}, ExitCode.NOTHING),
        ({"published": False}, ExitCode.FAILURE),
        ({"scored": 2}, ExitCode.FAILURE),
        ({"scored": 0, "absent": {"timeout": 3}, "published": False}, ExitCode.FAILURE),
        ({"scored": 1, "interrupted": True, "published": False}, ExitCode.INTERRUPTED),
    ],
    ids=str,
)
def test_a_failure_of_ours_is_never_reported_as_nothing_to_measure(changes: dict[str, Any], code: ExitCode) -> None:
    whole: dict[str, Any] = {"planned": 3, "collected": 3, "scored": 3, "published": True}
    common: dict[str, Any] = {"run": samples.RUN, "resumed": False, "interrupted": False, "seconds": 1.0}
    assert find_exit_code(RunResult(**{**common, **whole, **changes})) is code


def test_an_unknown_registry_is_wrong_usage(hallmark: Hallmark) -> None:
    result = hallmark("run", "--registry", "./no-such-folder")
    assert result.code == 2
    assert "Traceback" not in result.err


def test_an_interrupted_run_is_resumed_by_the_same_command(process: Hallmark, home: Path, tmp_path: Path) -> None:
    with scripted.running(12, seed=1, latency=0.15) as base:
        folder = tmp_path / "slow"
        folder.mkdir()
        for number in range(12):
            remote = {"type": "streamable-http", "url": f"{base}/s/{number}/mcp"}
            entry = {"name": f"com.example/s{number}", "description": "x", "version": "1.0.0", "remotes": [remote]}
            (folder / f"{number}.json").write_text(json.dumps(entry))
        env = {**PRIVATE, "HALLMARK_IN_FLIGHT": "2", "HALLMARK_WRITE_BATCH": "1", "HALLMARK_STOP_GRACE": "0.1"}
        code, events = _interrupted(["run", "--registry", str(folder), "--json"], {**os.environ, **env})
        assert code == 130
        assert events[-1]["interrupted"] is True
        assert events[-1]["collected"] < 12
        again = process("run", "--registry", str(folder), "--json", env={**PRIVATE})
    assert again.rows[-1]["resumed"] is True
    assert again.rows[-1]["run"] == events[-1]["run"]
    assert again.rows[-1]["scored"] == 12


def _interrupted(words: list[str], env: dict[str, str]) -> tuple[int, list[dict[str, object]]]:
    """Send SIGINT as soon as the first server is collected."""
    process = preloaded.Popen(
        [str(SCRIPT), *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    events = []
    for line in process.stdout:
        events.append(json.loads(line))
        if events[-1].get("stage") == "collect" and events[-1]["done"] == 1:
            process.send_signal(signal.SIGINT)
    return process.wait(300), events
