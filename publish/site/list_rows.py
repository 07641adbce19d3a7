"""Renders the rows of server lists without a template, which would take half of a page's time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final

from markupsafe import escape

from evidence.derive.secret_scrubbing import are_free_of_secrets
from evidence.store.listing.values import ListedScore, ListedServer, ServerFacets
from publish.site.templates import NAME_LIMIT
from publish.text.display import make_visible
from publish.text.numbers import format_number
from publish.web.context import break_text
from scoring.results.verdict import NOT_ENOUGH_EVIDENCE

ACCESS: Final = {"open": "lists tools without credentials", "credentials": "asks for credentials"}
EFFECTS: Final = {"yes": "states that it only reads"}
ADVISORIES: Final = {"yes": "known advisories"}
"""The facets of a row in words; those that are expected, or not known, are not said."""


def render_rows(servers: Sequence[ListedServer], rubric: str, *, choose: bool = False) -> list[str]:
    """The HTML of the row of each server with its score under a methodology; every text in it is escaped.

    With `choose` each row begins with a checkbox of the form for comparisons.
    """
    texts = (text for one in servers for text in (one.server.name, one.server.ref, one.purpose))
    names = [text for text in texts if len(text) <= NAME_LIMIT]
    clean = are_free_of_secrets(names)
    return [_row(server, rubric, clean, choose) for server in servers]


def _row(listed: ListedServer, rubric: str, clean: bool, choose: bool) -> str:
    server, facets = listed.server, listed.facets
    purpose = f'<span class="purpose">{_name(listed.purpose, clean)}</span>' if listed.purpose else ""
    name, ref = _name(server.name or server.ref, clean), _name(server.ref, clean)
    box = f'<td class="choose">{_checkbox(server.id, name)}</td>' if choose else ""
    tools = '<span class="none">not counted</span>' if listed.tools is None else str(listed.tools)
    return (
        f'<tr>\n  {box}<th scope="row"><a href="/servers/{server.id}">{name}</a>'
        f"<small>{ref}</small>{purpose}</th>\n"
        f'  <td class="num" data-label="{_words(rubric)}">{_mark(listed.score(rubric))}</td>\n'
        f'  <td class="num" data-label="tools">{tools}</td>\n'
        f'  <td data-label="access">{_shown(facets.transport)}{_access(facets)}</td>\n'
        f'  <td class="num" data-label="tested">{_state(listed.state)}{_small(listed.reason)}'
        f"<small>{_date(listed.as_of)}</small></td>\n</tr>\n"
    )


def _checkbox(server: str, name: str) -> str:
    box = f'<input type="checkbox" name="server" value="{server}" form="compare">'
    return f'<label>{box}<span class="hidden">{name}</span></label>'


@lru_cache(1_000)
def _access(facets: ServerFacets) -> str:
    """What a client needs to know before it connects, as small lines."""
    lines = [ACCESS.get(facets.access), EFFECTS.get(facets.read_only), ADVISORIES.get(facets.advisories)]
    return "".join(f"<small>{line}</small>" for line in lines if line)


def _name(text: str, clean: bool) -> str:
    """Only short texts were checked for secrets."""
    return break_text(text, clean=clean and len(text) <= NAME_LIMIT)


@lru_cache(8_192)
def _mark(score: ListedScore | None) -> str:
    """A score with its floor, or the reason why there is none."""
    if score is None:
        return '<span class="none">not scored</span>'
    if score.score is None:
        bounds = f"<small>{_bounds(score)}</small>" if score.not_measured == NOT_ENOUGH_EVIDENCE else ""
        return f'<span class="none">not measured</span>{_small(score.not_measured)}{bounds}'
    shown, least = format_number(score.score), _least(score.score, score.floor)
    if score.thin:
        return f'<span class="thin"><small>thin evidence</small>{shown}</span><small>{least}</small>'
    letter = f' <span class="grade">{_shown(score.grade)}</span>' if score.grade else ""
    capped = '<small class="capped">grade capped</small>' if score.capped else ""
    return f"<b>{shown}</b>{letter}{capped}{least and f'<small>{least}</small>'}"


def _bounds(score: ListedScore) -> str:
    """The bounds of the score under complete evidence, for a server without a score."""
    return " to ".join(format_number(bound) for bound in (score.floor, score.ceiling) if bound is not None)


def _least(points: Decimal, floor: Decimal | None) -> str:
    return "" if floor is None or floor == points else f"at least {format_number(floor)}"


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
    """Escapes one of few fixed words, such as states and reasons; cached."""
    return str(escape(make_visible(text)))
