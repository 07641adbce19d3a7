"""A scan ends at its deadline and says what it could not finish."""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evidence.model import Reason
from tests.publish import samples
from tests.workers.cli.conftest import Hallmark
from workers.cli.measure.scan_file import encode_dossier
from workers.cli.measure.scan_time import limit_probe, limit_time

TOLERANCE = 1.0
"""Seconds beyond the deadline."""

STALLING = """import json, sys, time

request = json.loads(sys.stdin.readline())
result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "w", "version": "1"}}
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
time.sleep(1000)
"""
MUTE = "import time\n\ntime.sleep(1000)\n"


@pytest.fixture
def folder(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with servers that stop answering; only source is read about them."""
    monkeypatch.setenv("HALLMARK_SOURCES", '["source"]')
    made = tmp_path / "servers"
    made.mkdir()
    (made / "stalling.py").write_text(STALLING)
    (made / "mute.py").write_text(MUTE)
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def silent_address() -> Iterator[str]:
    """A server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"


def make_project(folder: Path) -> None:
    (folder / "pyproject.toml").write_text('[project]\nname = "notes-mcp"\nversion = "1"\n')


def record(saved: Path, kind: str) -> dict:
    return next(one for one in json.loads(saved.read_bytes())["records"] if one["kind"] == kind)


@pytest.mark.parametrize("is_project", [False, True])
def test_what_a_server_answered_before_it_stalled_is_judged(
    hallmark: Hallmark, folder: Path, tmp_path: Path, is_project: bool
) -> None:
    if is_project:
        make_project(folder)
    saved = tmp_path / "saved.json"
    began = time.monotonic()
    words = ("--no-sandbox", "--deadline", "6", "--save", str(saved), "--", sys.executable, "stalling.py")
    ended = hallmark("scan", *words)

    assert time.monotonic() - began < 6 + TOLERANCE
    assert ended.code == 0, ended.err
    assert "not started" not in ended.out
    assert "a declared list could not be read to its end" in ended.out
    assert "absent" not in record(saved, "listing")


@pytest.mark.parametrize(("is_project", "code"), [(False, 3), (True, 0)])
def test_a_server_that_never_answered_was_started_and_the_exit_code_is_that_of_the_files(
    hallmark: Hallmark, folder: Path, is_project: bool, code: int
) -> None:
    if is_project:
        make_project(folder)
    began = time.monotonic()
    ended = hallmark("scan", "--no-sandbox", "--deadline", "4", "--", sys.executable, "mute.py")

    assert time.monotonic() - began < 4 + TOLERANCE
    assert ended.code == code
    assert "The server was started and asked, and the time of this scan was over before it answered" in ended.out
    assert ("only the files of the project were" in ended.err) is is_project


def test_the_official_client_ends_with_the_deadline_of_its_scan(
    process: Hallmark, silent_address: str, tmp_path: Path
) -> None:
    saved = [tmp_path / f"{number}.json" for number in range(2)]

    def scan(to: Path) -> float:
        began = time.monotonic()
        process("scan", silent_address, "--allow-private", "--official-client", "--deadline", "8", "--save", str(to))
        return time.monotonic() - began

    process("--help")  # loads the program
    with ThreadPoolExecutor() as pool:
        taken = list(pool.map(scan, saved))
    assert max(taken) < 8 + TOLERANCE
    not_finished = {"reason": "not_collected", "detail": "not finished within the 8 s of this scan"}
    assert [record(one, "interop")["absent"] for one in saved] == [not_finished] * 2


@pytest.mark.parametrize("is_project", [False, True])
@pytest.mark.parametrize(("is_launched", "no_sandbox"), [(False, False), (True, False), (True, True)])
def test_a_server_is_asked_for_less_than_a_minute_unless_the_deadline_says_more(
    is_launched: bool, no_sandbox: bool, is_project: bool
) -> None:
    left = limit_time(None, 1.0, is_launched=is_launched, no_sandbox=no_sandbox, is_project=is_project)
    more = limit_time(300, 1.0, is_launched=is_launched, no_sandbox=no_sandbox, is_project=is_project)

    assert limit_probe(left) == 54
    assert left.seconds == 58
    assert limit_probe(more) == 270


def test_only_the_files_of_a_project_that_is_installed_may_be_read_longer() -> None:
    def reading(deadline: float | None, *, no_sandbox: bool, is_project: bool) -> float:
        left = limit_time(deadline, 0.0, is_launched=True, no_sandbox=no_sandbox, is_project=is_project)
        return left.split().seconds

    assert reading(None, no_sandbox=False, is_project=True) == 179
    assert reading(None, no_sandbox=False, is_project=False) == 59
    assert reading(None, no_sandbox=True, is_project=True) == 59
    assert reading(20, no_sandbox=False, is_project=True) == 19


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ("not finished within the 60 s of this scan", "The time of this scan was over before the server was tested"),
        ("the time for one server was over", "The server was asked, and the time of this scan was over before"),
        ("expected `bin` in package.json, found none", "The server was not started, so nothing of it is scored"),
    ],
)
def test_the_first_line_says_how_far_the_scan_came(hallmark: Hallmark, tmp_path: Path, detail: str, said: str) -> None:
    saved = tmp_path / "saved.json"
    saved.write_bytes(encode_dossier(samples.absent_dossier(Reason.NOT_COLLECTED, detail)))
    assert said in hallmark("scan", "--from", str(saved)).out
