"""`hallmark lab advisories`."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from crawler.advisories.lookup import LookupResult, look_up_in_mirror
from crawler.advisories.mirror import Mirror
from crawler.advisories.mirror_database import MirrorUnreadable
from crawler.advisories.mirror_refresh import Refresher, RefreshMode
from crawler.advisories.osv_export import FolderExport
from crawler.advisories.version_order import OsvOrder
from evidence.advisories.evidence_body import group_to_json as group_as_json
from evidence.advisories.osv_record import normalize_name
from evidence.advisories.package_matching import Package, UnmatchedReason
from evidence.advisories.version_matching import normalize_version
from evidence.kinds.advisories import Group, Reach, Unmatched
from evidence.lockfiles import (
    FORMATS,
    Dependency,
    Relation,
    Source,
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
from workers.clock import Clock, clock_at
from workers.event_loop import run_coroutine
from workers.settings.environment import Settings

_REACHES = {Relation.DIRECT: Reach.DIRECT, Relation.TRANSITIVE: Reach.TRANSITIVE}


@dataclass(frozen=True, slots=True)
class Label:
    """The labelled advisories of a version of a package."""

    package: tuple[str, str, str]
    ids: frozenset[str]


def advisories(
    lockfile: Annotated[
        Path,
        typer.Argument(
            metavar="LOCKFILE",
            help='A lockfile, or rows {"ecosystem", "name", "version"} in a .jsonl.',
            exists=True,
            dir_okay=False,
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, for programs.")] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="A folder in the layout of OSV's export (ECOSYSTEM/all.zip), instead of the mirror."
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help='Rows {"ecosystem": ..., "name": ..., "version": ..., "ids": [...]}.'),
    ] = None,
    as_format: Annotated[
        str | None, typer.Option("--as", metavar="FORMAT", help=f"Read the file as this: {', '.join(FORMATS)}.")
    ] = None,
) -> None:
    """Compare what a lockfile locks with published advisories, offline: one line for each flaw of a version.

    With --json one row for each flaw, then one about the whole; with --labels precision and recall come last: a flaw
    is right when one of its ids or aliases is labelled, and found when a labelled id is among them.

    Examples:

    hallmark lab advisories ./project/package-lock.json

    hallmark lab advisories uv.lock --export ./osv --json

    Exit codes: 0 done, 1 Hallmark failed, 2 wrong usage, 3 nothing could be read or there is no mirror.
    """
    with explain_failures(), _explained():
        settings = Settings()
        clock = clock_at(settings.clock)
        packages, foreign = _packages(lockfile, as_format)
        known = _labels(labels) if labels else ()
        with _mirror(settings, export, clock, packages) as mirror:
            looked = look_up_in_mirror(mirror, packages, OsvOrder())
        if looked is None:
            exit_with_error(
                "there is no mirror of advisories; `hallmark advisories refresh` makes one", ExitCode.NOTHING
            )
        _print(looked, foreign, clock.wall(), as_json=as_json)
        if known:
            _print_quality(measure_quality(looked.groups, known), len(known), as_json=as_json)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except MirrorUnreadable as error:
        exit_with_error(str(error))
    except sqlite3.Error as error:
        exit_with_error(f"the advisories could not be loaded: {error}")


def _packages(path: Path, as_format: str | None) -> tuple[list[Package], list[Unmatched]]:
    """What a file names, and apart from it what comes from no registry, of which no advisory speaks."""
    if as_format is not None and as_format not in FORMATS:
        raise typer.BadParameter(f"expected one of {', '.join(FORMATS)}; found {as_format!r}", param_hint="--as")
    if path.suffix == ".jsonl" and as_format is None:
        return [
            Package(ecosystem=row["ecosystem"], name=row["name"], version=row["version"]) for row in _rows(path)
        ], []
    form = FORMATS[as_format] if as_format else find_format(path.name)
    if form is None:
        raise typer.BadParameter(f"{path.name} has no lockfile's name; say what it is with --as", param_hint="LOCKFILE")
    with path.open("rb") as file:
        outcome = parse_lockfile(form, file.read(MAX_BYTES + 1))
    if isinstance(outcome, Unreadable):
        exit_with_error(f"{path.name}: {outcome.fault.message}", ExitCode.NOTHING)
    if outcome.faults:
        print_note(f"{path.name} could not be read whole: {outcome.faults[0].message}")
    packages = [_package(item) for item in outcome.dependencies if item.source is Source.REGISTRY]
    return packages, [_foreign(item) for item in outcome.dependencies if item.source is not Source.REGISTRY]


def _package(item: Dependency) -> Package:
    version, raw = (None, item.version.raw) if isinstance(item.version, UnknownVersion) else (item.version, "")
    return Package(
        ecosystem=item.ecosystem.value,
        name=item.name,
        version=version,
        relation=_REACHES.get(item.relation, Reach.UNKNOWN),
        scopes=frozenset(scope.value for scope in item.scopes),
        raw=raw,
    )


def _foreign(item: Dependency) -> Unmatched:
    version = item.version.raw if isinstance(item.version, UnknownVersion) else item.version
    return Unmatched(
        ecosystem=item.ecosystem.value, name=item.name, version=version, why=UnmatchedReason.NOT_FROM_REGISTRY
    )


@contextmanager
def _mirror(settings: Settings, export: Path | None, clock: Clock, packages: Sequence[Package]) -> Iterator[Mirror]:
    """The mirror of the installation, or one that is made of a folder and thrown away."""
    if export is None:
        yield Mirror(settings.advisories_file)
        return
    if not export.is_dir():
        raise typer.BadParameter(f"{export} is no folder", param_hint="--export")
    wanted = sorted({package.ecosystem for package in packages})
    with tempfile.TemporaryDirectory(prefix="hallmark-") as folder:
        path = Path(folder, "advisories.sqlite")
        done = run_coroutine(Refresher(FolderExport(export), path, clock.wall).refresh(wanted))
        for one in done:
            if one.how is RefreshMode.FAILED:
                print_note(f"{one.ecosystem}: {one.why}")
            elif one.bad:
                print_note(f"{one.ecosystem}: {len(one.bad)} records could not be read, the first is {one.bad[0].name}")
        yield Mirror(path)


def _print(looked: LookupResult, foreign: Sequence[Unmatched], now: datetime, *, as_json: bool) -> None:
    unknown = [*looked.unknown, *foreign]
    if as_json:
        for found in looked.groups:
            print_json(group_as_json(found))
        print_json(
            {
                "checked": looked.checked,
                "flaws": len(looked.groups),
                "unknown": [
                    {"ecosystem": u.ecosystem, "name": u.name, "version": u.version, "why": u.why} for u in unknown
                ],
                "ecosystems": list(looked.ecosystems),
                "as_of": {state.name: state.refreshed_at.isoformat() for state in looked.states},
                "stale": looked.stale(now),
                "partial": looked.partial(),
            }
        )
        return
    if looked.groups:
        grid = make_table("Package", "Version", "Advisory", "Severity", "Fixed in", "Relation", "Summary")
        for found in looked.groups:
            grid.add_row(*_cells(found))
        print_data(grid)
    why = ", ".join(
        f"{count} {name.replace('_', ' ')}" for name, count in Counter(u.why for u in unknown).most_common()
    )
    print_note(f"{looked.checked} versions compared, {len(looked.groups)} flaws" + (f"; unknown: {why}" if why else ""))
    for name in looked.stale(now):
        print_note(f"the advisories of {name} are more than a week old")
    for name in looked.partial():
        print_note(f"the advisories of {name} are not all there")


def _cells(found: Group) -> tuple[Any, ...]:
    relation = " ".join([found.relation.value, *sorted(found.scopes)])
    more = f" +{len(found.ids) - 1}" if len(found.ids) > 1 else ""
    return (
        clean_text(found.package),
        clean_text(found.version),
        clean_text(f"{found.id}{more}"),
        f"{found.severity.value} {found.cvss}".strip(),
        clean_text(found.fixed or "-"),
        relation,
        clean_text(found.summary, limit=100),
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        return [{**row, **{name: str(row[name]) for name in ("ecosystem", "name", "version")}} for row in rows]
    except (OSError, ValueError, KeyError, TypeError) as error:
        exit_with_error(f"{path}: expected rows with ecosystem, name and version; {error!r}", ExitCode.USAGE)


def _labels(path: Path) -> tuple[Label, ...]:
    rows = _rows(path)
    if not all(isinstance(row.get("ids"), list) for row in rows):
        exit_with_error(f"{path}: expected a list of ids in every row", ExitCode.USAGE)
    return tuple(
        Label(_place(row["ecosystem"], row["name"], row["version"]), frozenset(map(str, row["ids"]))) for row in rows
    )


def measure_quality(groups: Sequence[Group], labels: Sequence[Label]) -> dict[str, Any]:
    """Over the labelled versions: flaws that one of the labelled ids names, and labelled ids that a flaw has."""
    expected: dict[tuple[str, str, str], set[str]] = {}
    for label in labels:
        expected.setdefault(label.package, set()).update(label.ids)
    told = [(found, _place(found.ecosystem, found.package, found.version)) for found in groups]
    told = [(found, place) for found, place in told if place in expected]
    right = sum(bool(expected[place] & set(found.ids)) for found, place in told)
    there = sum(map(len, expected.values()))
    seen = {(place, name) for found, place in told for name in found.ids if name in expected[place]}
    return {
        "precision": round(right / len(told), 4) if told else None,
        "recall": round(len(seen) / there, 4) if there else None,
        "right": right,
        "wrong": len(told) - right,
        "missed": there - len(seen),
    }


def _place(ecosystem: str, name: str, version: str) -> tuple[str, str, str]:
    return ecosystem, normalize_name(ecosystem, name), normalize_version(ecosystem, version) or version


def _print_quality(row: dict[str, Any], labels: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"quality": row, "labels": labels})
        return
    grid = make_table(
        ("Precision", "right"), ("Recall", "right"), ("Right", "right"), ("Wrong", "right"), ("Missed", "right")
    )
    shares = ["-" if row[name] is None else f"{row[name]:.1%}" for name in ("precision", "recall")]
    grid.add_row(*shares, *(str(row[name]) for name in ("right", "wrong", "missed")))
    print_data(grid)
