"""Disputes of one server: what they are for, the lines to choose from, the list, and a form for one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from evidence.store import Store
from publish.community import disputes
from publish.community.disputable_lines import find_disputable_line, list_shown_runs
from publish.community.dispute_views import list_public_disputes
from publish.community.disputes import DisputeFiler, DisputeRefusal, DisputeRefused, DisputeText, FiledDispute
from publish.community.limits import MAX_CONTACT, MAX_REASON, MIN_REASON
from publish.site.server_context import find_server_in_run, server_response
from publish.views.evidence.server import MultilineText
from publish.views.fix_costs import rank_costs
from publish.views.public_servers import read_public_server
from publish.views.server_in_run import ServerInRun, order_newest
from publish.web.context import SiteContext
from publish.web.same_origin import require_same_origin
from scoring.results.scorecard import Scorecard

_STATUS: Final[Mapping[DisputeRefusal, int]] = {
    DisputeRefusal.UNKNOWN_LINE: 404,
    DisputeRefusal.UNFIT_REASON: 422,
    DisputeRefusal.UNFIT_CONTACT: 422,
    DisputeRefusal.TOO_MANY: 429,
}
_UNKNOWN_LINE: Final = "The newest receipts have no such line. It may be fixed already. Choose another line below."
COSTS_SHOWN: Final = 10


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()

    @router.get("/servers/{server}/disputes")
    def show_disputes(server: str) -> Response:
        return _list(site, find_server_in_run(site, server))

    @router.get("/servers/{server}/disputes/new")
    def form(
        server: str,
        rubric: Annotated[str, Query(max_length=100)] = "",
        cites: Annotated[str, Query(max_length=200)] = "",
        at: Annotated[str, Query(max_length=4000)] = "",
    ) -> Response:
        seen = find_server_in_run(site, server)
        if not (rubric and cites):
            return RedirectResponse(f"/servers/{seen.id}/disputes", 303)
        return _form(site, seen, DisputeText(server=seen.id, rubric=rubric, cites=cites, at=at, reason=""))

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


def _list(site: SiteContext, seen: ServerInRun, *, refused: str = "", status: int = 200) -> Response:
    newest, cards = _read_newest_receipts(site.store, seen)
    values: dict[str, Any] = {
        "disputes": list_public_disputes(site.store, seen.id),
        "prose": MultilineText,
        "cards": cards,
        "receipts_run": "" if newest == seen.run.run.id else f"?run={newest}",
        "costs": rank_costs(cards[:1]),
        "costs_shown": COSTS_SHOWN,
        "lengths": (MIN_REASON, MAX_REASON),
        "refused": refused,
        "status": status,
        "index": False,
        "keep": not refused,
    }
    return server_response(site, "server_disputes.html.j2", seen, tab="disputes", **values)


def _read_newest_receipts(store: Store, seen: ServerInRun) -> tuple[str, Sequence[Scorecard]]:
    """The run whose lines can be disputed first, a re-test if there is one, and its receipts, the main one first."""
    newest = next(list_shown_runs(store, seen.id), seen.run.run.id)
    shown = None if newest == seen.run.run.id else read_public_server(store, newest, seen.id)
    if shown is None or not shown.cards:
        return seen.run.run.id, seen.current
    return newest, order_newest(shown)


def _form(site: SiteContext, seen: ServerInRun, words: DisputeText, refused: DisputeRefused | None = None) -> Response:
    line = find_disputable_line(site.store, words.server, rubric=words.rubric, cites=words.cites, at=words.at)
    if line is None:
        return _list(site, seen, refused=_UNKNOWN_LINE, status=404)
    values: dict[str, Any] = {
        "index": False,
        "keep": False,
        "line": line,
        "words": words,
        "refused": refused.message if refused else "",
        "status": _STATUS[refused.why] if refused else 200,
        "lengths": (MIN_REASON, MAX_REASON, MAX_CONTACT),
    }
    return server_response(site, "server_dispute_form.html.j2", seen, tab="disputes", **values)
