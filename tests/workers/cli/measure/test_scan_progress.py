from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

from rich.console import Console

from tests.stepping_clock import SteppingClock
from workers.cli.measure.scan_progress import ScanProgress


def _progress(*, terminal: bool, lines: bool = False) -> tuple[ScanProgress, io.StringIO, SteppingClock]:
    written, clock = io.StringIO(), SteppingClock(datetime(2026, 11, 26, tzinfo=UTC))
    console = Console(file=written, force_terminal=terminal, width=120)
    return ScanProgress(console, "https://example.com/mcp", clock.monotonic, lines=lines), written, clock


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
        progress.show_phase("resolving")
        progress.count_question()
    assert written.getvalue() == ""


def test_a_terminal_shows_the_count_of_downloads() -> None:
    progress, _, _ = _progress(terminal=True, lines=True)
    with progress:
        progress.show_phase("downloading 12 of 40")
        assert progress.__rich__().plain == "https://example.com/mcp · downloading 12 of 40 · 0 s"


def test_without_a_terminal_each_phase_of_a_package_is_one_line() -> None:
    progress, written, _ = _progress(terminal=False, lines=True)
    with progress:
        for phase in ("resolving", "downloading 1 of 9", "downloading 9 of 9", "unpacking", "starting"):
            progress.show_phase(phase)
        progress.count_question()
        progress.show_phase("starting")
        progress.count_question()
        progress.show_source("repository")
    phases = [line.removeprefix("https://example.com/mcp · ") for line in written.getvalue().splitlines()]
    assert phases == ["resolving", "downloading", "unpacking", "starting", "asking the server"]


def test_a_reference_cannot_control_the_terminal() -> None:
    clock = SteppingClock(datetime(2026, 11, 26, tzinfo=UTC))
    progress = ScanProgress(Console(file=io.StringIO()), "npm:\x1b[2Ja", clock.monotonic)
    assert "\x1b" not in progress.__rich__().plain
