"""`/about`: who probes servers, how to opt out, and how to dispute a score."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from publish.badges.requirements import BADGE_RULES, GATE_VERSION
from publish.web.context import SiteContext


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()

    @router.get("/about")
    def about() -> Response:
        return site.page(
            "about.html.j2",
            here="about",
            gate=GATE_VERSION,
            awards=BADGE_RULES,
            mcp=site.absolute("/mcp"),
            canonical=site.absolute("/about"),
        )

    @router.get("/retests")
    @router.get("/disputes")
    def how_to_ask() -> Response:
        """Both belong to one server; the section says how to find it and what to do there."""
        return RedirectResponse("/about#wrong", 303)

    return router
