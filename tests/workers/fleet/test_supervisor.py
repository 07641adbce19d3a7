"""Processes of a fleet are started again when they die and all end together."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from io import BytesIO, StringIO
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest
import structlog

from workers import log
from workers.fleet.plan import PlannedProcess
from workers.fleet.program import name_process
from workers.fleet.supervisor import Pauses, Supervisor

QUICK = Pauses(first=0.05, longest=5.0, grace=60.0)
WAITING = "import signal, time; print('up', flush=True); signal.pause()"
COUNTING = "import time\nwhile True: print('line', flush=True); time.sleep(0.05)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, lambda *_: print('asked', flush=True));"
    "print('up', flush=True)\nwhile True: time.sleep(1)"
)


def process(name: str, code: str) -> PlannedProcess:
    return PlannedProcess(name=name, purpose="test", pool=1, module="tests.workers.fleet.program", arguments=(code,))


def supervised(
    *planned: PlannedProcess,
    until: Callable[[str], bool],
    is_json: bool = False,
    pauses: Pauses = QUICK,
    number: signal.Signals = signal.SIGTERM,
    output: BytesIO | None = None,
) -> tuple[bool, str]:
    """Run until the output is as wanted, then ask for the end."""
    output = output or BytesIO()
    supervisor = Supervisor(planned, os.environ, output, is_json=is_json, pauses=pauses)
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            if until(output.getvalue().decode()):
                os.kill(os.getpid(), number)
                return
            time.sleep(0.02)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    try:
        return supervisor.run(), output.getvalue().decode()
    finally:
        done.set()
        asking.join()


@pytest.fixture(autouse=True)
def signals_of_a_terminal() -> Iterator[None]:
    """The tests may have been started by nohup, which ignores SIGHUP, or by a shell's `&`, which ignores SIGINT."""
    before = {
        signal.SIGHUP: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_processes_that_end_when_asked_leave_no_failure(number: signal.Signals) -> None:
    both = (process("one", WAITING), process("two", WAITING))
    fine, output = supervised(*both, until=lambda text: text.count("up") == 2, number=number)
    assert fine
    assert sorted(output.splitlines()) == ["one      up", "two      up"]


def test_a_closed_terminal_ends_nothing_under_nohup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    lines_before: list[int] = []

    def works_on(text: str) -> bool:
        if text and not lines_before:
            os.kill(os.getpid(), signal.SIGHUP)
            lines_before.append(text.count("\n"))
        return bool(lines_before) and text.count("\n") >= lines_before[0] + 40

    fine, output = supervised(process("one", COUNTING), until=works_on)
    assert fine
    assert output.count("\n") >= lines_before[0] + 40


def test_a_dead_process_is_started_again_and_is_a_failure(tmp_path: Path) -> None:
    code = f"file = open({str(tmp_path / 'ran')!r}, 'a'); file.write('x'); file.flush()"
    dies = process("dies", f"{code}; print('ran', file.tell(), flush=True); raise SystemExit(3)")
    fine, output = supervised(dies, process("lives", WAITING), until=lambda text: "ran 3" in text and "up" in text)
    assert not fine
    assert output.count("up") == 1


def test_a_process_that_cannot_be_started_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    start = ForkServerProcess.start

    def find_no_memory(self: ForkServerProcess) -> None:
        if self.name == "starved":
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        if self.name == "orphan":
            raise EOFError
        start(self)

    monkeypatch.setattr(ForkServerProcess, "start", find_no_memory)
    unlucky = process("starved", WAITING), process("orphan", WAITING)
    fine, output = supervised(*unlucky, process("lives", WAITING), until=lambda text: "up" in text)
    assert (fine, output) == (False, "lives    up\n")


def test_a_module_that_is_missing_stops_no_other() -> None:
    missing = PlannedProcess(name="missing", purpose="test", pool=1, module="no.such.module", arguments=())
    fine, output = supervised(missing, process("lives", WAITING), until=lambda text: "up" in text and "No" in text)
    assert not fine
    assert "missing  ModuleNotFoundError: No module named 'no'" in output.splitlines()


def test_a_process_ends_with_the_one_that_it_was_forked_from_and_is_started_again() -> None:
    code = f"import os; print('from', os.getppid(), flush=True); {WAITING}"
    killed: list[int] = []

    def until(text: str) -> bool:
        if "up" in text and not killed:
            killed.append(int(text.split("from ")[1].split(maxsplit=1)[0]))
            os.kill(killed[0], signal.SIGKILL)
        return text.count("up") == 2

    fine, output = supervised(process("one", code), until=until)
    assert not fine
    assert [line for line in output.splitlines() if "from" in line][1] != f"one      from {killed[0]}"


def test_a_process_has_the_name_and_the_variables_of_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import os; from pathlib import Path; print(Path('/proc/self/comm').read_text().strip(), os.environ['ONE'])"
    monkeypatch.setenv("ONE", "after the first start")
    _, output = supervised(
        process("a", WAITING), process("beat", f"{code}; {WAITING}"), until=lambda text: text.count("up") == 2
    )
    assert f"beat     {name_process('beat').decode()} after the first start" in output.splitlines()


def test_pauses_double_up_to_the_longest_however_often_a_process_fails() -> None:
    assert [Pauses().compute_pause(failures) for failures in (1, 2, 3, 7, 8, 5_000)] == [1, 2, 4, 60, 60, 60]


def test_a_second_request_ends_everything_at_once() -> None:
    output_seen = threading.Event()

    def until(text: str) -> bool:
        if "up" in text and not output_seen.is_set():
            output_seen.set()
            os.kill(os.getpid(), signal.SIGINT)
        return "asked" in text

    started = time.monotonic()
    fine, output = supervised(process("stubborn", STUBBORN), until=until)
    assert not fine
    assert "asked" in output
    assert time.monotonic() - started < QUICK.grace


def test_a_process_that_does_not_end_in_time_is_killed() -> None:
    fine, output = supervised(
        process("stubborn", STUBBORN), until=lambda text: "up" in text, pauses=Pauses(first=0.05, grace=0.3)
    )
    assert (fine, "asked" in output) == (False, True)


def test_nothing_of_an_ended_process_stays() -> None:
    child = "import subprocess, sys, signal; sleeping = subprocess.Popen(['sleep', '600'])"
    child += "; print('child', sleeping.pid, 'up', flush=True); signal.pause()"
    _, output = supervised(process("parent", child), until=lambda text: "up" in text)
    pid = int(output.split("child ")[1].split()[0])
    deadline = time.monotonic() + 60
    while Path(f"/proc/{pid}").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_events_carry_the_name_of_their_process_and_other_text_becomes_one() -> None:
    lines = "print('{\"event\": \"it_happened\"}'); print('Traceback: no event'); print()"
    _, output = supervised(process("one", f"{lines}; {WAITING}"), until=lambda text: "up" in text, is_json=True)
    events = [json.loads(line) for line in output.splitlines()]
    assert events[0] == {"process": "one", "event": "it_happened"}
    assert events[1] == {"event": "process_output", "process": "one", "line": "Traceback: no event"}
    assert [event["line"] for event in events[2:]] == ["up"]


class FullDisk(BytesIO):
    """Takes no line until two were lost."""

    def __init__(self) -> None:
        super().__init__()
        self.lost = 0

    def write(self, line: Any, /) -> int:
        if self.lost < 2:
            self.lost += 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(line)


def test_lines_that_a_full_disk_did_not_take_are_counted_when_there_is_space_again() -> None:
    lines = "import os, signal; os.write(1, b'one\\ntwo\\nup\\n'); signal.pause()"
    fine, output = supervised(process("one", lines), until=lambda text: "up" in text, is_json=True, output=FullDisk())
    events = [json.loads(line) for line in output.splitlines()]
    assert events == [
        {"event": "process_output", "process": "one", "line": "up"},
        {
            "process": "fleet",
            "event": "output_lost",
            "level": "error",
            "lines": 2,
            "why": os.strerror(errno.ENOSPC),
        },
    ]
    assert fine


class ClosedTerminal(StringIO):
    """The standard error of a process whose terminal was closed."""

    def write(self, _: str, /) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_a_closed_terminal_ends_the_fleet_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", ClosedTerminal())
    log.configure_logging("info", "json")
    try:
        fine, output = supervised(process("one", WAITING), until=lambda text: "up" in text, number=signal.SIGHUP)
    finally:
        structlog.reset_defaults()
    assert fine
    assert "up" in output
