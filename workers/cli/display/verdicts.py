"""Verdicts on a terminal: value and grade, or why there is none; the caps; what may be said about a change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from rich.text import Text

from evidence.kinds import falls
from evidence.model import Dossier
from publish.text.numbers import format_number, format_signed, json_number
from publish.views.headlines import find_turn
from publish.views.server_summary import has_thin_evidence
from scoring.named_corpora import find_percentile
from scoring.results.scorecard import Scorecard
from scoring.results.verdict import COLLECTOR_FAILED, NOT_ENOUGH_EVIDENCE, Verdict, read_verdict
from workers.cli.display.console import clean_text

_MISSING: Final = {NOT_ENOUGH_EVIDENCE: "not enough evidence", COLLECTOR_FAILED: "collector failed"}


def format_change(before: Decimal | None, after: Decimal | None) -> str:
    """The points gained or lost; without a score on one side what happened, on both sides nothing."""
    if before is not None and after is not None:
        return format_signed(after - before)
    return find_turn(before, after) or ""


def format_score(card: Scorecard, gap: str = " ") -> Text:
    """Score, grade and floor in a few characters; caps, a missing score and thin evidence are marked in words."""
    verdict = read_verdict(card)
    if verdict.value is None:
        return _format_missing(verdict, gap)
    thin = has_thin_evidence(card)
    text = Text.assemble(
        ("capped " if verdict.caps else "", "red"),
        (format_number(verdict.value) + " thin" * thin, "dim" if thin else "bold"),
    )
    if verdict.grade:
        text.append(f" {verdict.grade}", style="cyan")
    if verdict.floor != verdict.value:
        text.append(f"{gap}≥{format_number(verdict.floor)}", style="dim")
    return text


def format_range(verdict: Verdict) -> str:
    """The values that complete evidence could give, such as 0-100."""
    return f"{format_number(verdict.floor)}-{format_number(verdict.ceiling)}"


def format_percentile(card: Scorecard) -> str:
    """Where the score stands in the published corpus of its rubric; empty without a score or a corpus."""
    found = find_percentile(card)
    return "" if found is None else f"above {found.value} % of {found.corpus}"


def list_cap_lines(cards: Sequence[Scorecard]) -> Iterator[Text]:
    """One line for each cap of the scorecards that are shown, for the top of a page."""
    for why in dict.fromkeys(cap for card in cards for cap in read_verdict(card).caps):
        yield clean_text(why[:1].upper() + why[1:], "bold red", limit=1000)


def list_harm_lines(cards: Sequence[Scorecard], dossier: Dossier) -> Iterator[Text]:
    """The lines of caps, and that the server fell where none says so: a scorecard without a score has no cap."""
    shown = list(list_cap_lines(cards))
    yield from shown
    found = dossier.parsed(falls.KIND, falls.Falls.parse)
    if found is None or not found.falls:
        return
    why = clean_text(found.describe(), "bold red", limit=1000)
    if not any(why.plain in line.plain for line in shown):
        yield Text("The server fell: ", "bold red").append_text(why)


def make_verdict_object(card: Scorecard) -> dict[str, Any]:
    """The verdict as JSON values, caps first; without a value its status says why."""
    verdict, percentile = read_verdict(card), find_percentile(card)
    return {
        "caps": list(verdict.caps),
        "rubric": f"{card.rubric}@{card.version}",
        "status": verdict.status,
        "value": None if verdict.value is None else json_number(verdict.value),
        "grade": verdict.grade,
        "floor": json_number(verdict.floor),
        "ceiling": json_number(verdict.ceiling),
        "coverage": json_number(verdict.coverage, 6),
        "percentile": None if percentile is None else {"value": percentile.value, "corpus": percentile.corpus},
    }


def _format_missing(verdict: Verdict, gap: str) -> Text:
    words = _MISSING.get(verdict.status)
    if words is None:
        return Text("no score", style="dim italic")
    return Text.assemble((words, "dim italic"), (f"{gap}{format_range(verdict)}", "dim"))
