"""Redirects from a server's reference, such as `npm:@SCOPE/NAME`, to its page."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from evidence.model import server_id
from publish.site.server_context import find_listed_server
from publish.web.context import SiteContext


def routes(site: SiteContext) -> APIRouter:
    """References with slashes; matched after all other pages below `/servers`."""
    router = APIRouter()

    @router.get("/servers/{reference:path}")
    def by_reference(reference: str) -> Response:
        if reference.startswith("srv_"):
            raise HTTPException(404)
        return redirect_to_page(site, reference)

    return router


def redirect_to_page(site: SiteContext, reference: str) -> Response:
    """The redirect; raise HTTPException 404 if no published server has this reference."""
    try:
        return RedirectResponse(f"/servers/{find_listed_server(site, server_id(reference)).server.id}", 308)
    except UnicodeEncodeError:
        raise HTTPException(404) from None
