from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

from rich.console import Console

from tests.stepping_clock import SteppingClock
from workers.cli.measure.scan_progress import ScanProgress


def _progress(*, terminal: bool) -> tuple[ScanProgress, io.StringIO, SteppingClock]:
    written, clock = io.StringIO(), SteppingClock(datetime(2026, 11, 26, tzinfo=UTC))
    console = Console(file=written, force_terminal=terminal, width=120)
    return ScanProgress(console, "https://example.com/mcp", clock.monotonic), written, clock


def test_a_terminal_shows_the_phase_the_questions_and_the_seconds() -> None:
    progress, written, clock = _progress(terminal=True)
    with progress:
        for _ in range(34):
            progress.count_question()
        clock.step(timedelta(seconds=12.9))
        asking = progress.__rich__().plain
        progress.show_source("repository")
        reading = progress.__rich__().plain
    assert asking == "https://example.com/mcp · asking the server · questions 34 · 12 s"
    assert reading == "https://example.com/mcp · reading the repository · questions 34 · 12 s"
    assert "questions 34 · 12 s" in written.getvalue()


def test_without_a_terminal_nothing_is_written() -> None:
    progress, written, _ = _progress(terminal=False)
    with progress:
        progress.show_installation()
        progress.count_question()
    assert written.getvalue() == ""


def test_a_reference_cannot_control_the_terminal() -> None:
    clock = SteppingClock(datetime(2026, 11, 26, tzinfo=UTC))
    progress = ScanProgress(Console(file=io.StringIO()), "npm:\x1b[2Ja", clock.monotonic)
    assert "\x1b" not in progress.__rich__().plain


def test_a_project_is_started_and_not_installed() -> None:
    clock = SteppingClock(datetime(2026, 11, 26, tzinfo=UTC))
    progress = ScanProgress(Console(file=io.StringIO()), "project:notes", clock.monotonic, installs=False)
    progress.show_installation()
    assert progress.__rich__().plain == "project:notes · starting the server in the sandbox · 0 s"
