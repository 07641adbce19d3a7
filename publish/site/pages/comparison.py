"""`/compare`: two to four servers side by side, chosen in a list or by a search that needs no script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.responses import Response

from evidence.store import ListingQuery
from evidence.store.listing.values import ListedServer
from publish.site.list_rows import ACCESS
from publish.site.server_context import find_listed_server, find_server_in_run
from publish.views.categories import find_category
from publish.views.comparisons.servers import compare_servers
from publish.views.connecting import Connection, describe_connection
from publish.views.dimension_bars import DimensionBar, list_dimension_bars
from publish.views.security_summary import SecuritySummary, summarize_security
from publish.views.server_in_run import ServerInRun, methodology_titles
from publish.web.context import SiteContext
from scoring.results.scorecard import Scorecard

MAX_COMPARED: Final = 4
OFFERED: Final = 20
FAULTS_SHOWN: Final = 20

Text = Annotated[str, Query(max_length=200)]
Servers = Annotated[list[str], Query(max_length=100)]


class ComparedServer(Struct, frozen=True):
    """One server of the comparison, with what a reader decides by; values are None or empty where they are unknown."""

    seen: ServerInRun
    main: Scorecard | None
    bars: Sequence[DimensionBar]
    security: SecuritySummary | None
    connection: Connection | None
    categories: str


def routes(site: SiteContext) -> APIRouter:
    """`/compare`: a search until two servers are chosen, then the comparison."""
    router = APIRouter()

    @router.get("/compare")
    def compare(server: Servers = [], q: Text = "", more: bool = False) -> Response:  # noqa: B006  read only
        chosen = list(dict.fromkeys(server))
        is_complete = len(chosen) > 1 and not (more or q)
        most = MAX_COMPARED if is_complete else MAX_COMPARED - 1
        if len(chosen) > most:
            raise HTTPException(
                400,
                f"server: {MAX_COMPARED} servers are compared at most; expected up to {most}, found {len(chosen)}.",
            )
        if is_complete:
            return _show(site, [find_server_in_run(site, one) for one in chosen])
        listed = [find_listed_server(site, one) for one in chosen]
        return site.page(
            "compare_search.html.j2",
            here="servers",
            index=False,
            chosen=listed,
            q=q,
            found=_search(site, q, chosen),
            compare_url=compare_url,
        )

    return router


def compare_url(servers: Sequence[str], **more: str) -> str:
    """The URL of a comparison, or of the search for one more server to compare."""
    return f"/compare?{urlencode([*(('server', one) for one in servers), *more.items()])}"


def _show(site: SiteContext, servers: Sequence[ServerInRun]) -> Response:
    compared = [_describe(seen) for seen in servers]
    return site.page(
        "compare.html.j2",
        here="servers",
        index=False,
        compared=compared,
        dimensions=list(dict.fromkeys(bar.name for one in compared for bar in one.bars)),
        rubrics=compare_servers([seen.current for seen in servers]),
        titles=methodology_titles().rubrics,
        faults_shown=FAULTS_SHOWN,
        access_words=ACCESS,
        compare_url=compare_url,
        may_add=len(servers) < MAX_COMPARED,
    )


def _describe(seen: ServerInRun) -> ComparedServer:
    main = seen.main
    found = [one.title for name in seen.listed.facets.categories if (one := find_category(name))]
    return ComparedServer(
        seen=seen,
        main=main,
        bars=list(list_dimension_bars(main)) if main else (),
        security=summarize_security(main) if main else None,
        connection=describe_connection(seen.listed.server),
        categories=", ".join(found),
    )


def _search(site: SiteContext, text: str, chosen: Sequence[str]) -> Sequence[ListedServer] | None:
    """The servers that a search finds, without the chosen ones; None without a search."""
    if not text.strip():
        return None
    page = site.store.listing.read_page(ListingQuery(text=text.strip(), sort="relevance"), limit=OFFERED)
    return [one for one in page.servers if not site.is_hidden(one.server) and one.server.id not in chosen]
