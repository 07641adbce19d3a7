"""`/`: search, the best servers of each category, newly listed ones, changes and grades of the newest published run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fastapi import APIRouter
from markupsafe import Markup
from starlette.responses import Response

from evidence.store import ListingQuery
from publish.site import plot_geometry
from publish.site.list_rows import render_rows
from publish.site.run_numbers import rubric_values
from publish.views.categories import OTHER, find_category
from publish.views.dashboard import DashboardNumbers
from publish.web.context import SiteContext

SHOWN_CATEGORIES: Final = 9
SHOWN_BEST: Final = 3
SHOWN_NEWEST: Final = 5
SHOWN_MOVERS: Final = 8


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()

    @router.get("/")
    def dashboard() -> Response:
        numbers = DashboardNumbers.read(site.store)
        return site.page(
            "dashboard.html.j2",
            here="dashboard",
            canonical=site.absolute("/"),
            **_values(site, numbers),
        )

    return router


def _values(site: SiteContext, numbers: DashboardNumbers) -> dict[str, Any]:
    if numbers.run is None:
        return {"run": None}
    stored = site.store.find_run(numbers.run)
    rubrics = rubric_values(numbers)
    return {
        "run": stored.run if stored else None,
        "total": numbers.servers,
        "categories": _categories(numbers),
        "newest": _newest(site, rubrics[0]["id"]) if rubrics else "",
        "main": rubrics[0] if rubrics else None,
        "movers": _movers(numbers.values.get("movers")),
    }


def _categories(numbers: DashboardNumbers) -> list[dict[str, Any]]:
    """The categories with the most servers, each with its best servers."""
    found = [(find_category(str(one["name"])), one) for one in numbers.rows("categories")]
    return [
        {
            "id": category.id,
            "title": category.title,
            "servers": one["servers"],
            "best": [_best(best) for best in one["best"][:SHOWN_BEST]],
        }
        for category, one in found
        if category is not None and category is not OTHER
    ][:SHOWN_CATEGORIES]


def _best(one: Mapping[str, Any]) -> dict[str, Any]:
    """A server by the last part of its name, since cards are narrow."""
    name = str(one["name"] or one["ref"] or one["server"])
    short = name.rstrip("/").rpartition("/")[2] or name
    return {**one, "short": short, "score": plot_geometry.parse_decimal(one["score"])}


def _newest(site: SiteContext, rubric: str) -> Markup:
    """The rows of the servers that were discovered last."""
    found = site.store.listing.read_page(ListingQuery(rubric=rubric, sort="added"), limit=SHOWN_NEWEST).servers
    rows = render_rows([one for one in found if not site.is_hidden(one.server)], rubric)
    return Markup("".join(rows))  # noqa: S704  `render_rows` escapes


def _movers(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if not found or not found.get("since"):
        return None
    counts = {name: found.get(name, 0) for name in ("up", "same", "down")}
    return {
        **found,
        "new": found.get("new"),
        "gone": found.get("gone"),
        "lost_score": found.get("lost_score", 0),
        "gained_score": found.get("gained_score", 0),
        "ours": [what for what in found.get("why", []) if what != "evidence"],
        "line": plot_geometry.make_pieces(counts),
        "most": [_mover(one) for one in found.get("most", [])[:SHOWN_MOVERS]],
    }


def _mover(one: Mapping[str, Any]) -> dict[str, Any]:
    before, after = plot_geometry.parse_decimal(one.get("before")), plot_geometry.parse_decimal(one.get("after"))
    known = before is not None and after is not None
    return {
        **one,
        "before": before,
        "after": after,
        "moved": after - before if before is not None and after is not None else None,
        "span": plot_geometry.make_span(before, after) if known and before is not None and after is not None else None,
    }
