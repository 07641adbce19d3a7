"""What to edit for the rules that cost points, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from publish.views.server_summary import receipt_lines
from scoring.engine.rule import Rule, discover_rules
from scoring.results.scorecard import Scorecard
from scoring.rule_snippets import make_snippet
from workers.cli.display.console import clean_text


def render_snippets(cards: Sequence[Scorecard]) -> RenderableType:
    """The snippet of each rule that costs points under one of the rubrics, once; empty without any."""
    known = discover_rules()
    lines = (line for card in cards for line in receipt_lines(card) if line.points < 0)
    costly = dict.fromkeys(line.rule for line in lines if line.rule in known)
    parts = [part for rule in costly if rule for part in _snippet(known[rule])]
    return Group(Text("What to edit, before and after", style="bold underline"), "", *parts) if parts else Group()


def _snippet(rule: Rule) -> Iterator[RenderableType]:
    snippet = make_snippet(rule)
    if snippet is None:
        return
    yield clean_text(rule.title, "bold").append(f"  {rule.id}", style="dim")
    if snippet.before is not None:
        yield clean_text(f"Before: {snippet.where}", "dim")
        yield from _code(snippet.before, "red")
    yield clean_text(f"After: {snippet.where}", "dim")
    yield from _code(snippet.after, "green")
    yield ""


def _code(text: str, style: str) -> Iterator[Text]:
    return (clean_text(f"  {line}", style) for line in text.split("\n"))
