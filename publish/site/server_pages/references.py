"""A server by the reference of its registry, such as `npm:@SCOPE/NAME`, leads to its page."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from evidence.model import server_id
from publish.site.server_context import find_listed_server
from publish.web.context import SiteContext


def routes(site: SiteContext) -> APIRouter:
    """The way to the page for references with slashes; asked after every page below a server's."""
    router = APIRouter()

    @router.get("/servers/{reference:path}")
    def by_reference(reference: str) -> Response:
        if reference.startswith("srv_"):
            raise HTTPException(404)
        return redirect_to_page(site, reference)

    return router


def redirect_to_page(site: SiteContext, reference: str) -> Response:
    """The redirect; 404 when nobody published has this reference."""
    try:
        return RedirectResponse(f"/servers/{find_listed_server(site, server_id(reference)).server.id}", 308)
    except UnicodeEncodeError:
        raise HTTPException(404) from None
