"""Renders the rows of receipts and histories without a template, which would take most of a server page's time.

A page has hundreds of them. Every untrusted text is escaped by `escape_text`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape

from publish.disclosure import WITHHELD
from publish.text.display import make_visible
from publish.text.numbers import base_weight_share, format_number, format_percent, format_signed
from publish.views.line_groups import LineGroup
from publish.views.score_history import PlotDot
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore, Line

RUNS_SHOWN: Final = 60
"""Rows of a history's table."""

SHORT_TEXT: Final = 300
"""Maximum characters of a cached text: ids and messages repeat on every line of a receipt."""

_CLASSES: Final = {-1: "lost", 0: "even", 1: "gained"}


def escape_text(text: str) -> str:
    """An untrusted text, made visible and escaped."""
    return _remembered(text) if len(text) <= SHORT_TEXT else str(escape(make_visible(text)))


def render_group_rows(
    groups: Iterable[LineGroup],
    rubric: str,
    rule_page: Callable[[str | None], str],
    disputed: Container[tuple[str, str, str]],
    objections: Callable[[str, Line], str] | None,
    *,
    asks: bool,
) -> Markup:
    """Groups of lines of a receipt, each with count and total.

    `objections` renders the disputes of a line; with `asks` it is also called for undisputed lines that stand alone.
    """
    rows = []
    for group in groups:
        every = asks and len(group.lines) == 1
        named = [line for line in group.lines if every or (rubric, line.cites, line.at) in disputed]
        disputes = "".join(objections(rubric, line) for line in named) if objections else ""
        rows.append(_group(group, rule_page(group.rule), disputes))
    return _safe(rows)


def _group(group: LineGroup, page: str, disputes: str) -> str:
    first = group.lines[0]
    cites = f"<code>{escape_text(first.cites)}</code>"
    cited = f'<a href="{escape_text(page)}">{cites}</a>' if page else cites
    rule = f"<small>{escape_text(first.rule)}</small>" if first.rule and first.rule != first.cites else ""
    at = f"<code>{escape_text(first.at)}</code>" if first.at else "" if first.cites == WITHHELD else "whole server"
    more = f" and {group.places - 1} more" if group.places > 1 else ""
    why = f"{group.count}: {escape_text(group.why)}" if group.count else escape_text(group.why)
    points = group.points
    return (
        f'<tr><td class="num {_CLASSES[(points > 0) - (points < 0)]}">{format_signed(points)}</td>\n'
        f'<th scope="row">{cited}{rule}</th>\n'
        f"<td>{at}{more}</td><td>{why}{disputes}</td></tr>\n"
    )


def render_dimension_rows(dimensions: Sequence[DimensionScore]) -> Markup:
    """The result and weight of each dimension and of its components."""
    return _safe("".join(_dimension(part, dimensions)) for part in dimensions)


def render_dots(series: Sequence[PlotDot]) -> Markup:
    """The points of a history plot."""
    return _safe(
        f'<path class="gap" d="M{dot.x - 3} 165l6 6m0-6l-6 6"/>'
        if dot.y is None
        else f'<circle class="dot" cx="{dot.x}" cy="{dot.y}" r="3"/>'
        for dot in series
    )


def render_run_rows(series: Sequence[PlotDot], server: str) -> Markup:
    """The newest runs as table rows."""
    return _safe(_night(dot, server) for dot in series[: -RUNS_SHOWN - 1 : -1])


def _dimension(part: DimensionScore, siblings: Sequence[DimensionScore]) -> Iterator[str]:
    state = f'<span class="state {_shown_state(part.status, "-")}">{_shown_state(part.status, " ")}</span>'
    yield f'<tbody>\n<tr class="dimension"><th scope="row">{_words(part.name)}</th><td>{state}</td>'
    yield _weights(part, siblings)
    if isinstance(part.result, NotMeasured):
        detail = f": {escape_text(part.result.detail)}" if part.result.detail else ""
        yield f'<tr class="reason"><td colspan="6">{_words(part.result.reason)}{detail}</td></tr>'
    for component in part.components:
        missing = component.result if isinstance(component.result, NotMeasured) else None
        seen = _why(missing) if missing else f"{component.checked} checked"
        yield f'<tr class="component"><th scope="row">{_words(component.name)}</th>'
        yield f'<td><span class="muted">{seen}</span></td>'
        yield _weights(component, part.components)
    yield "</tbody>\n"


def _weights(part: DimensionScore | ComponentScore, siblings: Iterable[DimensionScore | ComponentScore]) -> str:
    missing = isinstance(part.result, NotMeasured)
    result = '<span class="none">not measured</span>' if missing else format_number(part.result)
    base, effective = base_weight_share(part, siblings), part.effective_weight
    return (
        f'<td class="num">{result}</td><td class="num">{format_percent(base)}</td>'
        f'<td class="num">{format_percent(effective)}</td>'
        f'<td><svg class="weights" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" aria-label="base weight'
        f' {format_percent(base)}, effective weight {format_percent(effective)}">\n'
        f'  <rect class="base" x="0" y="1" width="{round(base * 100, 2)}" height="4"/>\n'
        f'  <rect class="effective" x="0" y="7" width="{round(effective * 100, 2)}" height="4"/>\n</svg>\n</td></tr>\n'
    )


def _night(dot: PlotDot, server: str) -> str:
    again = "<small>re-test</small>" if dot.retest else ""
    grade = f' <span class="grade">{escape_text(dot.grade)}</span>' if dot.grade else ""
    score = '<span class="none">not measured</span>' if dot.score is None else f"{format_number(dot.score)}{grade}"
    moved = "" if dot.moved is None else format_signed(dot.moved)
    because = f"<small>not comparable with the run before: {escape_text(dot.because)}</small>" if dot.because else ""
    href = f"/servers/{server}?run={escape_text(dot.run)}"
    return (
        f'<tr><th scope="row"><a href="{href}">{dot.as_of:%Y-%m-%d %H:%M}</a>{again}</th>'
        f'<td class="num">{score}</td><td class="num">{moved}</td><td>{escape_text(dot.name)}{because}</td></tr>\n'
    )


def _why(missing: NotMeasured) -> str:
    return escape_text(missing.detail) if missing.detail else _words(missing.reason)


def _words(name: str) -> str:
    return escape_text(name.replace("_", " "))


def _shown_state(state: str, joint: str) -> str:
    return escape_text(state.replace("_", joint) if joint == " " else state.replace(" ", "-").replace("_", "-"))


def _safe(parts: Iterable[str]) -> Markup:
    return Markup("".join(parts))  # noqa: S704  every text in it is escaped


@lru_cache(8_192)
def _remembered(text: str) -> str:
    return str(escape(make_visible(text)))
