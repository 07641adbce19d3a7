"""Finds score changes between two snapshots and their causes: evidence, rules or methodology."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, Protocol, TypeAlias

from msgspec import Struct, field

from evidence.model import ServerId
from publish.datasets.format.columns import Row
from publish.datasets.format.methodology import RULESET
from publish.datasets.format.tables import EVIDENCE, SCORECARDS, Table
from publish.datasets.snapshot.manifest import Manifest
from publish.datasets.snapshot.reader import OpenedSnapshot, RowParser

COMPARED_TABLES: Final = (SCORECARDS, EVIDENCE)
_JUDGING: Final = (*RULESET, "source")


class Cause(StrEnum):
    """Why a score changed. Several causes can apply at once."""

    EVIDENCE = "evidence"
    RULESET = "ruleset"
    METHODOLOGY = "methodology"
    TIME_OR_WITHHELD = "time or withheld evidence"


class ScoreMove(Struct, frozen=True, kw_only=True):
    """One server under one rubric. A side without a score is None, with the reason in `old_why` or `new_why`."""

    server: ServerId
    rubric: str
    before: str | None
    after: str | None
    old_score: Decimal | None
    new_score: Decimal | None
    old_grade: str | None
    new_grade: str | None
    old_why: str | None
    new_why: str | None
    causes: tuple[Cause, ...]
    kinds: tuple[str, ...]

    @property
    def points(self) -> Decimal | None:
        """Points gained or lost; None unless both sides have a score."""
        return None if self.old_score is None or self.new_score is None else self.new_score - self.old_score


class ListingChange(Struct, frozen=True, kw_only=True):
    """A server that only one of two snapshots has."""

    server: ServerId
    came: bool


Difference: TypeAlias = ScoreMove | ListingChange


class PinChanges(Struct, frozen=True):
    """Pins of two snapshots: versions of code, rules and rubrics."""

    before: Mapping[str, str]
    after: Mapping[str, str]

    @property
    def ruleset(self) -> bool:
        """Whether rules, engine or judging code differ."""
        return any(self.before.get(name) != self.after.get(name) for name in _JUDGING)

    @property
    def changed(self) -> dict[str, tuple[str | None, str | None]]:
        """Each pin that differs, before and after."""
        names = sorted(self.before.keys() | self.after.keys())
        pairs = {name: (self.before.get(name), self.after.get(name)) for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


class ServerRows(Struct, frozen=True):
    """The rows of one server in two snapshots."""

    server: ServerId
    before: Mapping[str, Sequence[Row]] | None
    after: Mapping[str, Sequence[Row]] | None


class ComparedRows(Protocol):
    """The source of the compared tables of a run: a snapshot or the store."""

    @property
    def pins(self) -> Mapping[str, str]: ...

    def servers(self) -> Iterator[tuple[ServerId, Mapping[str, Sequence[Row]]]]:
        """The rows of COMPARED_TABLES of each server, sorted by server id."""
        ...


class SnapshotRows(Struct, frozen=True):
    """The rows of a snapshot."""

    opened: OpenedSnapshot

    @property
    def pins(self) -> Mapping[str, str]:
        return self.opened.manifest.pins

    def servers(self) -> Iterator[tuple[ServerId, Mapping[str, Sequence[Row]]]]:
        """The rows of each server; raise Unreadable."""
        comparable = self.opened.manifest.comparable
        for server, lines in self.opened.servers(COMPARED_TABLES):
            yield (
                server,
                {table.name: _parsed(table, lines.get(table.name, ()), comparable) for table in COMPARED_TABLES},
            )


def find_differences(before: ComparedRows, after: ComparedRows) -> Iterator[Difference]:
    """Every added, removed or changed server, sorted by id; both sides are read in step, so memory stays bounded."""
    pins = PinChanges(before.pins, after.pins)
    for sides in _paired(before, after):
        if sides.before is None or sides.after is None:
            yield ListingChange(server=sides.server, came=sides.before is None)
        else:
            yield from _moved(sides.server, sides.before, sides.after, pins)


class DifferenceCounts(Struct):
    """Totals of differences."""

    came: int = 0
    went: int = 0
    up: int = 0
    down: int = 0
    other: int = 0
    causes: dict[str, int] = field(default_factory=dict)
    rubrics: dict[str, int] = field(default_factory=dict)

    def add(self, one: Difference) -> None:
        if isinstance(one, ListingChange):
            self.came += one.came
            self.went += not one.came
            return
        points = one.points
        self.up += points is not None and points > 0
        self.down += points is not None and points < 0
        self.other += not points
        cause = " and ".join(one.causes)
        self.causes[cause] = self.causes.get(cause, 0) + 1
        self.rubrics[one.rubric] = self.rubrics.get(one.rubric, 0) + 1


def _parsed(table: Table, lines: Sequence[bytes], comparable: bool) -> list[Row]:
    parser = RowParser(table, comparable=comparable)
    return [parser.parse(line) for line in lines]


def _paired(before: ComparedRows, after: ComparedRows) -> Iterator[ServerRows]:
    ones, others = before.servers(), after.servers()
    one, other = next(ones, None), next(others, None)
    while one or other:
        if other is None or (one and one[0] < other[0]):
            assert one is not None
            yield ServerRows(one[0], one[1], None)
            one = next(ones, None)
        elif one is None or other[0] < one[0]:
            yield ServerRows(other[0], None, other[1])
            other = next(others, None)
        else:
            yield ServerRows(one[0], one[1], other[1])
            one, other = next(ones, None), next(others, None)


def _moved(
    server: ServerId, before: Mapping[str, Sequence[Row]], after: Mapping[str, Sequence[Row]], pins: PinChanges
) -> Iterator[ScoreMove]:
    old_digests, new_digests = (_digests(side) for side in (before, after))
    changed = tuple(
        kind
        for kind in sorted(old_digests.keys() | new_digests.keys())
        if old_digests.get(kind) != new_digests.get(kind)
    )
    for new in after[SCORECARDS.name]:
        old = _replaced(new, before[SCORECARDS.name])
        if old is None or (old["score"], old["grade"]) == (new["score"], new["grade"]):
            continue
        causes = tuple(_causes(old, new, changed, pins))
        yield ScoreMove(
            server=server,
            rubric=new["rubric"],
            before=_name(old),
            after=_name(new),
            old_score=_score(old),
            new_score=_score(new),
            old_grade=old["grade"],
            new_grade=new["grade"],
            old_why=old["not_measured"],
            new_why=new["not_measured"],
            causes=causes or (Cause.TIME_OR_WITHHELD,),
            kinds=changed,
        )


def _causes(old: Row, new: Row, changed: Sequence[str], pins: PinChanges) -> Iterator[Cause]:
    name = f"rubric.{_name(new)}"
    if changed:
        yield Cause.EVIDENCE
    if pins.ruleset:
        yield Cause.RULESET
    if old["version"] != new["version"] or pins.before.get(name) != pins.after.get(name):
        yield Cause.METHODOLOGY


def _replaced(new: Row, before: Sequence[Row]) -> Row | None:
    """The receipt of the same version, or else of the newest earlier one."""
    known = [row for row in before if row["rubric"] == new["rubric"] and row["version"] <= new["version"]]
    return max(known, key=lambda row: row["version"], default=None)


def _digests(side: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    return {row["kind"]: row["digest"] for row in side[EVIDENCE.name]}


def _score(row: Row) -> Decimal | None:
    return None if row["score"] is None else Decimal(row["score"])


def _name(row: Row) -> str:
    return f"{row['rubric']}@{row['version']}"


def compare_versions(before: Manifest, after: Manifest) -> dict[str, tuple[str, str]]:
    """The three versions of two snapshots, each before and after."""
    return {
        "schema": (before.schema, after.schema),
        "methodology": (before.methodology, after.methodology),
        "snapshot": (before.snapshot, after.snapshot),
    }
