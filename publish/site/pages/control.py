"""Control of one server: how to prove it, a claim that was made, and what its token is for."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from evidence.store.claim_rows import Claim, Way
from publish.people import claiming
from publish.people.claiming import FILE, Started, WhyNotStarted
from publish.site.forms_guard import same_origin
from publish.site.one_server import Look, look, page
from publish.site.site import Site


def routes(site: Site) -> APIRouter:
    """The page of a server's control, and that of one claim."""
    router = APIRouter()

    @router.get("/servers/{server}/control")
    def control(server: str) -> Response:
        return _page(site, look(site, server))

    @router.post("/servers/{server}/control", dependencies=[Depends(same_origin)])
    def claim(request: Request, server: str, way: Annotated[Way, Form()]) -> Response:
        seen, client = look(site, server), site.client(request).client
        desk = site.desk
        asked = claiming.start(site.store, desk.people, desk.now(), seen.listed.server, way=way, client=client)
        if isinstance(asked, Started):
            # Shown once, so there is no redirect: nothing but this answer holds the token.
            return _page(site, seen, claim=asked.claim, token=asked.token, status=201)
        status = 429 if asked.why is WhyNotStarted.TOO_MANY else 409
        return _page(site, seen, refused=asked.message, status=status)

    @router.get("/servers/{server}/control/{claim}")
    def status(server: str, claim: str) -> Response:
        return _page(site, look(site, server), claim=_claim(site, server, claim))

    @router.post("/servers/{server}/control/{claim}", dependencies=[Depends(same_origin)])
    def check(server: str, claim: str) -> Response:
        site.store.claims.hurry(_claim(site, server, claim).id, site.desk.now())
        return RedirectResponse(f"/servers/{server}/control/{claim}", 303)

    return router


def _claim(site: Site, server: str, claim: str) -> Claim:
    found = site.store.claims.find(claim)
    if found is None or found.server != server:
        raise HTTPException(404, "There is no claim with this id of this server.")
    return found


def _page(
    site: Site,
    seen: Look,
    *,
    claim: Claim | None = None,
    token: str = "",
    refused: str = "",
    status: int = 200,
) -> Response:
    values: dict[str, Any] = {
        "places": claiming.places(site.store, site.desk.people, seen.listed.server),
        "controlled": site.store.claims.controlled(seen.id),
        "claim": claim,
        "token": token,
        "refused": refused,
        "status": status,
        "base_url": site.desk.base_url,
        "file": FILE,
        "index": False,
        "keep": False,
    }
    return page(site, "people_control.html.j2", seen, tab="", **values)
