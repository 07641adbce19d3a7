"""The rows of lists, written without a template: fifty of them were half of the time that a page took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from markupsafe import escape

from evidence.derive.scrubbing import are_clean
from evidence.store.board_packing import Glance, PackedScore
from publish.display import visible
from publish.figures import number
from publish.report import NAME_LIMIT
from publish.site.site import broken


def rows_of(servers: Sequence[Glance], rubrics: Iterable[str]) -> list[str]:
    """The HTML of the row of each server, with one column for each rubric; every text in it is escaped."""
    named = [(rubric, _words(rubric)) for rubric in rubrics]
    names = [text for server in servers for text in (server.name, server.ref) if len(text) <= NAME_LIMIT]
    clean = are_clean(names)
    return [_row(server, named, clean) for server in servers]


def _row(server: Glance, rubrics: Iterable[tuple[str, str]], clean: bool) -> str:
    newest: dict[str, PackedScore] = {}
    for score in server.scores:
        rubric, version = score[0], score[1]
        if rubric not in newest or newest[rubric][1] < version:
            newest[rubric] = score
    marks = "".join(
        f'  <td class="num" data-label="{title}">{_mark(*newest.get(rubric, ()))}</td>\n' for rubric, title in rubrics
    )
    name, ref = _name(server.name or server.ref, clean), _name(server.ref, clean)
    return (
        f'<tr>\n  <th scope="row"><a href="/servers/{server.id}">{name}</a>'
        f"<small>{ref}</small></th>\n{marks}"
        f'  <td class="num" data-label="seen">{_state(server.state)}{_small(server.reason)}'
        f"<small>{_date(server.as_of)}</small></td>\n</tr>\n"
    )


def _name(text: str, clean: bool) -> str:
    """Only short ones were looked at."""
    return broken(text, clean=clean and len(text) <= NAME_LIMIT)


@lru_cache(8_192)
def _mark(*score: Any) -> str:
    """A score, or why there is none; the least that is guaranteed beside it."""
    if not score:
        return '<span class="none">not scored</span>'
    _, _, points, grade, floor, _, _, thin, not_measured = score
    if points is None:
        return f'<span class="none">not measured</span>{_small(not_measured)}'
    shown, least = number(Decimal(points)), _least(points, floor)
    if thin:
        return f'<span class="thin"><small>thin evidence</small>{shown}</span><small>{least}</small>'
    letter = f' <span class="grade">{_shown(grade)}</span>' if grade else ""
    return f"<b>{shown}</b>{letter}{least and f'<small>{least}</small>'}"


def _least(points: str, floor: str | None) -> str:
    return "" if floor is None or Decimal(floor) == Decimal(points) else f"at least {number(Decimal(floor))}"


@lru_cache(100)
def _state(state: str) -> str:
    return f'<span class="state {_shown(state.replace("_", "-"))}">{_words(state)}</span>'


@lru_cache(1_000)
def _small(reason: str | None) -> str:
    return f"<small>{_words(reason)}</small>" if reason else ""


def _words(name: str) -> str:
    return _shown(name.replace("_", " "))


@lru_cache(1_000)
def _date(at: datetime) -> str:
    return f'<time datetime="{at.isoformat()}">{at:%Y-%m-%d}</time>'


@lru_cache(1_000)
def _shown(text: str) -> str:
    """One of the few words that we say ourselves, such as states and reasons."""
    return str(escape(visible(text)))
