"""Parts of a verdict that `scan` and `explain` print: score, dimensions, fixes, other scores, what is not measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from publish.text.numbers import format_percent, format_signed
from publish.views.dimension_bars import DimensionBar, list_dimension_bars
from scoring.remedy import Remedy
from scoring.results import weighting
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import DimensionScore, Scorecard
from scoring.results.verdict import read_verdict
from workers.cli.display.console import clean_text
from workers.cli.display.verdicts import format_percentile, format_range, format_score

_BAR: Final = 20
_LABEL: Final = 8
_LOW, _HIGH = Decimal(5), Decimal(8)  # of 10: red below the first, green from the second


def list_verdict_lines(card: Scorecard) -> Iterator[RenderableType]:
    """Score, grade and range, or why there is no score; then the methodology, its coverage and the percentile."""
    verdict = read_verdict(card)
    line = format_score(card)
    if verdict.value is not None:
        line.append(" of 100", style="default")
        if verdict.floor != verdict.ceiling:
            where = " without a cap" if verdict.caps else ""
            line.append(f"; complete evidence gives {format_range(verdict)}{where}", style="default")
    elif isinstance(card.score, NotMeasured):
        line.append_text(clean_text(f": {card.score.detail}", "default", limit=300))
    yield labelled("Score", line)
    parts = [f"{card.rubric}@{card.version}", f"{format_percent(card.coverage)} measured", format_percentile(card)]
    yield labelled("", Text(", ".join(part for part in parts if part), style="dim"))


def list_dimension_lines(card: Scorecard) -> Iterator[RenderableType]:
    """One bar for each dimension."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(3):
        grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for bar in list_dimension_bars(card):
        words = Text(bar.words, style="italic" if bar.words == "not measured" else "")
        grid.add_row(bar.name, _draw(bar), words, Text(f"{format_percent(bar.share)} of the score", style="dim"))
    if grid.row_count:
        yield grid


def _draw(bar: DimensionBar) -> Text:
    """What is guaranteed, what is not measured, and what is lost."""
    if bar.low is None or bar.high is None:
        return Text(" " * _BAR)
    solid = int(bar.low * _BAR / 10)
    open_ = int(bar.high * _BAR / 10) - solid
    style = "green" if bar.low >= _HIGH else "red" if bar.high < _LOW else "yellow"
    return Text.assemble(("█" * solid, style), ("░" * open_, "dim"), ("·" * (_BAR - solid - open_), "dim"))


def list_fix_rows(remedies: Iterable[Remedy], *, ids: bool = False) -> Iterator[RenderableType]:
    """One row for each rule: gain, title, places and remedy; with `ids` the remedy begins with the id of the rule."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    for remedy in remedies:
        grid.add_row(Text(format_signed(remedy.gain.points), style="green"), _fix(remedy, f"{remedy.rule}: " * ids))
    if grid.row_count:
        yield grid


def _fix(remedy: Remedy, before: str) -> Text:
    places = [spot.at or "whole server" for spot in remedy.spots]
    text = clean_text(remedy.title, "bold").append("  ")
    text.append_text(clean_text(places[0] if len(places) == 1 else f"{places[0]} and {len(places) - 1} more", "dim"))
    return text.append("\n").append_text(clean_text(f"{before}{remedy.how}", limit=400)) if remedy.how else text


def count_further_fixes(more: int) -> Text:
    """How many rules cost points beside those that are shown."""
    return Text(f"{more} more {'rule costs' if more == 1 else 'rules cost'} points: --verbose", style="dim")


def list_unmeasured(card: Scorecard) -> dict[str, list[str]]:
    """Components of which nothing is known although there is something to examine, by reason."""
    found: dict[str, list[str]] = {}
    for name, why in _list_unmeasured(card.dimensions):
        found.setdefault(why, []).append(name)
    return found


def _list_unmeasured(parts: Sequence[DimensionScore]) -> Iterator[tuple[str, str]]:
    for part in parts:
        for component in part.components:
            result = component.result
            if isinstance(result, NotMeasured) and result.reason != weighting.NOT_APPLICABLE:
                yield component.name.replace("_", " "), result.detail


def list_other_scores(cards: Sequence[Scorecard]) -> Iterator[RenderableType]:
    """The scores of other methodologies on one line; nothing without any."""
    if cards:
        line = Text()
        for place, card in enumerate(cards):
            line.append(f"{', ' if place else ''}{card.rubric}@{card.version} ", style="dim")
            line.append_text(format_score(card))
        yield labelled("Others", line)


def labelled(label: str, text: Text) -> Table:
    """A text beside its label; further lines of it are indented as the first."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True, width=_LABEL)
    grid.add_column(overflow="fold")
    grid.add_row(label, text)
    return grid
