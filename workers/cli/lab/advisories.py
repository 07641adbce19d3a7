"""`hallmark lab advisories`."""

from __future__ import annotations

import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

import click
from msgspec import Struct

from crawler.advisories.lookup import LookupResult, look_up_in_mirror
from crawler.advisories.mirror import Mirror
from crawler.advisories.mirror_database import MirrorUnreadable
from crawler.advisories.mirror_refresh import Refresher, RefreshMode
from crawler.advisories.osv_export import FolderExport
from crawler.advisories.version_order import OsvOrder
from evidence.advisories.evidence_body import group_to_json
from evidence.advisories.osv_record import normalize_name
from evidence.advisories.package_matching import Package, UnmatchedReason
from evidence.advisories.version_matching import normalize_version
from evidence.kinds.advisories import Group, Reach, Unmatched
from evidence.lockfiles import Dependency, Relation, Source, UnknownVersion, Unreadable, find_format
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
from workers.cli.lab.inputs import find_named_format, format_option, parse_lockfile_at, read_rows, unknown_format
from workers.cli.lab.quality import format_rate, make_quality_row
from workers.cli.options import ANY_PATH, json_lines_option
from workers.clock import Clock, clock_at
from workers.event_loop import run_coroutine
from workers.settings.environment import Settings, read_settings

PackageVersion: TypeAlias = tuple[str, str, str]
"""Ecosystem, normalized name and normalized version."""

_REACHES: Final = {Relation.DIRECT: Reach.DIRECT, Relation.TRANSITIVE: Reach.TRANSITIVE}
_COLUMNS: Final = ("Precision", "Recall", "Right", "Wrong", "Missed")


class Label(Struct, frozen=True):
    """The ids of all advisories that affect one version of a package."""

    package: PackageVersion
    ids: frozenset[str]


@click.command()
@click.argument(
    "lockfile",
    metavar="LOCKFILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='A lockfile, or rows {"ecosystem", "name", "version"} in a .jsonl.',
)
@json_lines_option
@click.option(
    "--export",
    metavar="DIR",
    type=ANY_PATH,
    help="A folder laid out as OSV's export (ECOSYSTEM/all.zip), not the mirror.",
)
@click.option(
    "--labels",
    metavar="FILE.jsonl",
    type=ANY_PATH,
    help='Rows {"ecosystem": ..., "name": ..., "version": ..., "ids": [...]}.',
)
@format_option
def advisories(lockfile: Path, as_json: bool, export: Path | None, labels: Path | None, as_format: str | None) -> None:
    """Compare the versions in a lockfile with published advisories, offline: one line per vulnerability and version.

    With --json there is one row per vulnerability, then one row of totals. With --labels the last row is precision and
    recall: a reported vulnerability is right when one of its ids or aliases is labelled, and a labelled id is found
    when a reported vulnerability has it.

    Examples:

    hallmark lab advisories ./project/package-lock.json

    hallmark lab advisories uv.lock --export ./osv --json

    Exit codes: 0 done, 1 Hallmark failed, 2 wrong usage, 3 nothing could be read or there is no mirror.
    """
    with explain_failures(), _explain_mirror_errors():
        settings = read_settings()
        clock = clock_at(settings.clock)
        packages, foreign = _read_packages(lockfile, as_format)
        labelled = read_rows(labels, _label, "ecosystem, name, version and a list of ids") if labels else []
        with _open_mirror(settings, export, clock, packages) as mirror:
            result = look_up_in_mirror(mirror, packages, OsvOrder())
        if result is None:
            exit_with_error(
                "there is no advisory mirror; make one with `hallmark advisories refresh`", ExitCode.NOTHING
            )
        _print(result, foreign, clock.wall(), as_json=as_json)
        if labelled:
            _print_quality(measure_quality(result.groups, labelled), len(labelled), as_json=as_json)


@contextmanager
def _explain_mirror_errors() -> Iterator[None]:
    try:
        yield
    except MirrorUnreadable as error:
        exit_with_error(str(error))
    except sqlite3.Error as error:
        exit_with_error(f"the advisories could not be loaded: {error}")


def _read_packages(path: Path, as_format: str | None) -> tuple[list[Package], list[Unmatched]]:
    """The packages of a file; apart from them dependencies from outside registries, which no advisory covers."""
    form = find_named_format(as_format)
    if form is None and path.suffix == ".jsonl":
        return read_rows(path, _package_of_row, "ecosystem, name and version"), []
    form = form or find_format(path.name)
    if form is None:
        raise unknown_format(path, "LOCKFILE")
    outcome = parse_lockfile_at(path, form)
    if isinstance(outcome, Unreadable):
        exit_with_error(f"{path.name}: {outcome.fault.message}", ExitCode.NOTHING)
    if outcome.faults:
        print_note(f"{path.name} could only be read in part: {outcome.faults[0].message}")
    packages = [_package(item) for item in outcome.dependencies if item.source is Source.REGISTRY]
    return packages, [_foreign(item) for item in outcome.dependencies if item.source is not Source.REGISTRY]


def _package_of_row(row: Any) -> Package:
    return Package(ecosystem=str(row["ecosystem"]), name=str(row["name"]), version=str(row["version"]))


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
    why = UnmatchedReason.NOT_FROM_REGISTRY
    return Unmatched(ecosystem=item.ecosystem.value, name=item.name, version=version, why=why)


@contextmanager
def _open_mirror(
    settings: Settings, export: Path | None, clock: Clock, packages: Sequence[Package]
) -> Iterator[Mirror]:
    """The mirror of this installation, or a temporary one made from a folder."""
    if export is None:
        yield Mirror(settings.advisories_file)
        return
    if not export.is_dir():
        raise click.BadParameter(f"{export} is not a folder", param_hint="--export")
    ecosystems = sorted({package.ecosystem for package in packages})
    with tempfile.TemporaryDirectory(prefix="hallmark-") as folder:
        path = Path(folder, "advisories.sqlite")
        for result in run_coroutine(Refresher(FolderExport(export), path, clock.wall).refresh(ecosystems)):
            if result.how is RefreshMode.FAILED:
                print_note(f"{result.ecosystem}: {result.why}")
            elif result.bad:
                first = result.bad[0].name
                print_note(f"{result.ecosystem}: {len(result.bad)} records could not be read, the first is {first}")
        yield Mirror(path)


def _print(result: LookupResult, foreign: Sequence[Unmatched], now: datetime, *, as_json: bool) -> None:
    unknown = [*result.unknown, *foreign]
    if as_json:
        for group in result.groups:
            print_json(group_to_json(group))
        rows = [
            {"ecosystem": one.ecosystem, "name": one.name, "version": one.version, "why": one.why} for one in unknown
        ]
        print_json(
            {
                "checked": result.checked,
                "flaws": len(result.groups),
                "unknown": rows,
                "ecosystems": list(result.ecosystems),
                "as_of": {state.name: state.refreshed_at.isoformat() for state in result.states},
                "stale": result.stale(now),
                "partial": result.partial(),
            }
        )
        return
    if result.groups:
        grid = make_table("Package", "Version", "Advisory", "Severity", "Fixed in", "Relation", "Summary")
        for group in result.groups:
            grid.add_row(*_cells(group))
        print_data(grid)
    reasons = Counter(one.why.replace("_", " ") for one in unknown).most_common()
    unmatched = ", ".join(f"{count} {reason}" for reason, count in reasons)
    total = f"{result.checked} versions compared, {len(result.groups)} vulnerabilities"
    print_note(total + (f"; not compared: {unmatched}" if unmatched else ""))
    for name in result.stale(now):
        print_note(f"the advisories of {name} are more than a week old")
    for name in result.partial():
        print_note(f"the advisories of {name} are incomplete")


def _cells(group: Group) -> tuple[Any, ...]:
    more = f" +{len(group.ids) - 1}" if len(group.ids) > 1 else ""
    return (
        clean_text(group.package),
        clean_text(group.version),
        clean_text(f"{group.id}{more}"),
        f"{group.severity.value} {group.cvss}".strip(),
        clean_text(group.fixed or "-"),
        " ".join([group.relation.value, *sorted(group.scopes)]),
        clean_text(group.summary, limit=100),
    )


def _label(row: Any) -> Label:
    if not isinstance(row["ids"], list):
        raise TypeError("ids is not a list")
    package = _package_version(str(row["ecosystem"]), str(row["name"]), str(row["version"]))
    return Label(package, frozenset(map(str, row["ids"])))


def measure_quality(groups: Sequence[Group], labels: Sequence[Label]) -> dict[str, Any]:
    """Precision and recall over the labelled versions; advisories of other versions are not counted."""
    expected: dict[PackageVersion, set[str]] = {}
    for label in labels:
        expected.setdefault(label.package, set()).update(label.ids)
    placed = ((_package_version(group.ecosystem, group.package, group.version), set(group.ids)) for group in groups)
    reported = [(package, ids) for package, ids in placed if package in expected]
    return make_quality_row(
        right=sum(bool(expected[package] & ids) for package, ids in reported),
        reported=len(reported),
        found=len({(package, name) for package, ids in reported for name in ids & expected[package]}),
        labelled=sum(map(len, expected.values())),
    )


def _package_version(ecosystem: str, name: str, version: str) -> PackageVersion:
    return ecosystem, normalize_name(ecosystem, name), normalize_version(ecosystem, version) or version


def _print_quality(row: dict[str, Any], labels: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"quality": row, "labels": labels})
        return
    grid = make_table(*((name, "right") for name in _COLUMNS))
    rates = (format_rate(row[name]) for name in ("precision", "recall"))
    grid.add_row(*rates, *(str(row[name]) for name in ("right", "wrong", "missed")))
    print_data(grid)
