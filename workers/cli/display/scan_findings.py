"""The findings of a scan on a terminal: how many of each severity, the severest with their places, the baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from publish.scan_reports.baseline import AppliedBaseline
from publish.scan_reports.findings import FindingGrade, ScanFinding
from workers.cli.display.console import clean_text

SHOWN: Final = 4
_STALE_SHOWN: Final = 3
_STYLES: Final = {FindingGrade.HIGH: "bold red", FindingGrade.MEDIUM: "yellow", FindingGrade.LOW: "dim"}


def list_finding_lines(applied: AppliedBaseline, limit: int | None = SHOWN) -> Iterator[RenderableType]:
    """One row for each rule and file, the severest first, at most `limit` of them; None shows all."""
    counted = [one for one in applied.findings if one.can_refuse]
    pending = sorted((one for one in counted if not one.accepted), key=lambda one: one.rank)
    yield _headline(pending, len(counted) - len(pending))
    rows = _group(pending)
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", ratio=2)
    grid.add_column(overflow="fold", ratio=5)
    for group in rows[:limit]:
        first, more = group[0], f" (and {len(group) - 1} more)" if len(group) > 1 else ""
        message = clean_text(first.message, limit=160).append(more, "dim")
        rule = Text("  ", "dim").append_text(clean_text(first.rule, "dim"))
        grid.add_row(Text(first.grade.value, _STYLES[first.grade]), _write_place(first), message.append_text(rule))
    if rows:
        yield grid
    if limit is not None and len(rows) > limit:
        yield Text(f"{len(rows) - limit} more groups of findings: --verbose, --json or --sarif FILE", "dim")
    yield from _baseline(applied)


def _headline(pending: Sequence[ScanFinding], accepted: int) -> Text:
    counts = Counter(one.grade for one in pending)
    parts = [f"{counts[grade]} {grade.value}" for grade in FindingGrade if counts[grade]]
    text = ", ".join(parts) or "none"
    return Text.assemble(("Findings  ", "bold"), f"{text}; {accepted} accepted" if accepted else text)


def _group(pending: Sequence[ScanFinding]) -> list[list[ScanFinding]]:
    """Findings of one rule in one file; credentials stand alone, since each has to be revoked."""
    groups: dict[tuple[str, str, int], list[ScanFinding]] = {}
    for place, one in enumerate(pending):
        path = one.place.path if one.place else ""
        groups.setdefault((one.rule, path, place if one.grade is FindingGrade.HIGH else -1), []).append(one)
    return list(groups.values())


def _write_place(finding: ScanFinding) -> Text:
    place = finding.place
    if place is None:
        return clean_text(finding.at or "whole server", "cyan")
    return clean_text(f"{place.path}:{place.line}" if place.line else place.path, "cyan")


def _baseline(applied: AppliedBaseline) -> Iterator[Text]:
    if applied.stale:
        names = ", ".join(f"{one.rule} at {one.at or 'the server'}" for one in applied.stale[:_STALE_SHOWN])
        more = f" and {len(applied.stale) - _STALE_SHOWN} more" if len(applied.stale) > _STALE_SHOWN else ""
        text = f"{len(applied.stale)} stale in the baseline, which match nothing any more: {names}{more}. Remove them"
        yield clean_text(text, "yellow", limit=600)
    if applied.unexamined:
        text = f"{len(applied.unexamined)} entries of the baseline were not examined in this scan and stay"
        yield Text(text, "dim")
