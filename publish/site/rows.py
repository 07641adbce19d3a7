"""The rows of lists, written without a template: fifty of them were half of the time that a page took."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from functools import lru_cache

from markupsafe import Markup, escape

from evidence.derive.scrubbing import are_clean
from evidence.store import Listed, ListedScore
from publish.display import visible
from publish.figures import number
from publish.report import NAME_LIMIT
from publish.site.site import breakable


def rows_of(servers: Iterable[Listed], rubrics: tuple[str, ...]) -> Markup:
    """The rows of servers, one column for each rubric."""
    named = [(rubric, _words(rubric)) for rubric in rubrics]
    listing = list(servers)
    names = [text for listed in listing for text in (listed.server.name, listed.server.ref) if len(text) <= NAME_LIMIT]
    clean = are_clean(names)
    return Markup("".join(_row(listed, named, clean) for listed in listing))  # noqa: S704  every text in it is escaped


def _row(listed: Listed, rubrics: Iterable[tuple[str, str]], clean: bool) -> str:
    server = listed.server
    newest: dict[str, ListedScore] = {}
    for score in listed.scores:
        known = newest.get(score.rubric)
        if known is None or known.version < score.version:
            newest[score.rubric] = score
    marks = "".join(
        f'  <td class="num" data-label="{title}">{_mark(newest.get(rubric))}</td>\n' for rubric, title in rubrics
    )
    name, ref = breakable(server.name or server.ref, clean=clean), breakable(server.ref, clean=clean)
    return (
        f'<tr>\n  <th scope="row"><a href="/servers/{server.id}">{name}</a>'
        f"<small>{ref}</small></th>\n{marks}"
        f'  <td class="num" data-label="seen">{_state(listed.state)}{_small(listed.reason)}'
        f"<small>{_date(listed.as_of)}</small></td>\n</tr>\n"
    )


def _mark(score: ListedScore | None) -> str:
    """A score, or why there is none; the least that is guaranteed beside it."""
    if score is None:
        return '<span class="none">not scored</span>'
    if score.score is None:
        return f'<span class="none">not measured</span>{_small(score.not_measured)}'
    points, least = number(score.score), _least(score.score, score.floor)
    if score.thin:
        return f'<span class="thin"><small>thin evidence</small>{points}</span><small>{least}</small>'
    grade = f' <span class="grade">{_shown(score.grade)}</span>' if score.grade else ""
    return f"<b>{points}</b>{grade}{least and f'<small>{least}</small>'}"


def _least(score: Decimal, floor: Decimal | None) -> str:
    return "" if floor is None or floor == score else f"at least {number(floor)}"


def _state(state: str) -> str:
    return f'<span class="state {_shown(state.replace("_", "-"))}">{_words(state)}</span>'


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
