"""A receipt on a terminal: the score, the dimensions with their weights, and every line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Protocol, TypeVar

from rich.console import Group, RenderableType
from rich.text import Text

from publish.text.numbers import base_weight_share, format_number, format_percent, format_signed
from publish.views.line_groups import group_lines
from scoring.engine import catalogue
from scoring.explain import describe_cap_cost
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import DimensionScore, Line, Scorecard
from scoring.results.verdict import read_verdict
from workers.cli.display.console import FULL_TABLE_WIDTH, clean_text, make_table, open_stdout
from workers.cli.display.verdicts import format_percentile, format_range, format_score

_WORDS = {"not_testable": "not testable"}
_ID = re.compile(r"[A-Z]+-?[0-9]+")


def render_receipt(card: Scorecard, *, details: bool = False) -> RenderableType:
    """Lines are grouped by rule with their count, total and remedy; with `details` every line is printed."""
    parts: list[RenderableType] = [
        _heading(card),
        *(clean_text(f"  {one}", "yellow") for one in _merge_caveats(card.caveats)),
    ]
    if card.dimensions and not isinstance(card.score, NotMeasured):
        parts += ["", _dimensions(card.dimensions)]
    groups = list(_groups(card))
    for title, lines in groups:
        parts += ["", Text(title, style="bold"), _lines(lines) if details else _grouped(lines)]
    if not groups and not isinstance(card.score, NotMeasured):
        parts.append(Text("No line gave or cost points.", style="dim"))
    return Group(*parts, "")


class Versioned(Protocol):
    """A receipt, decoded or as stored."""

    @property
    def rubric(self) -> str: ...

    @property
    def version(self) -> int: ...


Card = TypeVar("Card", bound=Versioned)


def select_newest(cards: Sequence[Card]) -> list[Card]:
    """One receipt per rubric, of its newest version; the default rubric first."""
    newest: dict[str, Card] = {}
    for card in cards:
        if card.rubric not in newest or newest[card.rubric].version < card.version:
            newest[card.rubric] = card
    main = {rubric.id for rubric in catalogue.list_rubrics() if rubric.default}
    return sorted(newest.values(), key=lambda card: (card.rubric not in main, card.rubric))


def _heading(card: Scorecard) -> Text:
    heading = Text.assemble((f"{card.rubric}@{card.version}", "bold underline"), "  ", format_score(card))
    if isinstance(card.score, NotMeasured):
        heading.append(": ", style="italic")
        heading.append_text(clean_text(card.score.detail or card.score.reason.replace("_", " "), "italic"))
    if percentile := format_percentile(card):
        heading.append(f"  {percentile}")
    heading.append(f"  coverage {format_percent(card.coverage)}", style="dim")
    if card.floor != card.ceiling and not isinstance(card.score, NotMeasured):
        heading.append(f", range {format_range(read_verdict(card))}", style="dim")
    return heading


def _merge_caveats(caveats: Sequence[str]) -> list[str]:
    """The caveats; those with the same text after different criterion ids become one."""
    ids: dict[str, list[str]] = {}
    for caveat in caveats:
        subject, _, words = caveat.partition(" ")
        if _ID.fullmatch(subject):
            ids.setdefault(words, []).append(subject)
        else:
            ids[caveat] = []
    return [
        f"{', '.join(found)}: each {words}" if len(found) > 1 else " ".join((*found, words))
        for words, found in ids.items()
    ]


def _dimensions(parts: Sequence[DimensionScore]) -> RenderableType:
    grid = make_table("Dimension", "Status", ("Result", "right"), ("Base", "right"), ("Effective", "right"), "Why not")
    for part in parts:
        grid.add_row(
            clean_text(part.name.replace("_", " "), "bold"),
            _WORDS.get(part.status, part.status),
            _result(part.result),
            format_percent(base_weight_share(part, parts)),
            format_percent(part.effective_weight),
            _why(part.result),
        )
        for component in part.components:
            grid.add_row(
                clean_text(f"  {component.name.replace('_', ' ')}"),
                "" if isinstance(component.result, NotMeasured) else f"{component.checked} checked",
                _result(component.result),
                format_percent(base_weight_share(component, part.components)),
                format_percent(component.effective_weight),
                _why(component.result),
                style="dim",
            )
    # Rich would rather break words of this column than leave the others a character less.
    grid.columns[0].min_width = max((len(word) for part in parts for word in _list_first_words(part)), default=0)
    return grid


def _list_first_words(part: DimensionScore) -> Iterator[str]:
    """The words of the first column of a dimension, with the indentation of its components."""
    for name in (part.name, *(component.name for component in part.components)):
        yield from (f"  {word}" for word in name.split("_"))


def _groups(card: Scorecard) -> Iterator[tuple[str, Sequence[Line]]]:
    if card.lines:
        yield "Lines", card.lines
    for part in card.dimensions:
        if part.lines:
            yield f"Lines of {part.name.replace('_', ' ')}", part.lines
        for component in part.components:
            if component.lines:
                yield f"Lines of {part.name}, {component.name}".replace("_", " "), component.lines


def _grouped(lines: Sequence[Line]) -> RenderableType:
    """One row for each rule; rows of several lines say how many, and all that cost points say what the rule is for."""
    groups = group_lines(lines)
    cited = any(group.cites != groups[0].cites or not group.rule for group in groups)
    grid = make_table(("Points", "right"), *["Criterion"] * cited, "Where", "Why")
    for group in groups:
        first = group.lines[0].at or "whole server"
        why = clean_text(f"{group.count}: {group.why}" if group.count else group.why)
        if group.remedy and group.points < 0:
            why.append("\n").append_text(clean_text(f"{group.rule}: {group.remedy}", "dim", limit=400))
        if cost := describe_cap_cost(group.cites):
            why.append("\n").append_text(clean_text(cost, "dim"))
        grid.add_row(
            _points(group.points),
            *[clean_text(group.cites)] * cited,
            clean_text(first if group.places == 1 else f"{first} and {group.places - 1} more"),
            why,
        )
    return grid


def _points(points: Decimal) -> Text:
    return Text(format_signed(points), style="red" if points < 0 else "green" if points > 0 else "dim")


def _lines(lines: Sequence[Line]) -> RenderableType:
    """A table of lines. Columns of criterion and rule are left out when they add nothing.

    A narrow terminal has no column for the rule, which `explain` finds by the criterion.
    """
    cited = len({line.cites for line in lines}) > 1 or not all(line.rule for line in lines)
    ruled = any(line.rule and line.rule != line.cites for line in lines) and (
        not cited or open_stdout().width >= FULL_TABLE_WIDTH
    )
    grid = make_table(("Points", "right"), *["Criterion"] * cited, "Where", "Why", *["Rule"] * ruled)
    for line in lines:
        grid.add_row(
            _points(line.points),
            *[clean_text(line.cites)] * cited,
            clean_text(line.at or "whole server"),
            clean_text(line.why),
            *[clean_text(line.rule or "", "dim")] * ruled,
        )
    return grid


def _result(result: Decimal | NotMeasured) -> Text:
    return Text("not measured", style="italic") if isinstance(result, NotMeasured) else Text(format_number(result))


def _why(result: Decimal | NotMeasured) -> Text:
    if not isinstance(result, NotMeasured):
        return Text("")
    return clean_text(result.detail or result.reason.replace("_", " "))
