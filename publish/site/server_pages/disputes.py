"""Disputes of one server: the list, and a form for one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from publish.community import disputes
from publish.community.disputable_lines import find_disputable_line
from publish.community.dispute_views import list_public_disputes
from publish.community.disputes import DisputeFiler, DisputeRefusal, DisputeRefused, DisputeText, FiledDispute
from publish.community.limits import MAX_CONTACT, MAX_REASON, MIN_REASON
from publish.site.server_context import find_server_in_run, server_response
from publish.views.evidence.server import MultilineText
from publish.views.server_in_run import ServerInRun
from publish.web.context import SiteContext
from publish.web.same_origin import require_same_origin

_STATUS: Final[Mapping[DisputeRefusal, int]] = {
    DisputeRefusal.UNKNOWN_LINE: 404,
    DisputeRefusal.UNFIT_REASON: 422,
    DisputeRefusal.UNFIT_CONTACT: 422,
    DisputeRefusal.TOO_MANY: 429,
}
_PRIVATE_PAGE: Final = {"index": False, "keep": False}


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()

    @router.get("/servers/{server}/disputes")
    def show_disputes(server: str) -> Response:
        seen = find_server_in_run(site, server)
        values = {"disputes": list_public_disputes(site.store, seen.id), "prose": MultilineText, "index": False}
        return server_response(site, "server_disputes.html.j2", seen, tab="disputes", **values)

    @router.get("/servers/{server}/disputes/new")
    def form(
        server: str,
        rubric: Annotated[str, Query(max_length=100)],
        cites: Annotated[str, Query(max_length=200)],
        at: Annotated[str, Query(max_length=4000)] = "",
    ) -> Response:
        return _form(
            site,
            find_server_in_run(site, server),
            DisputeText(server=server, rubric=rubric, cites=cites, at=at, reason=""),
        )

    @router.post("/servers/{server}/disputes", dependencies=[Depends(require_same_origin)])
    def file(
        request: Request,
        server: str,
        *,
        rubric: Annotated[str, Query(max_length=100)],
        cites: Annotated[str, Query(max_length=200)],
        at: Annotated[str, Query(max_length=4000)] = "",
        reason: Annotated[str, Form()] = "",
        contact: Annotated[str, Form()] = "",
    ) -> Response:
        seen = find_server_in_run(site, server)
        text = reason.replace("\r\n", "\n")
        dispute_text = DisputeText(server=seen.id, rubric=rubric, cites=cites, at=at, reason=text, contact=contact)
        who = DisputeFiler(client=site.client(request).client)
        outcome = disputes.file_dispute(site.store, site.backend.community, site.backend.now(), dispute_text, who)
        if isinstance(outcome, FiledDispute):
            return RedirectResponse(f"/servers/{seen.id}/disputes#{outcome.dispute.id}", 303)
        return _form(site, seen, dispute_text, refused=outcome)

    return router


def _form(site: SiteContext, seen: ServerInRun, words: DisputeText, refused: DisputeRefused | None = None) -> Response:
    line = find_disputable_line(site.store, words.server, rubric=words.rubric, cites=words.cites, at=words.at)
    if line is None:
        raise HTTPException(404, "No line of the newest receipts is that: choose one on the page of its receipt.")
    values: dict[str, Any] = {
        **_PRIVATE_PAGE,
        "line": line,
        "words": words,
        "refused": refused.message if refused else "",
        "status": _STATUS[refused.why] if refused else 200,
        "lengths": (MIN_REASON, MAX_REASON, MAX_CONTACT),
    }
    return server_response(site, "server_dispute_form.html.j2", seen, tab="disputes", **values)
