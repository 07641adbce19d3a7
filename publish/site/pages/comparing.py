"""Two servers side by side, chosen by search without a script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import RedirectResponse, Response

from evidence.store import BoardQuery
from evidence.store.board_rows import Listed
from publish.side_by_side import side_by_side
from publish.site.one_server import listed_server, look, naming
from publish.site.site import Site

OFFERED: Final = 20
FAULTS_SHOWN: Final = 40

Text = Annotated[str, Query(max_length=200)]


def routes(site: Site) -> APIRouter:
    """One page: a search while a server is missing, else both."""
    router = APIRouter()

    @router.get("/compare")
    def both(a: Text = "", b: Text = "", q: Text = "") -> Response:
        if not a and b:
            return RedirectResponse(f"/compare?a={listed_server(site, b).server.id}", 307)
        if a and b:
            return _both(site, a, b)
        first = listed_server(site, a) if a else None
        found = _found(site, q, first)
        return site.page("compare_search.html.j2", here="servers", index=False, first=first, q=q, found=found)

    return router


def _both(site: Site, a: str, b: str) -> Response:
    left, right = look(site, a), look(site, b)
    return site.page(
        "compare.html.j2",
        here="servers",
        index=False,
        left=left,
        right=right,
        pairs=side_by_side(left.current, right.current),
        titles=naming().rubrics,
        faults_shown=FAULTS_SHOWN,
    )


def _found(site: Site, text: str, first: Listed | None) -> Sequence[Listed] | None:
    """The servers that a search finds, without the one that is chosen; None before anything was searched for."""
    if not text.strip():
        return None
    page = site.store.board.page(BoardQuery(text=text.strip(), sort="name"), limit=OFFERED)
    shown = (listed for listed in page.servers if not site.is_hidden(listed.server))
    return [listed for listed in shown if first is None or listed.server.id != first.server.id]
