"""`hallmark lab lockfiles`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
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
    UnknownVersion,
    Unreadable,
    find_format,
    parse_lockfile,
)
from evidence.lockfiles.parsing.bounded import MAX_BYTES
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    make_table,
    print_data,
    print_json,
    print_note,
)
from workers.cli.error_boundary import explain_failures
from workers.cli.lab.lockfile_labels import InvalidLabels, Labels, LockfileQuality

SKIPPED = frozenset({".git", "node_modules"})
"""Folders that hold no lockfile of the project itself."""
MAX_SHOWN = 40
"""Disagreements with labels in the table; --json has more."""


def lockfiles(
    where: Annotated[Path, typer.Argument(metavar="DIR", help="A folder, searched with those below it, or one file.")],
    as_format: Annotated[
        str | None, typer.Option("--as", metavar="FORMAT", help=f"Read every file as this: {', '.join(FORMATS)}.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, for programs.")] = False,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="What the files lock, one package in a row; see the example."),
    ] = None,
) -> None:
    """Read every lockfile and say what it locks. Exit code 3 when none could be read.

    Examples:

    hallmark lab lockfiles ./project

    hallmark lab lockfiles ./project --json

    hallmark lab lockfiles ./corpus --labels expected.jsonl

    Lockfiles are known by the names that tools give them; .git and node_modules are skipped.

    With --labels precision and recall come last, of each format and of all, over the labelled files only. A row is

    {"file": "web/yarn.lock", "ecosystem": "npm", "name": "ms", "version": "2.1.3", "relation": "direct", "scopes": []}

    A package is right when file, ecosystem, name and version are. The relation (direct, transitive, unstated) and the
    scopes (dev, optional, peer) may be left out, and are compared for the right ones. A version that is null, a range,
    a commit or a URL stands for what has no version. A row with a file alone says that nothing is locked in it, and
    "format" beside it how to read a file with another name.
    """
    if as_format is not None and as_format not in FORMATS:
        raise typer.BadParameter(f"expected one of {', '.join(FORMATS)}; found {as_format!r}", param_hint="--as")
    with explain_failures():
        known = _labels(labels) if labels else None
        quality = LockfileQuality(known) if known else None
        form = FORMATS[as_format] if as_format else None
        grid = make_table(
            "File", "Format", ("Packages", "right"), ("Direct", "right"), ("No version", "right"), "Problems"
        )
        read = unreadable = 0
        for path, name, found in _found(where, form, known.formats if known else {}):
            outcome = _parsed(path, found)
            unreadable += isinstance(outcome, Unreadable)
            read += isinstance(outcome, Lockfile)
            if quality:
                quality.add(name, found, outcome.dependencies if isinstance(outcome, Lockfile) else ())
            if as_json:
                print_json(_row(name, found, outcome))
            else:
                grid.add_row(clean_text(name), found.id, *_counts(outcome), clean_text(_problems(outcome), limit=400))
        if not as_json and read + unreadable:
            print_data(grid)
        if quality:
            quality.finish()
            _print_quality(quality, as_json=as_json)
        print_note(f"{read} lockfiles read, {unreadable} not readable")
        raise typer.Exit(ExitCode.OK if read else ExitCode.NOTHING)


def _labels(path: Path) -> Labels:
    try:
        return Labels.of(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, InvalidLabels) as error:
        exit_with_error(f"{path}: {error}", ExitCode.USAGE)


def _found(where: Path, form: Format | None, told: Mapping[str, Format]) -> Iterator[tuple[Path, str, Format]]:
    """Regular files with their names below the folder, in the order of their paths; links are not followed."""
    if not where.is_dir():
        known = form or told.get(where.name) or find_format(where.as_posix())
        if known is None:
            raise typer.BadParameter(f"{where.name} has no lockfile's name; say what it is with --as", param_hint="DIR")
        yield where, where.name, known
        return
    for folder, below, names in os.walk(where):
        below[:] = sorted(name for name in below if name not in SKIPPED)
        for name in sorted(names):
            path = Path(folder, name)
            inside = path.relative_to(where).as_posix()
            known = form or told.get(inside) or find_format(inside)
            if known is not None and path.is_file() and not path.is_symlink():
                yield path, inside, known


def _parsed(path: Path, form: Format) -> Lockfile | Unreadable:
    with path.open("rb") as file:
        return parse_lockfile(form, file.read(MAX_BYTES + 1))


def _counts(outcome: Lockfile | Unreadable) -> tuple[str, str, str]:
    if isinstance(outcome, Unreadable):
        return "-", "-", "-"
    found = outcome.dependencies
    direct = sum(item.relation is Relation.DIRECT for item in found)
    return str(len(found)), str(direct), str(sum(isinstance(item.version, UnknownVersion) for item in found))


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
    unknown = isinstance(item.version, UnknownVersion)
    return {
        "ecosystem": item.ecosystem.value,
        "name": item.name,
        "version": "unknown" if unknown else item.version,
        "raw": item.version.raw if isinstance(item.version, UnknownVersion) else None,
        "relation": item.relation.value,
        **{scope.value: scope in item.scopes for scope in Scope},
        "source": item.source.value,
        "location": item.location,
        "alias": item.alias,
    }


def _print_quality(quality: LockfileQuality, *, as_json: bool) -> None:
    if as_json:
        print_json({"quality": quality.as_json()})
        return
    if quality.disagreements:
        grid = make_table("File", "Package", "Version", "What", "Labelled", "Found")
        for one in quality.disagreements[:MAX_SHOWN]:
            package = clean_text(one.package)
            grid.add_row(
                clean_text(one.file), package, clean_text(one.version or "-"), one.what, one.labelled, one.found
            )
        print_data(grid)
    if (more := quality.disagreeing - MAX_SHOWN) > 0:
        print_note(f"{more} more disagreements; --json tells up to {quality.MAX_TOLD}")
    columns = ("Files", "Labelled", "Found", "Right", "Precision", "Recall", "Relations", "Scopes")
    summary = make_table("Format", *((name, "right") for name in columns))
    for name, figures in quality.figures().items():
        counts = (str(figures[key]) for key in ("files", "labelled", "found", "right"))
        rates = (_share(figures[key]) for key in ("precision", "recall", "relations", "scopes"))
        summary.add_row(name, *counts, *rates)
    print_data(summary)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2%}"
