"""A progress counter on one line; no output without a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from workers.cli.display.console import open_stderr


@contextmanager
def show_progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar on a terminal's stderr; call the yielded function with the size of every finished part."""
    console = open_stderr()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)
