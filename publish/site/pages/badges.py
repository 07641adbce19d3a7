"""Badges of servers: pictures, and the same for shields.io. They show what was published and set nothing going."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from publish import badges
from publish.badges import Badge
from publish.site.site import PRIVATE, Site

_KEPT: Final = f"public, max-age={badges.SECONDS}"


def routes(site: Site) -> APIRouter:
    """`/badges/{id}/{badge}.svg` and `.json`."""
    router = APIRouter()

    @router.get("/badges/{server}/{name}.svg")
    def picture(server: str, name: str) -> Response:
        drawn = _drawn(site, server, name)
        return Response(badges.svg(drawn), headers=_headers(drawn), media_type="image/svg+xml")

    @router.get("/badges/{server}/{name}.json")
    def endpoint(server: str, name: str) -> Response:
        drawn = _drawn(site, server, name)
        return JSONResponse(badges.shield(drawn), headers=_headers(drawn))

    return router


def _drawn(site: Site, server: str, name: str) -> Badge:
    """An unknown server has a badge too, so that no README shows a broken picture; a badge that is none has not."""
    if name not in badges.names():
        raise HTTPException(404, f"There is no badge {name!r}; there are {', '.join(badges.names())}.")
    listed = site.store.board.find(server)
    if listed is not None and site.is_hidden(listed.server):
        listed = None
    return badges.badge(listed, name, site.desk.now())


def _headers(drawn: Badge) -> dict[str, str]:
    return {"cache-control": PRIVATE if drawn.error else _KEPT, "access-control-allow-origin": "*"}
