"""`/servers`: search, filters and every order, one list for each address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from fastapi import APIRouter, Request
from markupsafe import Markup, escape
from msgspec import Struct
from msgspec.structs import replace
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from evidence.store import BadCursor, ListingQuery, UnknownRubric
from publish.badges import requirements
from publish.site.list_query import LIST_PATH, ListQuery, parse_search
from publish.site.list_rows import ACCESS, ADVISORIES, EFFECTS, render_rows
from publish.site.pages.comparison import MAX_COMPARED
from publish.views.categories import ALL_CATEGORIES, find_category
from publish.views.dashboard import DashboardNumbers, NewestNumbers
from publish.web.context import SiteContext
from scoring.engine import catalogue

ON_A_PAGE: Final = 50

FORMS: Final = 256
"""Number of cached filter forms: all pages of a list have the same form."""

ACCESS_CHOICES: Final = tuple(ACCESS.items())
EFFECT_CHOICES: Final = (*EFFECTS.items(), ("no", "does not state that it only reads"))
ADVISORY_CHOICES: Final = (("no", "no known advisory"), *ADVISORIES.items())
TRANSPORTS: Final = ("streamable-http", "sse", "stdio")
LISTED_STATES: Final = (("measured", "measured"), ("partial", "partial"), ("not_testable", "not testable"))


class Column(Struct, frozen=True):
    """A column heading; it sorts if it has a link. `sorted` is the value of `aria-sort`, empty for another order."""

    title: str
    href: Markup | None = None
    sorted: str = ""
    numeric: bool = True


class Choice(Struct, frozen=True):
    """A filter of the form: its name, label, chosen value and options, each a value with its label."""

    name: str
    label: str
    chosen: str | None
    options: Sequence[tuple[str, str]]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()
    known = NewestNumbers(site.store)
    titles = {rubric.id: rubric.title for rubric in catalogue.list_rubrics()}

    @lru_cache(FORMS)
    def filters(run: str | None, query: ListingQuery) -> Markup:
        """The filter form, which does not show the words of a search."""
        search, numbers = ListQuery(query), known.of(run)
        form = site.jinja.get_template("list_filters.html.j2")
        choices = _choices(search, numbers)
        return Markup(form.render(choices=choices, search=search, rubrics=numbers.rubrics, titles=titles))  # noqa: S704  the template escapes

    columns = lru_cache(FORMS)(_columns)

    @router.get("/servers")
    def servers(request: Request) -> Response:
        search = parse_search(request.query_params)
        url = search.url
        if url != _asked(request):
            return RedirectResponse(url, 303)
        try:
            page = site.store.listing.read_page(search.query, after=search.cursor, limit=ON_A_PAGE)
        except (BadCursor, UnknownRubric) as error:
            raise HTTPException(400, f"{str(error).capitalize()}.") from error
        shown = [one for one in page.servers if not site.is_hidden(one.server)]
        # All searches for words share the form and the headings of the search for "q".
        alike = replace(search.query, text="q" if search.words else "")
        return site.page(
            "list.html.j2",
            here="servers",
            index=not search.is_filtered and search.cursor is None,
            canonical=escape(site.absolute(url)),
            search=search,
            category=find_category(search.query.category or ""),
            page=page,
            rows_shown=len(shown),
            rows=Markup("".join(render_rows(shown, search.query.rubric, choose=True))),  # noqa: S704  it escapes
            columns=_with_words(search, columns(alike)),
            chosen_most=MAX_COMPARED,
            filters=filters(page.run, alike),
            **_neighbours(search, page.before, page.after),
        )

    return router


def _asked(request: Request) -> str:
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def _neighbours(search: ListQuery, before: str | None, after: str | None) -> dict[str, Any]:
    return {
        "earlier": None if before is None else escape(search.page(before)),
        "later": None if after is None else escape(search.page(after)),
    }


def _columns(query: ListingQuery) -> tuple[Column, ...]:
    """The column headings of a list; all searches for words share those of the word "q"."""
    search = ListQuery(query)

    def heading(title: str, order: str, *, numeric: bool = True) -> Column:
        down = numeric != query.reverse
        direction = ("descending" if down else "ascending") if query.sort == order else ""
        return Column(title, escape(search.sorted_by(order)), direction, numeric)

    return (
        heading("Server", "name", numeric=False),
        heading(query.rubric.replace("_", " "), "rank"),
        Column("Tools"),
        Column("Access", numeric=False),
        heading("Tested", "seen"),
    )


def _with_words(search: ListQuery, columns: Iterable[Column]) -> Iterable[Column]:
    """The same headings with the words of a search in their URLs, where they are the first parameter."""
    if not search.words:
        return columns
    found, placeholder = escape(f"{LIST_PATH}?{search.words}"), f"{LIST_PATH}?q=q"
    return [
        replace(one, href=found + Markup(one.href.removeprefix(placeholder))) if one.href else one  # noqa: S704  escaped
        for one in columns
    ]


def _choices(search: ListQuery, numbers: DashboardNumbers) -> list[Choice]:
    grades = numbers.grades(search.query.rubric)
    chosen: list[tuple[str, str, Sequence[tuple[str, str]]]] = [
        ("category", "Category", _categories(numbers)),
        ("access", "Access", ACCESS_CHOICES),
        ("read_only", "Effect", EFFECT_CHOICES),
        ("advisories", "Advisories", ADVISORY_CHOICES),
        ("grade", f"Grade ({search.query.rubric.replace('_', ' ')})", [(grade, grade) for grade in grades]),
        ("transport", "Transport", [(name, name) for name in TRANSPORTS]),
        ("ecosystem", "Ecosystem", [(name, name) for name in numbers.names("ecosystems", "name")]),
        ("badge", "Badge", [(name, name.replace("-", " ")) for name in requirements.BADGES]),
        ("registry", "Registry", [(name, name) for name in numbers.names("registries", "name")]),
        ("state", "Result", LISTED_STATES),
        (
            "reason",
            "Reason",
            [(reason, reason.replace("_", " ")) for reason in numbers.names("reasons", "reason")],
        ),
    ]
    return [
        Choice(name, label, search.value(name), _with_chosen(options, search.value(name)))
        for name, label, options in chosen
        if options or search.value(name)
    ]


def _categories(numbers: DashboardNumbers) -> Sequence[tuple[str, str]]:
    """The categories that have servers, in their published order."""
    having = {str(one["name"]) for one in numbers.rows("categories")}
    return [(one.id, one.title) for one in ALL_CATEGORIES if one.id in having]


def _with_chosen(options: Sequence[tuple[str, str]], chosen: str | None) -> Sequence[tuple[str, str]]:
    """The options, plus the chosen value if no server has it now."""
    known = {value for value, _ in options}
    return options if chosen is None or chosen in known else [*options, (chosen, chosen)]
