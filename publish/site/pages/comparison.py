"""`/compare`: two servers side by side, chosen by a search that needs no script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import RedirectResponse, Response

from evidence.store import ListingQuery
from evidence.store.listing.values import ListedServer
from publish.site.server_context import find_listed_server, find_server_in_run
from publish.views.comparisons.servers import compare_servers
from publish.views.server_in_run import methodology_titles
from publish.web.context import SiteContext

OFFERED: Final = 20
FAULTS_SHOWN: Final = 40

Text = Annotated[str, Query(max_length=200)]


def routes(site: SiteContext) -> APIRouter:
    """`/compare`: a search until two servers are chosen, then the comparison."""
    router = APIRouter()

    @router.get("/compare")
    def both(a: Text = "", b: Text = "", q: Text = "") -> Response:
        if not a and b:
            return RedirectResponse(f"/compare?a={find_listed_server(site, b).server.id}", 307)
        if a and b:
            return _both(site, a, b)
        first = find_listed_server(site, a) if a else None
        found = _found(site, q, first)
        return site.page("compare_search.html.j2", here="servers", index=False, first=first, q=q, found=found)

    return router


def _both(site: SiteContext, a: str, b: str) -> Response:
    left, right = find_server_in_run(site, a), find_server_in_run(site, b)
    return site.page(
        "compare.html.j2",
        here="servers",
        index=False,
        left=left,
        right=right,
        pairs=compare_servers(left.current, right.current),
        titles=methodology_titles().rubrics,
        faults_shown=FAULTS_SHOWN,
    )


def _found(site: SiteContext, text: str, first: ListedServer | None) -> Sequence[ListedServer] | None:
    """The servers that a search finds, without the chosen one; None without a search."""
    if not text.strip():
        return None
    page = site.store.listing.read_page(ListingQuery(text=text.strip(), sort="relevance"), limit=OFFERED)
    shown = (listed for listed in page.servers if not site.is_hidden(listed.server))
    return [listed for listed in shown if first is None or listed.server.id != first.server.id]
