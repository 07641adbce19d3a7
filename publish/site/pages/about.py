"""`/about`: who looks at servers, how to opt out, and how to object."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from publish.gate import GATE, RULES
from publish.site.site import Site


def routes(site: Site) -> APIRouter:
    """The page."""
    router = APIRouter()

    @router.get("/about")
    def about() -> Response:
        return site.page(
            "about.html.j2",
            here="about",
            gate=GATE,
            awards=RULES,
            mcp=site.absolute("/mcp"),
            canonical=site.absolute("/about"),
        )

    return router
