"""Where one server lost points under one rubric, on one or two screens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evidence.kinds import listing
from evidence.model import Absent, Dossier
from publish.text.numbers import format_number, format_signed
from scoring.explain import describe_cap_cost
from scoring.remedy import FixPlan, Remedy
from scoring.results.scorecard import Scorecard
from scoring.results.verdict import CAP
from workers.cli.display.console import clean_text
from workers.cli.display.server_page import list_absence_lines
from workers.cli.display.verdict_parts import (
    count_further_fixes,
    labelled,
    list_dimension_lines,
    list_fix_rows,
    list_other_scores,
    list_unmeasured,
    list_verdict_lines,
)
from workers.cli.display.verdicts import list_cap_lines

FIXES_WITH_REMEDY: Final = 8
_FIXES_BY_NAME: Final = 16
_MORE: Final = (
    "More: --verbose for every place, line and snippet of all methodologies, --rubric NAME for one of them, "
    "--json for data, `hallmark explain RULE` for a rule."
)


def render_score_explanation(
    dossier: Dossier, card: Scorecard, plan: FixPlan | None, others: Sequence[Scorecard] = ()
) -> RenderableType:
    """The verdict, what costs points by rule with its remedy and gain, and everything that was not measured.

    Without a `plan`, because this code does not have the version of the rubric, there are no fixes. `others` are scores
    beside it on one line.
    """
    blocks: list[Iterable[RenderableType]] = [
        _caps(card),
        _identity(dossier),
        list_verdict_lines(card),
        list_dimension_lines(card),
        _fixes(plan) if plan is not None else (),
        _unmeasured(card),
        list_other_scores(others),
    ]
    parts = [part for block in blocks if (lines := list(block)) for part in (*lines, "")]
    return Group(*parts, Text(_MORE, style="dim"))


def _caps(card: Scorecard) -> Iterator[RenderableType]:
    yield from list_cap_lines([card])
    for cites in dict.fromkeys(line.cites for line in card.lines if line.cites.startswith(CAP)):
        if cost := describe_cap_cost(cites):
            yield clean_text(cost, "red", limit=300)


def _identity(dossier: Dossier) -> Iterator[RenderableType]:
    yield clean_text(dossier.server.name or dossier.server.ref, "bold")
    content = dossier.read(listing.KIND)
    if isinstance(content, Absent):
        yield from list_absence_lines(content)


def _fixes(plan: FixPlan) -> Iterator[RenderableType]:
    costly = [remedy for remedy in plan.remedies if remedy.gain.points > 0]
    if not costly:
        if isinstance(plan.card.score, Decimal):
            yield Text(_describe_nothing(plan))
        return
    yield Text("What costs points, and what its fix brings", style="bold")
    if plan.everything is not None:
        grade = f" {plan.everything.grade}" if plan.everything.grade else ""
        total = f"{format_signed(plan.everything.points)} to {format_number(plan.everything.score)}{grade}"
        yield Text(f"All fixes together: {total}. Gains are of one fix alone; they do not add up.", style="dim")
    yield from list_fix_rows(costly[:FIXES_WITH_REMEDY], ids=True)
    yield from _name_small_fixes(costly[FIXES_WITH_REMEDY:])


def _describe_nothing(plan: FixPlan) -> str:
    """Why no fix is listed although there is a score."""
    if plan.everything is None or not plan.everything.points:
        return "Nothing that was found costs points."
    return f"No single fix brings points; all of them together bring {format_signed(plan.everything.points)}: --verbose"


def _name_small_fixes(remedies: Sequence[Remedy]) -> Iterator[RenderableType]:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    for remedy in remedies[:_FIXES_BY_NAME]:
        title = clean_text(remedy.title).append_text(clean_text(f"  {remedy.rule}", "dim"))
        grid.add_row(Text(format_signed(remedy.gain.points), style="green"), title)
    if grid.row_count:
        yield grid
    if more := len(remedies[_FIXES_BY_NAME:]):
        yield count_further_fixes(more)


def _unmeasured(card: Scorecard) -> Iterator[RenderableType]:
    if found := list_unmeasured(card):
        yield Text("Not measured", style="bold")
        for why, names in found.items():
            yield labelled("", clean_text(f"{', '.join(names)}: {why}", limit=300))
