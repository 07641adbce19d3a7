"""The rows of lists, written without a template: fifty of them were half of the time that a page took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache

from markupsafe import escape

from evidence.derive.scrubbing import are_clean
from evidence.store.board_rows import Listed, ListedScore
from publish.display import visible
from publish.figures import number
from publish.report import NAME_LIMIT
from publish.site.site import broken


def rows_of(servers: Sequence[Listed], rubrics: Iterable[str]) -> list[str]:
    """The HTML of the row of each server, with one column for each rubric; every text in it is escaped."""
    named = [(rubric, _words(rubric)) for rubric in rubrics]
    texts = (text for one in servers for text in (one.server.name, one.server.ref))
    names = [text for text in texts if len(text) <= NAME_LIMIT]
    clean = are_clean(names)
    return [_row(server, named, clean) for server in servers]


def _row(listed: Listed, rubrics: Iterable[tuple[str, str]], clean: bool) -> str:
    marks = "".join(
        f'  <td class="num" data-label="{title}">{_mark(listed.score(rubric))}</td>\n' for rubric, title in rubrics
    )
    server = listed.server
    name, ref = _name(server.name or server.ref, clean), _name(server.ref, clean)
    return (
        f'<tr>\n  <th scope="row"><a href="/servers/{server.id}">{name}</a>'
        f"<small>{ref}</small></th>\n{marks}"
        f'  <td class="num" data-label="seen">{_state(listed.state)}{_small(listed.reason)}'
        f"<small>{_date(listed.as_of)}</small></td>\n</tr>\n"
    )


def _name(text: str, clean: bool) -> str:
    """Only short ones were looked at."""
    return broken(text, clean=clean and len(text) <= NAME_LIMIT)


@lru_cache(8_192)
def _mark(score: ListedScore | None) -> str:
    """A score, or why there is none; the guaranteed minimum beside it."""
    if score is None:
        return '<span class="none">not scored</span>'
    if score.score is None:
        return f'<span class="none">not measured</span>{_small(score.not_measured)}'
    shown, least = number(score.score), _least(score.score, score.floor)
    if score.thin:
        return f'<span class="thin"><small>thin evidence</small>{shown}</span><small>{least}</small>'
    letter = f' <span class="grade">{_shown(score.grade)}</span>' if score.grade else ""
    return f"<b>{shown}</b>{letter}{least and f'<small>{least}</small>'}"


def _least(points: Decimal, floor: Decimal | None) -> str:
    return "" if floor is None or floor == points else f"at least {number(floor)}"


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
