"""Starts processes, passes their output on, starts those again that end by themselves, and ends all together."""

from __future__ import annotations

import json
import logging
import os
import selectors
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO, Final

from msgspec import Struct, field

from workers.fleet.plan import PlannedProcess
from workers.fleet.program import RunningProgram
from workers.log import get_log

_POLL_SECONDS: Final = 0.5
_READ_BYTES: Final = 1 << 16
_MOST_DOUBLINGS: Final = 16  # a process may fail for days, and its failures count on
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # the last one when the terminal closes


class Pauses(Struct, frozen=True, kw_only=True):
    """Seconds before a process starts again, doubled for each time that it did not live long, and for ending."""

    first: float = 1.0
    longest: float = 60.0
    grace: float = 120.0

    def compute_pause(self, failures: int) -> float:
        """Seconds to wait after so many failures in a row."""
        return min(self.longest, self.first * (1 << min(failures - 1, _MOST_DOUBLINGS)))


_PAUSES: Final = Pauses()


class _Child(Struct):
    planned: PlannedProcess
    program: RunningProgram | None = None
    started_at: float = 0.0
    start_at: float = 0.0
    failures: int = 0
    unfinished_line: bytes = field(default=b"")

    @property
    def is_running(self) -> bool:
        return self.program is not None


class Supervisor:
    """Runs planned processes until a signal asks for the end; a second signal ends them at once."""

    def __init__(
        self,
        planned: Sequence[PlannedProcess],
        environment: Mapping[str, str],
        output: IO[bytes],
        *,
        is_json: bool,
        pauses: Pauses = _PAUSES,
    ) -> None:
        self._children = [_Child(one) for one in planned]
        self._environment = dict(environment)
        self._output = output
        self._is_json = is_json
        self._pauses = pauses
        self._selector = selectors.DefaultSelector()
        self._lost_lines = 0
        self._why_lost = ""
        self._requests = 0
        self._has_failed = False

    def run(self) -> bool:
        """Run everything until it was asked to end and has ended; False when a process failed or had to be killed."""
        with self._handled_signals():
            while not self._requests:
                self._start_due()
                self._pass_output(_POLL_SECONDS)
                self._collect_ended()
            self._end()
        return not self._has_failed

    @contextmanager
    def _handled_signals(self) -> Iterator[None]:
        handled = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]  # such as nohup's
        before = {number: signal.signal(number, self._count_request) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _count_request(self, _number: int, _frame: FrameType | None) -> None:
        self._requests += 1

    def _start_due(self) -> None:
        now = time.monotonic()
        for child in self._children:
            if not child.is_running and now >= child.start_at and not self._requests:
                self._start(child, now)

    def _start(self, child: _Child, now: float) -> None:
        child.started_at = now
        one = child.planned
        try:
            child.program = RunningProgram(one.name, one.module, one.arguments, self._environment)
        except OSError as error:  # such as no memory or no process id left
            self._has_failed = True
            self._plan_restart(child, f"not started: {error.strerror}")
            return
        self._selector.register(child.program.output, selectors.EVENT_READ, child)
        self._report(logging.INFO, "process_started", process=one.name, pid=child.program.pid, pool=one.pool)

    def _pass_output(self, seconds: float) -> None:
        ready = self._selector.select(seconds)
        if not ready and not self._selector.get_map():
            time.sleep(seconds)
        for key, _ in ready:
            child: _Child = key.data
            data = os.read(key.fd, _READ_BYTES)
            if not data:
                self._selector.unregister(key.fileobj)
            *lines, child.unfinished_line = (child.unfinished_line + data).split(b"\n")
            for line in lines:
                self._write(child.planned.name, line)
        self._flush()

    def _flush(self) -> None:
        """Write what waits, and say how many lines were lost as soon as the output takes lines again."""
        with suppress(OSError):  # what waits is kept, and the lines that find no place are counted
            self._output.flush()
            if self._lost_lines:
                event = {"event": "output_lost", "level": "error", "lines": self._lost_lines, "why": self._why_lost}
                self._output.write(self._label("fleet", json.dumps(event).encode()))
                self._lost_lines = 0
                self._output.flush()

    def _write(self, name: str, line: bytes) -> None:
        if not line.strip():
            return
        with self._counted():
            self._output.write(self._label(name, line))

    def _label(self, name: str, line: bytes) -> bytes:
        return (_label_json(name, line) if self._is_json else f"{name:8} ".encode() + line) + b"\n"

    def _report(self, level: int, event: str, **values: object) -> None:
        with self._counted():
            get_log().log(level, event, **values)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count a line that a full disk or a closed terminal does not take: it ends no process."""
        try:
            yield
        except OSError as error:
            self._lost_lines += 1
            self._why_lost = str(error.strerror)

    def _collect_ended(self) -> None:
        for child in self._children:
            if child.program is not None and (status := child.program.status) is not None:
                self._forget(child)
                self._has_failed = True
                self._plan_restart(child, _describe_status(status))

    def _plan_restart(self, child: _Child, status: str) -> None:
        now = time.monotonic()
        child.failures = 1 if now - child.started_at > self._pauses.longest else child.failures + 1
        pause = self._pauses.compute_pause(child.failures)
        child.start_at = now + pause
        self._report(
            logging.ERROR,
            "process_ended",
            process=child.planned.name,
            status=status,
            failures=child.failures,
            restart_in=pause,
        )

    def _forget(self, child: _Child) -> None:
        """Pass on the last output of an ended process and kill what it left behind."""
        assert child.program is not None
        child.program.kill_group()
        self._pass_output(0)
        if child.unfinished_line:
            self._write(child.planned.name, child.unfinished_line)
            child.unfinished_line = b""
        with suppress(KeyError):
            self._selector.unregister(child.program.output)
        child.program.close()
        child.program = None

    def _end(self) -> None:
        running = [child for child in self._children if child.program is not None]
        self._report(logging.INFO, "fleet_ending", processes=len(running), grace=self._pauses.grace)
        for child in running:
            if child.program is not None:
                child.program.terminate()
        deadline = time.monotonic() + self._pauses.grace
        while any(child.is_running for child in running):
            if self._requests > 1 or time.monotonic() > deadline:
                self._kill(running)
            self._pass_output(_POLL_SECONDS / 5)
            for child in running:
                self._collect_asked(child)
        self._report(logging.INFO, "fleet_ended", failed=self._has_failed)

    def _kill(self, running: Sequence[_Child]) -> None:
        for child in running:
            if child.program is not None and child.program.status is None:
                self._has_failed = True
                self._report(logging.ERROR, "process_killed", process=child.planned.name)
                child.program.kill_group()
                child.program.wait()

    def _collect_asked(self, child: _Child) -> None:
        if child.program is None or (status := child.program.status) is None:
            return
        if status not in {0, -signal.SIGTERM, -signal.SIGKILL}:
            self._has_failed = True
            self._report(logging.ERROR, "process_ended", process=child.planned.name, status=_describe_status(status))
        self._forget(child)


def _describe_status(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit code {status}"


def _label_json(name: str, line: bytes) -> bytes:
    """A line of a log in JSON with the name of its process; other text becomes an event."""
    with suppress(ValueError):
        event = json.loads(line)
        if isinstance(event, dict):
            return json.dumps({"process": name, **event}).encode()
    return json.dumps({"event": "process_output", "process": name, "line": line.decode(errors="replace")}).encode()
