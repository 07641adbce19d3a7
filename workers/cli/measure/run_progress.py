"""Displays the progress of a run: live on a terminal, as plain lines elsewhere, as JSON events for programs."""

from __future__ import annotations

from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.text import Text

from publish.text.display import make_visible
from workers.cli.display.console import print_json
from workers.progress import StageName, StageStatus

_TITLES: Final = {"discover": "Discovering", "collect": "Collecting", "score": "Scoring", "publish": "Publishing"}
_STEP = 10
"""Without a terminal, a line is printed after every tenth."""


class JsonProgress:
    """Every status as one JSON object per line on stdout."""

    def show(self, status: StageStatus) -> None:
        print_json(
            {
                "event": "progress",
                "stage": status.stage,
                "done": status.done,
                "planned": status.planned,
                "resumed": status.resumed,
                "rate": None if status.rate is None else round(status.rate, 3),
                "eta": None if status.eta is None else round(status.eta, 1),
                "absent": dict(status.absent),
                "failed": status.failed,
                "note": status.note,
            }
        )


class TerminalProgress:
    """A bar per stage with rate, remaining time and the reasons of absence; on stderr."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bars: dict[StageName, TaskID] = {}
        self._tenths: dict[StageName, int] = {}
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[pace]}", markup=False),
            TextColumn("{task.fields[reasons]}", style="yellow", markup=False),
            console=console,
            refresh_per_second=8,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._progress.stop()

    def show(self, status: StageStatus) -> None:
        if status.note:
            self._console.print(Text(make_visible(status.note), style="yellow"))
        if self._console.is_terminal:
            self._draw(status)
        else:
            self._print(status)

    def _draw(self, status: StageStatus) -> None:
        if status.stage not in self._bars:
            self._progress.start()
            self._bars[status.stage] = self._progress.add_task(_TITLES[status.stage], total=None, pace="", reasons="")
        self._progress.update(
            self._bars[status.stage],
            completed=status.done,
            total=status.planned,
            pace=_pace(status),
            reasons=_reasons(status),
        )

    def _print(self, status: StageStatus) -> None:
        tenth = _STEP * status.done // status.planned if status.planned else 0
        if self._tenths.get(status.stage) == tenth and not (status.planned is None and status.note):
            return
        self._tenths[status.stage] = tenth
        planned = "" if status.planned is None else f" of {status.planned}"
        line = f"{_TITLES[status.stage]}: {status.done}{planned}{_pace(status)} {_reasons(status)}"
        self._console.print(Text(line.rstrip()))


def _pace(status: StageStatus) -> str:
    """Rate and remaining time; empty while unknown."""
    if status.rate is None:
        return ""
    left = "" if status.eta is None or status.eta < 1 else f", {_duration(status.eta)} left"
    rate = f"{status.rate:.1f}/s" if status.rate >= 1 else f"{60 * status.rate:.1f}/min"
    return f"  {rate}{left}"


def _reasons(status: StageStatus) -> str:
    counts = sorted(status.absent.items(), key=lambda item: (-item[1], item[0]))
    words = [f"{count} {reason.replace('_', ' ')}" for reason, count in counts]
    words += [f"{status.failed} failed"] if status.failed else []
    return "  " + ", ".join(words) if words else ""


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"
