"""`hallmark lab lockfiles`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from evidence.lockfiles import (
    Dependency,
    Fault,
    Format,
    Lockfile,
    Relation,
    Scope,
    UnknownVersion,
    Unreadable,
    find_format,
)
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
from workers.cli.lab.inputs import (
    find_named_format,
    format_option,
    parse_lockfile_at,
    unknown_format,
    walk_files,
    where_argument,
)
from workers.cli.lab.lockfile_labels import MAX_DISAGREEMENTS, InvalidLabels, Labels, LockfileQuality
from workers.cli.lab.quality import format_rate
from workers.cli.options import ANY_PATH, json_lines_option

SKIPPED: Final = frozenset({".git", "node_modules"})
"""Folders that hold no lockfile of the project itself."""
MAX_SHOWN: Final = 40
"""Disagreements with labels in the table; --json has more."""


@click.command()
@where_argument
@format_option
@json_lines_option
@click.option(
    "--labels", metavar="FILE.jsonl", type=ANY_PATH, help="The expected packages of the files, described below."
)
def lockfiles(where: Path, as_format: str | None, as_json: bool, labels: Path | None) -> None:
    """Read every lockfile and list the packages that it locks. Exit code 3 when none could be read.

    Examples:

    hallmark lab lockfiles ./project

    hallmark lab lockfiles ./project --json

    hallmark lab lockfiles ./corpus --labels expected.jsonl

    Lockfiles are recognized by their usual names; .git and node_modules are skipped.

    With --labels precision and recall come last, per format and in total, over the labelled files only. A label is a
    row such as

    {"file": "web/yarn.lock", "ecosystem": "npm", "name": "ms", "version": "2.1.3", "relation": "direct", "scopes": []}

    A package is right when file, ecosystem, name and version agree. The relation (direct, transitive, unstated) and the
    scopes (dev, optional, peer) are optional and are compared for right packages. A version that is null, a range, a
    commit or a URL stands for "no exact version". A row with only "file" says that the file locks nothing; "format" in
    it names the format of a file with an unusual name.
    """
    form = find_named_format(as_format)
    with explain_failures():
        labelled = _read_labels(labels) if labels else None
        quality = LockfileQuality(labelled) if labelled else None
        counts = ("Packages", "Direct", "No version")
        grid = make_table("File", "Format", *((name, "right") for name in counts), "Problems")
        read = unreadable = 0
        for path, name, found in _find_lockfiles(where, form, labelled.formats if labelled else {}):
            outcome = parse_lockfile_at(path, found)
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
        raise click.exceptions.Exit(ExitCode.OK if read else ExitCode.NOTHING)


def _read_labels(path: Path) -> Labels:
    try:
        return Labels.parse(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, InvalidLabels) as error:
        exit_with_error(f"{path}: {error}", ExitCode.USAGE)


def _find_lockfiles(
    where: Path, form: Format | None, labelled: Mapping[str, Format]
) -> Iterator[tuple[Path, str, Format]]:
    for path, name in walk_files(where, SKIPPED):
        known = form or labelled.get(name) or find_format(name if where.is_dir() else where.as_posix())
        if known is not None:
            yield path, name, known
        elif not where.is_dir():
            raise unknown_format(where, "DIR")


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
    version, raw = ("unknown", item.version.raw) if isinstance(item.version, UnknownVersion) else (item.version, None)
    return {
        "ecosystem": item.ecosystem.value,
        "name": item.name,
        "version": version,
        "raw": raw,
        "relation": item.relation.value,
        **{scope.value: scope in item.scopes for scope in Scope},
        "source": item.source.value,
        "location": item.location,
        "alias": item.alias,
    }


def _print_quality(quality: LockfileQuality, *, as_json: bool) -> None:
    if as_json:
        print_json({"quality": quality.to_json()})
        return
    if quality.disagreements:
        grid = make_table("File", "Package", "Version", "What", "Labelled", "Found")
        for one in quality.disagreements[:MAX_SHOWN]:
            cells = map(clean_text, (one.file, one.package, one.version or "-"))
            grid.add_row(*cells, one.what, one.labelled, one.found)
        print_data(grid)
    if (more := quality.disagreeing - MAX_SHOWN) > 0:
        print_note(f"{more} more disagreements; --json lists up to {MAX_DISAGREEMENTS}")
    counts, rates = ("files", "labelled", "found", "right"), ("precision", "recall", "relations", "scopes")
    summary = make_table("Format", *((name.capitalize(), "right") for name in (*counts, *rates)))
    for name, figures in quality.figures().items():
        summary.add_row(
            name, *(str(figures[key]) for key in counts), *(format_rate(figures[key], digits=2) for key in rates)
        )
    print_data(summary)
