"""Disputes of one server: the list, and a form for one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from publish.people import disputing
from publish.people.disputes_view import disputes_of
from publish.people.disputing import Filed, Filer, NotFiled, WhyNotFiled, Words
from publish.people.limits import LONGEST_CONTACT, LONGEST_REASON, SHORTEST_REASON
from publish.people.lines import disputable
from publish.server_view import Prose
from publish.site.forms_guard import same_origin
from publish.site.one_server import Look, look, page
from publish.site.site import Site

_STATUS: Final[Mapping[WhyNotFiled, int]] = {
    WhyNotFiled.UNKNOWN_LINE: 404,
    WhyNotFiled.UNFIT_REASON: 422,
    WhyNotFiled.UNFIT_CONTACT: 422,
    WhyNotFiled.TOO_MANY: 429,
}
_PRIVATE_PAGE: Final = {"index": False, "keep": False}


def routes(site: Site) -> APIRouter:
    """The list, the form, and what it sends."""
    router = APIRouter()

    @router.get("/servers/{server}/disputes")
    def disputes(server: str) -> Response:
        seen = look(site, server)
        values = {"disputes": disputes_of(site.store, seen.id), "prose": Prose, "index": False}
        return page(site, "people_disputes.html.j2", seen, tab="disputes", **values)

    @router.get("/servers/{server}/disputes/new")
    def form(
        server: str,
        rubric: Annotated[str, Query(max_length=100)],
        cites: Annotated[str, Query(max_length=200)],
        at: Annotated[str, Query(max_length=4000)] = "",
    ) -> Response:
        return _form(site, look(site, server), Words(server=server, rubric=rubric, cites=cites, at=at, reason=""))

    @router.post("/servers/{server}/disputes", dependencies=[Depends(same_origin)])
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
        seen = look(site, server)
        said = reason.replace("\r\n", "\n")
        words = Words(server=seen.id, rubric=rubric, cites=cites, at=at, reason=said, contact=contact)
        who = Filer(client=site.client(request).client)
        asked = disputing.dispute(site.store, site.desk.people, site.desk.now(), words, who)
        if isinstance(asked, Filed):
            return RedirectResponse(f"/servers/{seen.id}/disputes#{asked.dispute.id}", 303)
        return _form(site, seen, words, refused=asked)

    return router


def _form(site: Site, seen: Look, words: Words, refused: NotFiled | None = None) -> Response:
    line = disputable(site.store, words.server, rubric=words.rubric, cites=words.cites, at=words.at)
    if line is None:
        raise HTTPException(404, "No line of the newest receipts is that: choose one on the page of its receipt.")
    values: dict[str, Any] = {
        **_PRIVATE_PAGE,
        "line": line,
        "words": words,
        "refused": refused.message if refused else "",
        "status": _STATUS[refused.why] if refused else 200,
        "lengths": (SHORTEST_REASON, LONGEST_REASON, LONGEST_CONTACT),
    }
    return page(site, "people_dispute.html.j2", seen, tab="disputes", **values)
