"""The two output streams: data for people or programs on stdout, notes and progress on stderr."""

from __future__ import annotations

import codecs
import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import IntEnum
from typing import Any, NoReturn

import click
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from evidence.derive.secret_scrubbing import scrub_body
from evidence.model import Absent
from publish.text.display import make_visible

PIPE_WIDTH = 200
"""Columns of output that goes to a file or a pipe, unless COLUMNS is set."""

FULL_TABLE_WIDTH = 110
"""In a narrower terminal, tables leave out columns that other commands show."""

_REF_LIMIT = 160
_TOGETHER = 100  # elements of a long list that are encoded at once
_WRITTEN = 64 * 1024  # bytes


class ExitCode(IntEnum):
    """Exit codes, the same for every command."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    NOTHING = 3
    BELOW = 4
    INTERRUPTED = 130


def open_stdout() -> Console:
    """Stdout, for the requested data only."""
    return _console(stderr=False)


def open_stderr() -> Console:
    """Stderr, for progress, notes and errors."""
    return _console(stderr=True)


def print_data(renderable: RenderableType) -> None:
    """Print data for people. Without a terminal, trailing spaces are removed."""
    console = open_stdout()
    if console.is_terminal:
        console.print(renderable)
        return
    with console.capture() as printed:
        console.print(renderable)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in printed.get().splitlines()))


def print_table(grid: Table, none: str) -> None:
    """Print a table, or the note `none` when it has no rows."""
    if grid.row_count:
        print_data(grid)
    else:
        print_note(none)


def print_json(value: Any) -> None:
    """Print one JSON value on one line. Secrets are masked; non-ASCII is escaped, so no text can control a terminal."""
    body = scrub_body(b"".join(_encode_parts(value)))
    parts = (body[start : start + _WRITTEN] for start in range(0, len(body), _WRITTEN))
    for text in codecs.iterdecode(parts, "utf-8"):
        sys.stdout.write(text)
    sys.stdout.write("\n")
    sys.stdout.flush()


def _encode_parts(value: Any, depth: int = 4) -> Iterator[bytes]:
    """The JSON of a value in parts: at once, the encoder takes fifteen times the memory of what it makes."""
    if depth and isinstance(value, dict) and len(value) <= _TOGETHER and all(isinstance(name, str) for name in value):
        yield b"{"
        for number, (name, one) in enumerate(value.items()):
            yield b"%s%s:" % (b"," if number else b"", _encode(name))
            yield from _encode_parts(one, depth - 1)
        yield b"}"
    elif depth and isinstance(value, list):
        yield b"["
        step = _TOGETHER if len(value) > _TOGETHER else 1
        for start in range(0, len(value), step):
            yield b"," if start else b""
            some = value[start : start + step]
            yield from _encode_parts(some[0], depth - 1) if step == 1 else (_encode(some)[1:-1],)
        yield b"]"
    else:
        yield _encode(value)


def _encode(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def print_note(text: str) -> None:
    """Print a note for people, which is not part of the output."""
    open_stderr().print(Text(make_visible(text)), style="dim", soft_wrap=True)


def exit_with_error(message: str, code: ExitCode = ExitCode.FAILURE) -> NoReturn:
    """End the command with a message: what was expected, what was found and what to do."""
    line = Text("error: ", style="bold red")
    line.append(make_visible(message, multiline=True), style="default not bold")
    open_stderr().print(line, soft_wrap=True)
    raise click.exceptions.Exit(code)


def clean_text(text: str, style: str = "", *, limit: int = _REF_LIMIT) -> Text:
    """Untrusted text without markup, hidden characters and control characters."""
    return Text(make_visible(text, limit=limit), style=style, overflow="fold")


def format_moment(at: datetime | None, timespec: str = "seconds") -> str:
    """Date and time with a space between them; empty for None."""
    return at.isoformat(sep=" ", timespec=timespec) if at else ""


def format_absence(absent: Absent) -> Text:
    return join_text([(absent.reason.value.replace("_", " "), "italic"), (f"  {absent.detail}", "dim")])


def make_table(*columns: str | tuple[str, str], title: str | None = None) -> Table:
    """A table without borders. A column is its heading, or heading and justification; long words fold."""
    grid = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        heading, justify = column if isinstance(column, tuple) else (column, "left")
        grid.add_column(
            heading, justify="right" if justify == "right" else "left", overflow="fold", no_wrap=justify == "right"
        )
    return grid


def make_fact_table(pairs: Iterable[tuple[str, str]]) -> Table:
    """A table of names and values without headings."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs:
        grid.add_row(clean_text(name), clean_text(value, limit=1000))
    return grid


def join_text(parts: Sequence[tuple[str, str]]) -> Text:
    """One line of pieces of untrusted text with their styles."""
    line = Text()
    for text, style in parts:
        line.append_text(clean_text(text, style))
    return line


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = shutil.get_terminal_size((PIPE_WIDTH, 0)).columns
    return console
