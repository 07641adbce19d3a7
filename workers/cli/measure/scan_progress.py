"""What a scan does right now: on one line of a terminal, else a plain line for each phase of a package."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.text import Text

from workers.cli.display.console import clean_text

_PHASES: Final = {
    "protocol": "asking the server",
    "interop": "running the official client",
    "package": "reading the package index",
    "repository": "reading the repository",
    "source": "reading the source",
    "advisories": "matching advisories",
}

_STARTING: Final = "starting"
_COUNTS: Final = re.compile(r" \d+ of \d+")


class ScanProgress:
    """The phase, the number of questions asked and the seconds since the start.

    Without a terminal, `lines` prints each phase of a package once, without counts. `server_starts` is set once the
    process of a package is started.
    """

    def __init__(self, console: Console, ref: str, tick: Callable[[], float], *, lines: bool = False) -> None:
        self._console = console
        self._ref = ref
        self._tick = tick
        self._began = tick()
        self._phase = "preparing"
        self._questions = 0
        self._shown = ExitStack()
        self._lines = lines and not console.is_terminal
        self._printed: set[str] = set()
        self.server_starts = asyncio.Event()

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._shown.enter_context(self._console.status(self))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._shown.close()

    def __rich__(self) -> Text:
        seconds = int(self._tick() - self._began)
        questions = f" · questions {self._questions}" if self._questions else ""
        return clean_text(self._ref).append(f" · {self._phase}{questions} · {seconds} s")

    def show_source(self, name: str) -> None:
        """Show the phase of a source of evidence."""
        self._phase = _PHASES.get(name, "comparing")

    def show_phase(self, phase: str) -> None:
        """Show what the sandbox does for a package."""
        self._phase = phase
        if phase == _STARTING:
            self.server_starts.set()
        kind = _COUNTS.sub("", phase)
        if self._lines and kind not in self._printed:
            self._printed.add(kind)
            self._console.print(clean_text(self._ref).append(f" · {kind}"), soft_wrap=True)

    def count_question(self) -> None:
        self._questions += 1
        self.show_phase(_PHASES["protocol"])
