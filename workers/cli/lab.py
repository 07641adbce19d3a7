"""`hallmark lab`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from evidence.lockfiles import (
    FORMATS,
    Dependency,
    Fault,
    Format,
    Lockfile,
    Relation,
    Scope,
    Unknown,
    Unreadable,
    format_of,
    parse,
)
from evidence.lockfiles.reading import MAX_BYTES
from workers.cli.boundary import explained
from workers.cli.console import Exit, emit, note, plain, show, table
from workers.cli.lab_advisories import advisories
from workers.cli.lab_poisoning import poisoning
from workers.cli.lab_secrets import secrets

app = typer.Typer(add_completion=False, no_args_is_help=True)

SKIPPED = frozenset({".git", "node_modules"})
"""Folders that hold no lockfile of the project itself."""

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object per line, for programs.")]


@app.callback()
def lab() -> None:
    """Judge files of your own with the readers and patterns that runs use. Nothing is stored, sent or executed.

    Examples:

    hallmark lab lockfiles .

    hallmark lab lockfiles some.yaml --as pnpm --json

    hallmark lab secrets ./project

    hallmark lab advisories ./project/uv.lock
    """


app.command()(secrets)
app.command()(poisoning)
app.command()(advisories)


@app.command()
def lockfiles(
    where: Annotated[Path, typer.Argument(metavar="DIR", help="A folder, searched with those below it, or one file.")],
    as_format: Annotated[
        str | None, typer.Option("--as", metavar="FORMAT", help=f"Read every file as this: {', '.join(FORMATS)}.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read every lockfile and say what it locks. Exit code 3 when none could be read.

    Examples:

    hallmark lab lockfiles ./project

    hallmark lab lockfiles ./project --json

    Lockfiles are known by the names that tools give them; .git and node_modules are skipped.
    """
    if as_format is not None and as_format not in FORMATS:
        raise typer.BadParameter(f"expected one of {', '.join(FORMATS)}; found {as_format!r}", param_hint="--as")
    with explained():
        grid = table("File", "Format", ("Packages", "right"), ("Direct", "right"), ("No version", "right"), "Problems")
        read = unreadable = 0
        for path, form in _found(where, FORMATS[as_format] if as_format else None):
            outcome = _parsed(path, form)
            name = path.relative_to(where).as_posix() if path != where else path.name
            unreadable += isinstance(outcome, Unreadable)
            read += isinstance(outcome, Lockfile)
            if as_json:
                emit(_row(name, form, outcome))
            else:
                grid.add_row(plain(name), form.id, *_counts(outcome), plain(_problems(outcome), limit=400))
        if not as_json and read + unreadable:
            show(grid)
        note(f"{read} lockfiles read, {unreadable} not readable")
        raise typer.Exit(Exit.OK if read else Exit.NOTHING)


def _found(where: Path, form: Format | None) -> Iterator[tuple[Path, Format]]:
    """Regular files in the order of their paths; links are not followed."""
    if not where.is_dir():
        known = form or format_of(where.name)
        if known is None:
            raise typer.BadParameter(f"{where.name} has no lockfile's name; say what it is with --as", param_hint="DIR")
        yield where, known
        return
    for folder, below, names in os.walk(where):
        below[:] = sorted(name for name in below if name not in SKIPPED)
        for name in sorted(names):
            known = form or format_of(name)
            path = Path(folder, name)
            if known is not None and path.is_file() and not path.is_symlink():
                yield path, known


def _parsed(path: Path, form: Format) -> Lockfile | Unreadable:
    with path.open("rb") as file:
        return parse(form, file.read(MAX_BYTES + 1))


def _counts(outcome: Lockfile | Unreadable) -> tuple[str, str, str]:
    if isinstance(outcome, Unreadable):
        return "-", "-", "-"
    found = outcome.dependencies
    direct = sum(item.relation is Relation.DIRECT for item in found)
    return str(len(found)), str(direct), str(sum(isinstance(item.version, Unknown) for item in found))


def _problems(outcome: Lockfile | Unreadable) -> str:
    faults = (outcome.fault,) if isinstance(outcome, Unreadable) else outcome.faults
    first = [f"line {fault.line}: {fault.message}" if fault.line else fault.message for fault in faults[:2]]
    return "; ".join(first) + (f"; {len(faults) - 2} more" if len(faults) > 2 else "")


def _row(name: str, form: Format, outcome: Lockfile | Unreadable) -> dict[str, Any]:
    found = outcome if isinstance(outcome, Lockfile) else None
    return {
        "file": name,
        "format": form.id,
        "ecosystem": form.ecosystem.value,
        "complete": found is not None and found.complete,
        "error": _fault(outcome.fault) if isinstance(outcome, Unreadable) else None,
        "faults": [_fault(fault) for fault in found.faults] if found else [],
        "dependencies": [_dependency(item) for item in found.dependencies] if found else None,
    }


def _fault(fault: Fault) -> dict[str, Any]:
    return {"class": fault.kind.value, "message": fault.message, "line": fault.line, "column": fault.column}


def _dependency(item: Dependency) -> dict[str, Any]:
    unknown = isinstance(item.version, Unknown)
    return {
        "ecosystem": item.ecosystem.value,
        "name": item.name,
        "version": "unknown" if unknown else item.version,
        "raw": item.version.raw if isinstance(item.version, Unknown) else None,
        "relation": item.relation.value,
        **{scope.value: scope in item.scopes for scope in Scope},
        "source": item.source.value,
        "location": item.location,
        "alias": item.alias,
    }
