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

from crawler.advisories.export import FolderExport
from crawler.advisories.looking import Looked, look_in_mirror
from crawler.advisories.mirror import Mirror
from crawler.advisories.ordering import OsvOrder
from crawler.advisories.refreshing import How, Refresher
from crawler.advisories.tables import MirrorUnreadable
from evidence.advisories.affecting import version_of
from evidence.advisories.body import as_json as group_as_json
from evidence.advisories.matching import Package, Why
from evidence.advisories.record import compared
from evidence.kinds.advisories import Group, Reach, Unmatched
from evidence.lockfiles import FORMATS, Dependency, Relation, Source, Unknown, Unreadable, format_of, parse
from evidence.lockfiles.reading import MAX_BYTES
from workers.cli.boundary import explained
from workers.cli.console import Exit, emit, fail, note, plain, show, table
from workers.clock import Clock, clock_at
from workers.loop import run_loop
from workers.settings import Settings

_REACHES = {Relation.DIRECT: Reach.DIRECT, Relation.TRANSITIVE: Reach.TRANSITIVE}


@dataclass(frozen=True, slots=True)
class Label:
    """The advisories that somebody says affect a version of a package."""

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
    with explained(), _explained():
        settings = Settings()
        clock = clock_at(settings.clock)
        packages, foreign = _packages(lockfile, as_format)
        known = _labels(labels) if labels else ()
        with _mirror(settings, export, clock, packages) as mirror:
            looked = look_in_mirror(mirror, packages, OsvOrder())
        if looked is None:
            fail("there is no mirror of advisories; `hallmark advisories refresh` makes one", Exit.NOTHING)
        _print(looked, foreign, clock.wall(), as_json=as_json)
        if known:
            _print_quality(quality(looked.groups, known), len(known), as_json=as_json)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except MirrorUnreadable as error:
        fail(str(error))
    except sqlite3.Error as error:
        fail(f"the advisories could not be loaded: {error}")


def _packages(path: Path, as_format: str | None) -> tuple[list[Package], list[Unmatched]]:
    """What a file names, and apart from it what comes from no registry, of which no advisory speaks."""
    if as_format is not None and as_format not in FORMATS:
        raise typer.BadParameter(f"expected one of {', '.join(FORMATS)}; found {as_format!r}", param_hint="--as")
    if path.suffix == ".jsonl" and as_format is None:
        return [
            Package(ecosystem=row["ecosystem"], name=row["name"], version=row["version"]) for row in _rows(path)
        ], []
    form = FORMATS[as_format] if as_format else format_of(path.name)
    if form is None:
        raise typer.BadParameter(f"{path.name} has no lockfile's name; say what it is with --as", param_hint="LOCKFILE")
    with path.open("rb") as file:
        outcome = parse(form, file.read(MAX_BYTES + 1))
    if isinstance(outcome, Unreadable):
        fail(f"{path.name}: {outcome.fault.message}", Exit.NOTHING)
    if outcome.faults:
        note(f"{path.name} could not be read whole: {outcome.faults[0].message}")
    packages = [_package(item) for item in outcome.dependencies if item.source is Source.REGISTRY]
    return packages, [_foreign(item) for item in outcome.dependencies if item.source is not Source.REGISTRY]


def _package(item: Dependency) -> Package:
    version, raw = (None, item.version.raw) if isinstance(item.version, Unknown) else (item.version, "")
    return Package(
        ecosystem=item.ecosystem.value,
        name=item.name,
        version=version,
        relation=_REACHES.get(item.relation, Reach.UNKNOWN),
        scopes=frozenset(scope.value for scope in item.scopes),
        raw=raw,
    )


def _foreign(item: Dependency) -> Unmatched:
    version = item.version.raw if isinstance(item.version, Unknown) else item.version
    return Unmatched(ecosystem=item.ecosystem.value, name=item.name, version=version, why=Why.NOT_FROM_REGISTRY)


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
        done = run_loop(Refresher(FolderExport(export), path, clock.wall).refresh(wanted))
        for one in done:
            if one.how is How.FAILED:
                note(f"{one.ecosystem}: {one.why}")
            elif one.bad:
                note(f"{one.ecosystem}: {len(one.bad)} records could not be read, the first is {one.bad[0].name}")
        yield Mirror(path)


def _print(looked: Looked, foreign: Sequence[Unmatched], now: datetime, *, as_json: bool) -> None:
    unknown = [*looked.unknown, *foreign]
    if as_json:
        for found in looked.groups:
            emit(group_as_json(found))
        emit(
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
        grid = table("Package", "Version", "Advisory", "Severity", "Fixed in", "Relation", "Summary")
        for found in looked.groups:
            grid.add_row(*_cells(found))
        show(grid)
    why = ", ".join(
        f"{count} {name.replace('_', ' ')}" for name, count in Counter(u.why for u in unknown).most_common()
    )
    note(f"{looked.checked} versions compared, {len(looked.groups)} flaws" + (f"; unknown: {why}" if why else ""))
    for name in looked.stale(now):
        note(f"the advisories of {name} are more than a week old")
    for name in looked.partial():
        note(f"the advisories of {name} are not all there")


def _cells(found: Group) -> tuple[Any, ...]:
    relation = " ".join([found.relation.value, *sorted(found.scopes)])
    more = f" +{len(found.ids) - 1}" if len(found.ids) > 1 else ""
    return (
        plain(found.package),
        plain(found.version),
        plain(f"{found.id}{more}"),
        f"{found.severity.value} {found.cvss}".strip(),
        plain(found.fixed or "-"),
        relation,
        plain(found.summary, limit=100),
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        return [{**row, **{name: str(row[name]) for name in ("ecosystem", "name", "version")}} for row in rows]
    except (OSError, ValueError, KeyError, TypeError) as error:
        fail(f"{path}: expected rows with ecosystem, name and version; {error!r}", Exit.USAGE)


def _labels(path: Path) -> tuple[Label, ...]:
    rows = _rows(path)
    if not all(isinstance(row.get("ids"), list) for row in rows):
        fail(f"{path}: expected a list of ids in every row", Exit.USAGE)
    return tuple(
        Label(_place(row["ecosystem"], row["name"], row["version"]), frozenset(map(str, row["ids"]))) for row in rows
    )


def quality(groups: Sequence[Group], labels: Sequence[Label]) -> dict[str, Any]:
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
    return ecosystem, compared(ecosystem, name), version_of(ecosystem, version) or version


def _print_quality(row: dict[str, Any], labels: int, *, as_json: bool) -> None:
    if as_json:
        emit({"quality": row, "labels": labels})
        return
    grid = table(
        ("Precision", "right"), ("Recall", "right"), ("Right", "right"), ("Wrong", "right"), ("Missed", "right")
    )
    shares = ["-" if row[name] is None else f"{row[name]:.1%}" for name in ("precision", "recall")]
    grid.add_row(*shares, *(str(row[name]) for name in ("right", "wrong", "missed")))
    show(grid)
