"""A receipt on a terminal: the score, what was measured and what it weighed, and every line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Protocol, TypeVar

from rich.console import Group, RenderableType
from rich.text import Text

from publish.figures import base_share, number, percent, signed
from publish.overview import is_thin
from scoring import catalogue
from scoring.outcome import NotMeasured
from scoring.scorecard import DimensionScore, Line, Scorecard
from workers.cli.console import FULL_TABLE, out, plain, table

_WORDS = {"not_testable": "not testable"}
_ID = re.compile(r"[A-Z]+-?[0-9]+")


def receipt_of(card: Scorecard) -> RenderableType:
    """The whole receipt of one rubric."""
    parts: list[RenderableType] = [_heading(card), *(plain(f"  {one}", "yellow") for one in _told_once(card.caveats))]
    if card.dimensions and not isinstance(card.score, NotMeasured):
        parts += ["", _dimensions(card.dimensions)]
    groups = list(_groups(card))
    for title, lines in groups:
        parts += ["", Text(title, style="bold"), _lines(lines)]
    if not groups and not isinstance(card.score, NotMeasured):
        parts.append(Text("No line gave or cost points.", style="dim"))
    return Group(*parts, "")


def score_text(card: Scorecard, gap: str = " ") -> Text:
    """Score, grade and floor in a few characters; no score, or one that rests on thin evidence, is said in words."""
    if isinstance(card.score, NotMeasured):
        return Text("no score", style="dim italic")
    thin = is_thin(card)
    text = Text(number(card.score) + " thin" * thin, style="dim" if thin else "bold")
    if card.grade:
        text.append(f" {card.grade}", style="cyan")
    if card.floor != card.score:
        text.append(f"{gap}≥{number(card.floor)}", style="dim")
    return text


class Versioned(Protocol):
    """A receipt, decoded or as stored."""

    @property
    def rubric(self) -> str:
        """Its methodology."""
        ...

    @property
    def version(self) -> int:
        """The version of its methodology."""
        ...


Card = TypeVar("Card", bound=Versioned)


def newest_only(cards: Sequence[Card]) -> list[Card]:
    """One receipt per rubric, of its newest version; the default rubric first."""
    newest: dict[str, Card] = {}
    for card in cards:
        if card.rubric not in newest or newest[card.rubric].version < card.version:
            newest[card.rubric] = card
    main = {rubric.id for rubric in catalogue.rubrics() if rubric.default}
    return sorted(newest.values(), key=lambda card: (card.rubric not in main, card.rubric))


def _heading(card: Scorecard) -> Text:
    heading = Text.assemble((f"{card.rubric}@{card.version}", "bold underline"), "  ")
    if isinstance(card.score, NotMeasured):
        heading.append("no score: ", style="italic")
        heading.append_text(plain(card.score.detail or card.score.reason.replace("_", " "), "italic"))
    else:
        heading.append_text(score_text(card))
    heading.append(f"  coverage {percent(card.coverage)}", style="dim")
    if card.floor != card.ceiling:
        heading.append(f", between {number(card.floor)} and {number(card.ceiling)}", style="dim")
    return heading


def _told_once(caveats: Sequence[str]) -> list[str]:
    """The caveats, those as one that say the same of several criteria, whose ids they begin with."""
    ids: dict[str, list[str]] = {}
    for caveat in caveats:
        subject, _, words = caveat.partition(" ")
        if _ID.fullmatch(subject):
            ids.setdefault(words, []).append(subject)
        else:
            ids[caveat] = []
    return [_joined(found, words) for words, found in ids.items()]


def _joined(ids: Sequence[str], words: str) -> str:
    return f"{', '.join(ids)}: each {words}" if len(ids) > 1 else " ".join((*ids, words))


def _dimensions(parts: Sequence[DimensionScore]) -> RenderableType:
    grid = table("Dimension", "Status", ("Result", "right"), ("Base", "right"), ("Effective", "right"), "Why not")
    for part in parts:
        grid.add_row(
            plain(part.name.replace("_", " "), "bold"),
            _WORDS.get(part.status, part.status),
            _result(part.result),
            percent(base_share(part, parts)),
            percent(part.effective_weight),
            _why(part.result),
        )
        for component in part.components:
            grid.add_row(
                plain(f"  {component.name.replace('_', ' ')}"),
                "" if isinstance(component.result, NotMeasured) else f"{component.checked} checked",
                _result(component.result),
                percent(base_share(component, part.components)),
                percent(component.effective_weight),
                _why(component.result),
                style="dim",
            )
    return grid


def _groups(card: Scorecard) -> Iterator[tuple[str, Sequence[Line]]]:
    if card.lines:
        yield "Lines", card.lines
    for part in card.dimensions:
        if part.lines:
            yield f"Lines of {part.name.replace('_', ' ')}", part.lines
        for component in part.components:
            if component.lines:
                yield f"Lines of {part.name}, {component.name}".replace("_", " "), component.lines


def _lines(lines: Sequence[Line]) -> RenderableType:
    """The criterion is left out where every line has the same one, and the rule where it has the criterion's name.

    Where there is little room the rule gives way; `explain` finds it by the criterion.
    """
    cited = len({line.cites for line in lines}) > 1 or not all(line.rule for line in lines)
    ruled = any(line.rule and line.rule != line.cites for line in lines) and (not cited or out().width >= FULL_TABLE)
    grid = table(("Points", "right"), *["Criterion"] * cited, "Where", "Why", *["Rule"] * ruled)
    for line in lines:
        style = "red" if line.points < 0 else "green" if line.points > 0 else "dim"
        grid.add_row(
            Text(signed(line.points), style=style),
            *[plain(line.cites)] * cited,
            plain(line.at or "whole server"),
            plain(line.why),
            *[plain(line.rule or "", "dim")] * ruled,
        )
    return grid


def _result(result: Decimal | NotMeasured) -> Text:
    return Text("not measured", style="italic") if isinstance(result, NotMeasured) else Text(number(result))


def _why(result: Decimal | NotMeasured) -> Text:
    if not isinstance(result, NotMeasured):
        return Text("")
    return plain(result.detail or result.reason.replace("_", " "))
