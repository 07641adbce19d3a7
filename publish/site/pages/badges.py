"""Badges of servers as SVG and as shields.io JSON, drawn from published results only."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from publish.badges import images
from publish.badges.images import Badge
from publish.web.context import CACHE_PRIVATE, SiteContext

_KEPT: Final = f"public, max-age={images.CACHE_SECONDS}"


def routes(site: SiteContext) -> APIRouter:
    """`/badges/{id}/{badge}.svg` and `.json`."""
    router = APIRouter()

    @router.get("/badges/{server}/{name}.svg")
    def picture(server: str, name: str) -> Response:
        drawn = _drawn(site, server, name)
        return Response(images.render_svg(drawn), headers=_headers(drawn), media_type="image/svg+xml")

    @router.get("/badges/{server}/{name}.json")
    def endpoint(server: str, name: str) -> Response:
        drawn = _drawn(site, server, name)
        return JSONResponse(images.render_shields_json(drawn), headers=_headers(drawn))

    return router


def _drawn(site: SiteContext, server: str, name: str) -> Badge:
    """An unknown server has a badge too, so that no README shows a broken picture; an unknown badge is a 404."""
    if name not in images.badge_names():
        raise HTTPException(404, f"There is no badge {name!r}; there are {', '.join(images.badge_names())}.")
    listed = site.store.listing.find_server(server)
    if listed is not None and site.is_hidden(listed.server):
        listed = None
    return images.draw_badge(listed, name, site.backend.now())


def _headers(drawn: Badge) -> dict[str, str]:
    return {"cache-control": CACHE_PRIVATE if drawn.error else _KEPT, "access-control-allow-origin": "*"}
