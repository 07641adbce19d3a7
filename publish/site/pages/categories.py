"""`/categories`: the published table of categories, each with its words, its servers and its feed."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from publish.views import categories
from publish.views.dashboard import NewestNumbers
from publish.web.context import SiteContext


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()
    known = NewestNumbers(site.store)

    @router.get("/categories")
    def listed() -> Response:
        numbers = known.of(site.store.listing.find_newest_run())
        counts = {one["name"]: one["servers"] for one in numbers.rows("categories")}
        return site.page(
            "categories.html.j2",
            here="servers",
            canonical=site.absolute("/categories"),
            categories=[
                {"id": one.id, "title": one.title, "words": one.words, "servers": counts.get(one.id, 0)}
                for one in categories.ALL_CATEGORIES
            ],
            points={
                "name": categories.NAME_POINTS,
                "purpose": categories.PURPOSE_POINTS,
                "tool": categories.TOOL_POINTS,
                "tools": categories.MAX_TOOL_POINTS,
                "minimum": categories.MIN_POINTS,
                "share": categories.MIN_SHARE,
            },
        )

    return router
