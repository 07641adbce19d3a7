"""What the lab commands read: files of the user, lockfiles in a chosen format, and rows of JSON Lines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from evidence.lockfiles import FORMATS, Format, Lockfile, Unreadable, parse_lockfile
from evidence.lockfiles.parsing.bounded import MAX_BYTES
from workers.cli.display.console import ExitCode, exit_with_error
from workers.cli.options import ANY_PATH

Row = TypeVar("Row")

where_argument = click.argument(
    "where", metavar="DIR", type=ANY_PATH, help="A folder, searched with all folders below it, or one file."
)
format_option = click.option(
    "--as",
    "as_format",
    metavar="FORMAT",
    help=f"Read in this format, whatever the file is called: {', '.join(FORMATS)}.",
)


def walk_files(where: Path, skipped: frozenset[str]) -> Iterator[tuple[Path, str]]:
    """Yield regular files with their paths relative to `where`, sorted by path; links are not followed.

    Folders named in `skipped` are left out. When `where` is a file, only that file is yielded.
    """
    if not where.is_dir():
        yield where, where.name
        return
    for folder, below, names in os.walk(where):
        below[:] = sorted(name for name in below if name not in skipped)
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file() and not path.is_symlink():
                yield path, path.relative_to(where).as_posix()


def find_named_format(name: str | None) -> Format | None:
    """The format that --as names, None without the option; raise BadParameter for an unknown name."""
    if name is not None and name not in FORMATS:
        raise click.BadParameter(f"expected one of {', '.join(FORMATS)}; found {name!r}", param_hint="--as")
    return FORMATS[name] if name else None


def unknown_format(path: Path, argument: str) -> click.BadParameter:
    return click.BadParameter(
        f"{path.name} is not the name of a lockfile; give its format with --as", param_hint=argument
    )


def parse_lockfile_at(path: Path, form: Format) -> Lockfile | Unreadable:
    with path.open("rb") as file:
        return parse_lockfile(form, file.read(MAX_BYTES + 1))


def read_rows(path: Path, convert: Callable[[Any], Row], expected: str) -> list[Row]:
    """Convert every line of a JSON Lines file; end the command when a row is not what is `expected`."""
    try:
        return [convert(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        exit_with_error(f"{path}: expected rows with {expected}; {error!r}", ExitCode.USAGE)
