"""Draws badges of a server as SVG and as shields.io endpoint JSON. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum
from functools import cache
from html import escape
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.model import ServerId
from evidence.store.listing.values import ListedScore, ListedServer
from publish.badges import requirements
from publish.badges.text_width import text_width
from publish.text.display import make_visible
from publish.text.numbers import format_number
from scoring.engine import catalogue
from scoring.results.verdict import NOT_ENOUGH_EVIDENCE

STALE_AFTER: Final = timedelta(days=14)
"""Age from which evidence is stale; a stale badge is grey."""

CACHE_SECONDS: Final = 300
"""Seconds for which caches may keep a badge."""

SCORE: Final = "score"
TOOLS: Final = "tools"

_NAME_LIMIT: Final = 80
_SIZE: Final = 11
_HEIGHT: Final = 20
_PADDING: Final = 6
_CORNER: Final = 3


class BadgeColour(Enum):
    """The colour of a message; white text has a contrast of at least 4.5 on each."""

    GOOD = "#1a7f37"
    FAIR = "#2b6f8a"
    LOW = "#8a5a00"
    POOR = "#a3302a"
    NEUTRAL = "#57606a"


LABEL: Final = "#333a42"


class Badge(Struct, frozen=True):
    """A label, a message and a text alternative, all possibly untrusted.

    `error`: the server is unknown.
    """

    label: str
    message: str
    tone: BadgeColour
    title: str
    error: bool = False


class Snippet(Struct, frozen=True):
    """A badge for a README: address of the image, target of the link, and the code to paste."""

    badge: str
    title: str
    image: str
    link: str
    markdown: str
    html: str


_TITLES: Final = {
    SCORE: "Hallmark score",
    requirements.LAB_TESTED: "Lab Tested",
    requirements.VENDOR_VERIFIED: "Vendor Verified",
    requirements.SECURITY_SCANNED: "Security Scanned",
    TOOLS: "Number of tools",
}
_GRADES: Final[Mapping[str, BadgeColour]] = {
    **dict.fromkeys(("A+", "A", "T1", "exemplary"), BadgeColour.GOOD),
    **dict.fromkeys(("B", "T2", "mature"), BadgeColour.FAIR),
    **dict.fromkeys(("C", "T3", "moderate"), BadgeColour.LOW),
    **dict.fromkeys(("D", "E", "F", "immature"), BadgeColour.POOR),
}
_POINTS: Final = ((Decimal(80), BadgeColour.GOOD), (Decimal(60), BadgeColour.FAIR), (Decimal(40), BadgeColour.LOW))


@cache
def badge_names() -> tuple[str, ...]:
    """Names of all badges: the score, one for each rubric, the awarded ones, and the number of tools."""
    return (SCORE, *sorted({rubric.id for rubric in catalogue.list_rubrics()}), *requirements.BADGES, TOOLS)


def draw_badge(listed: ListedServer | None, name: str, now: datetime) -> Badge:
    """The badge of a listed server, or of an unknown one for None; raise KeyError for an unknown badge name."""
    made = _MAKERS[name] if name in _MAKERS else _rubric_maker(name)
    if listed is None:
        return Badge(
            _label(name), "unknown server", BadgeColour.NEUTRAL, "Hallmark does not know this server", error=True
        )
    drawn = made(listed)
    shown = make_visible(listed.server.name, limit=_NAME_LIMIT)
    day = listed.as_of.date().isoformat()
    titled = replace(drawn, title=f"{shown}: {drawn.title}, as of {day}")
    if now - listed.as_of <= STALE_AFTER:
        return titled
    return replace(
        titled, message=f"{drawn.message} (stale)", tone=BadgeColour.NEUTRAL, title=f"{titled.title}, which is stale"
    )


def render_svg(drawn: Badge) -> str:
    """The badge as an SVG without scripts, styles, ids or external content."""
    left, right = _box(drawn.label), _box(drawn.message)
    whole = left + right
    title = escape(drawn.title)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{_HEIGHT}" role="img" aria-label="{title}">'
        f"<title>{title}</title>"
        f'<rect width="{whole}" height="{_HEIGHT}" rx="{_CORNER}" fill="{drawn.tone.value}"/>'
        f'<rect width="{left}" height="{_HEIGHT}" rx="{_CORNER}" fill="{LABEL}"/>'
        f'<rect x="{left - _CORNER}" width="{_CORNER}" height="{_HEIGHT}" fill="{LABEL}"/>'
        f'<g fill="#fff" text-anchor="middle" font-family="DejaVu Sans,Verdana,sans-serif" font-size="{_SIZE}">'
        f"{_text(drawn.label, 0, left)}{_text(drawn.message, left, right)}</g></svg>\n"
    )


def render_shields_json(drawn: Badge) -> dict[str, Any]:
    """The badge in shields.io's endpoint schema."""
    return {
        "schemaVersion": 1,
        "label": drawn.label,
        "message": drawn.message,
        "color": drawn.tone.value.removeprefix("#"),
        "labelColor": LABEL.removeprefix("#"),
        "isError": drawn.error,
        "cacheSeconds": CACHE_SECONDS,
    }


def badge_snippets(base_url: str, server: ServerId) -> tuple[Snippet, ...]:
    """A snippet for each badge of a server, the score first."""
    return tuple(_snippet(base_url, server, name) for name in badge_names())


def _snippet(base_url: str, server: ServerId, name: str) -> Snippet:
    title = _TITLES.get(name) or f"Hallmark: {_label(name)}"
    image, link = f"{base_url}/badges/{server}/{name}.svg", f"{base_url}/servers/{server}"
    return Snippet(
        badge=name,
        title=title,
        image=image,
        link=link,
        markdown=f"[![{title}]({image})]({link})",
        html=f'<a href="{escape(link)}"><img src="{escape(image)}" alt="{escape(title)}" height="{_HEIGHT}"></a>',
    )


def _score(listed: ListedServer) -> Badge:
    main = listed.score(requirements.GATE_RUBRIC)
    if main is not None and main.not_measured == NOT_ENOUGH_EVIDENCE:
        return _without_headline(main)
    if main is None or main.score is None:
        return _not_tested(listed, SCORE, main)
    shown = format_number(main.score)
    if main.thin:
        return Badge(
            "hallmark", f"{shown} · thin evidence", BadgeColour.NEUTRAL, f"score {shown} of 100 on thin evidence"
        )
    if main.grade:
        return _graded(main, main.grade, shown)
    tone = next((tone for least, tone in _POINTS if main.score >= least), BadgeColour.POOR)
    covered = format_number(main.coverage * 100, 0)
    return Badge("hallmark", f"{shown} / 100", tone, f"score {shown} of 100, {covered} % of the weight measured")


def _graded(main: ListedScore, grade: str, shown: str) -> Badge:
    covered = format_number(main.coverage * 100, 0)
    shown, worded = f"{grade} · {shown} / 100", f"grade {grade}, score {shown} of 100"
    if main.capped:
        shown, worded = f"{shown} · capped", worded.replace(",", ", capped,", 1)
    title = f"{worded}, {covered} % of the weight measured"
    return Badge("hallmark", shown, _GRADES.get(grade, BadgeColour.NEUTRAL), title)


def _without_headline(main: ListedScore) -> Badge:
    """No number: only the bounds within which complete evidence would lie."""
    bounds = " to ".join(format_number(bound) for bound in (main.floor, main.ceiling) if bound is not None)
    title = f"no score: not enough evidence; complete evidence would give {bounds} of 100"
    return Badge("hallmark", "not enough evidence", BadgeColour.NEUTRAL, title)


def _rubric_maker(rubric: str) -> Callable[[ListedServer], Badge]:
    if rubric not in badge_names():
        raise KeyError(rubric)

    def made(listed: ListedServer) -> Badge:
        found = listed.score(rubric)
        if found is not None and found.not_measured == NOT_ENOUGH_EVIDENCE:
            return replace(_without_headline(found), label=_label(rubric))
        if found is None or found.score is None:
            return _not_tested(listed, rubric, found)
        shown = format_number(found.score)
        graded = f"{found.grade} · {shown}" if found.grade else shown
        tone = BadgeColour.NEUTRAL if found.thin else _GRADES.get(found.grade or "", BadgeColour.NEUTRAL)
        title = (
            f"{_label(rubric)} version {found.version}: {f'grade {found.grade}, ' if found.grade else ''}score {shown}"
        )
        return Badge(_label(rubric), graded, tone, title)

    return made


def _award_maker(name: str) -> Callable[[ListedServer], Badge]:
    title = _TITLES[name]

    def made(listed: ListedServer) -> Badge:
        if name in listed.badges:
            return Badge(
                _label(name),
                "yes",
                BadgeColour.GOOD,
                f"{title}, by version {requirements.GATE_VERSION} of the requirements",
            )
        main = listed.score(requirements.GATE_RUBRIC)
        if main is None or main.score is None or listed.state == "not_testable":
            return _not_tested(listed, name, main)
        return Badge(
            _label(name),
            "not earned",
            BadgeColour.NEUTRAL,
            f"not {title}, by version {requirements.GATE_VERSION} of the requirements",
        )

    return made


def _tools(listed: ListedServer) -> Badge:
    if listed.tools is None:
        return _not_tested(listed, TOOLS, None)
    return Badge("tools", f"{listed.tools:,}", BadgeColour.FAIR, f"{listed.tools:,} tools")


def _not_tested(listed: ListedServer, name: str, found: ListedScore | None) -> Badge:
    """A grey badge with the reason, if known: a missing score is not a zero."""
    why = listed.reason or (found.not_measured if found else None)
    reason = f" ({why.replace('_', ' ')})" if why else ""
    return Badge(_label(name), "not tested", BadgeColour.NEUTRAL, f"{_label(name)} not tested{reason}")


def _label(name: str) -> str:
    return "hallmark" if name == SCORE else name.replace("_", " ").replace("-", " ")


_MAKERS: Final[Mapping[str, Callable[[ListedServer], Badge]]] = {
    SCORE: _score,
    TOOLS: _tools,
    **{name: _award_maker(name) for name in requirements.BADGES},
}


def _box(text: str) -> int:
    return round(text_width(text, _SIZE)) + 2 * _PADDING


def _text(text: str, start: int, box: int) -> str:
    length = box - 2 * _PADDING
    return f'<text x="{start + box / 2:g}" y="14" textLength="{length}">{escape(text)}</text>'
