"""What a scan does right now, on one line of a terminal."""

from __future__ import annotations

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


class ScanProgress:
    """The phase, the number of questions asked and the seconds since the start; nothing without a terminal."""

    def __init__(self, console: Console, ref: str, tick: Callable[[], float], *, installs: bool = True) -> None:
        self._console = console
        self._ref = ref
        self._tick = tick
        self._began = tick()
        self._starting = "installing the package" if installs else "starting the server in the sandbox"
        self._phase = "starting"
        self._questions = 0
        self._shown = ExitStack()

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

    def show_installation(self) -> None:
        self._phase = self._starting

    def count_question(self) -> None:
        self._phase = _PHASES["protocol"]
        self._questions += 1
