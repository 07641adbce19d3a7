"""`/servers`: search, filters and every order, one list for each address."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from fastapi import APIRouter, Request
from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from evidence.store import BadCursor, ListingQuery, UnknownRubric
from publish.badges import requirements
from publish.site.list_query import LIST_PATH, ListQuery, parse_search
from publish.site.list_rows import render_rows
from publish.views.dashboard import DashboardNumbers, NewestNumbers
from publish.web.context import SiteContext
from scoring.engine import catalogue

ON_A_PAGE: Final = 50

FORMS: Final = 256
"""Number of cached filter forms: all pages of a list have the same form."""

LISTED_STATES: Final = (("measured", "measured"), ("partial", "partial"), ("not_testable", "not testable"))


@dataclass(frozen=True, slots=True)
class Column:
    """A column heading that sorts. `sorted` is the value of `aria-sort`; empty if the list has another order."""

    title: str
    href: Markup
    sorted: str
    numeric: bool = True
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
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
            page = site.store.listing.read_page(search.query, after=search.after, limit=ON_A_PAGE)
        except (BadCursor, UnknownRubric) as error:
            raise HTTPException(400, f"{str(error).capitalize()}.") from error
        numbers = known.of(page.run)
        rubrics = numbers.rubrics
        shown = [one for one in page.servers if not site.is_hidden(one.server)]
        # All searches for words share the form and the headings of the search for "q".
        alike = replace(search.query, text="q" if search.words else "")
        return site.page(
            "list.html.j2",
            here="servers",
            index=not search.is_filtered and search.after is None,
            canonical=escape(site.absolute(url)),
            search=search,
            page=page,
            rows_shown=len(shown),
            rows=Markup("".join(render_rows(shown, rubrics))),  # noqa: S704  `rows_of` escapes
            columns=_with_words(search, columns(alike, rubrics)),
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


def _columns(query: ListingQuery, rubrics: Sequence[str]) -> tuple[Column, ...]:
    """The column headings of a list; all searches for words share those of the word "q"."""
    search = ListQuery(query)

    def heading(title: str, order: str, rubric: str | None = None, *, numeric: bool = True) -> Column:
        now = query.sort == order and rubric in {None, query.rubric}
        down = numeric != query.reverse
        direction = ("descending" if down else "ascending") if now else ""
        return Column(title, escape(search.sorted_by(order, rubric)), direction, numeric)

    return (
        heading("Server", "name", numeric=False),
        *(heading(rubric.replace("_", " "), "rank", rubric) for rubric in rubrics),
        heading("Seen", "seen"),
    )


def _with_words(search: ListQuery, columns: Iterable[Column]) -> Iterable[Column]:
    """The same headings with the words of a search in their URLs, where they are the first parameter."""
    if not search.words:
        return columns
    found, placeholder = escape(f"{LIST_PATH}?{search.words}"), f"{LIST_PATH}?q=q"
    return [replace(one, href=found + Markup(one.href.removeprefix(placeholder))) for one in columns]  # noqa: S704  escaped above


def _choices(search: ListQuery, numbers: DashboardNumbers) -> list[Choice]:
    grades = numbers.grades(search.query.rubric)
    chosen: list[tuple[str, str, Sequence[tuple[str, str]]]] = [
        ("state", "Seen", LISTED_STATES),
        ("reason", "Why not", [(reason, reason.replace("_", " ")) for reason in numbers.names("reasons", "reason")]),
        ("ecosystem", "Ecosystem", [(name, name) for name in numbers.names("ecosystems", "name")]),
        ("registry", "Registry", [(name, name) for name in numbers.names("registries", "name")]),
        ("grade", f"Grade ({search.query.rubric.replace('_', ' ')})", [(grade, grade) for grade in grades]),
        ("badge", "Badge", [(name, name.replace("-", " ")) for name in requirements.BADGES]),
    ]
    return [
        Choice(name, label, search.value(name), _with_chosen(options, search.value(name)))
        for name, label, options in chosen
        if options or search.value(name)
    ]


def _with_chosen(options: Sequence[tuple[str, str]], chosen: str | None) -> Sequence[tuple[str, str]]:
    """The options, plus the chosen value if no server has it now."""
    known = {value for value, _ in options}
    return options if chosen is None or chosen in known else [*options, (chosen, chosen)]
