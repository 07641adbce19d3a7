"""Control of one server: how to prove it, a claim, and the use of its token."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from evidence.store.community.claim_values import Claim, ProofMethod
from publish.community import claims
from publish.community.claims import PROOF_FILE, ClaimRefusal, ClaimWithToken
from publish.site.server_context import find_server_in_run, server_response
from publish.views.server_in_run import ServerInRun
from publish.web.context import SiteContext
from publish.web.same_origin import require_same_origin


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()

    @router.get("/servers/{server}/control")
    def control(server: str) -> Response:
        return _page(site, find_server_in_run(site, server))

    @router.post("/servers/{server}/control", dependencies=[Depends(require_same_origin)])
    def claim(request: Request, server: str, way: Annotated[ProofMethod, Form()]) -> Response:
        seen, client = find_server_in_run(site, server), site.client(request).client
        backend = site.backend
        outcome = claims.start_claim(
            site.store, backend.community, backend.now(), seen.listed.server, way=way, client=client
        )
        if isinstance(outcome, ClaimWithToken):
            # Shown once, so there is no redirect: nothing but this answer holds the token.
            return _page(site, seen, claim=outcome.claim, token=outcome.token, status=201)
        status = 429 if outcome.why is ClaimRefusal.TOO_MANY else 409
        return _page(site, seen, refused=outcome.message, status=status)

    @router.get("/servers/{server}/control/{claim}")
    def status(server: str, claim: str) -> Response:
        return _page(site, find_server_in_run(site, server), claim=_claim(site, server, claim))

    @router.post("/servers/{server}/control/{claim}", dependencies=[Depends(require_same_origin)])
    def check(server: str, claim: str) -> Response:
        site.store.claims.schedule_check(_claim(site, server, claim).id, site.backend.now())
        return RedirectResponse(f"/servers/{server}/control/{claim}", 303)

    return router


def _claim(site: SiteContext, server: str, claim: str) -> Claim:
    found = site.store.claims.find_claim(claim)
    if found is None or found.server != server:
        raise HTTPException(404, "There is no claim with this id of this server.")
    return found


def _page(
    site: SiteContext,
    seen: ServerInRun,
    *,
    claim: Claim | None = None,
    token: str = "",
    refused: str = "",
    status: int = 200,
) -> Response:
    values: dict[str, Any] = {
        "places": claims.list_proof_places(site.store, site.backend.community, seen.listed.server),
        "controlled": site.store.claims.is_controlled(seen.id),
        "claim": claim,
        "token": token,
        "refused": refused,
        "status": status,
        "base_url": site.backend.base_url,
        "file": PROOF_FILE,
        "waits": site.backend.community.waits,
        "days": site.backend.community.claim_time.days,
        "index": False,
        "keep": False,
    }
    return server_response(site, "server_control.html.j2", seen, tab="", **values)
