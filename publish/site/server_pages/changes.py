"""Changes of one server: its history, since the previous run, and between any two runs."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Query
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from evidence.store.listing.values import HistoryPoint
from publish.site.server_context import (
    find_listed_server,
    find_listed_server_in_run,
    find_server_in_run,
    history_response,
    server_response,
)
from publish.views.comparisons.evidence_changes import compare_evidence
from publish.views.comparisons.receipts import compare_receipts
from publish.views.comparisons.servers import explain_incomparable
from publish.views.score_history import view_history
from publish.views.server_in_run import ServerInRun, find_run_before, methodology_titles
from publish.web.context import SiteContext

LINES_SHOWN: Final = 60
RUNS_OFFERED: Final = 400


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()

    @router.get("/servers/{server}/history")
    def history(server: str) -> Response:
        with site.store.read_transaction():
            seen = find_listed_server_in_run(site, server)
            points = site.store.listing.read_history(server)
        histories = view_history(points, methodology_titles().rubrics, methodology_titles().main)
        values = {"index": False, "histories": histories, "runs": _runs(points)}
        return history_response(site, "server_history.html.j2", seen, tab="history", **values)

    @router.get("/servers/{server}/changes")
    def changes(server: str, run: str | None = None) -> Response:
        after = find_server_in_run(site, server, run)
        earlier = find_run_before(site.store, server, after.run.run.id)
        found = {"earlier": None} if earlier is None else _between(find_server_in_run(site, server, earlier), after)
        return server_response(site, "server_changes.html.j2", after, tab="changes", index=False, **found)

    @router.get("/servers/{server}/compare")
    def two_runs(
        server: str,
        from_: str = Query(default="", alias="from"),
        to: str = "",
    ) -> Response:
        if not (from_ and to):
            return RedirectResponse(f"/servers/{find_listed_server(site, server).server.id}/history#two", 303)
        old, new = find_server_in_run(site, server, from_), find_server_in_run(site, server, to)
        if old.run.run.id > new.run.run.id:
            raise HTTPException(
                400, "Expected the earlier run in `from` and the later one in `to`: the order is wrong."
            )
        return server_response(site, "server_changes.html.j2", new, tab="history", index=False, **_between(old, new))

    return router


def _between(old: ServerInRun, new: ServerInRun) -> dict[str, Any]:
    """Template values that compare two runs of one server."""
    known = {(card.rubric, card.version): card for card in old.cards}
    apart = {
        f"{card.rubric}@{card.version}": explain_incomparable(known[card.rubric, card.version], card)
        for card in new.cards
        if (card.rubric, card.version) in known
    }
    compared = compare_receipts(old.cards, new.cards)
    return {
        "earlier": old.run.run,
        "comparisons": compared,
        "apart": apart,
        "pins": tuple(_pins(old, new)),
        "changes": compare_evidence(old.public.dossier, new.public.dossier),
        "gone": old.dropped is not None,
        "lines_shown": LINES_SHOWN,
        "same": not any(comparison.changed for comparison in compared),
    }


def _pins(old: ServerInRun, new: ServerInRun) -> list[tuple[str, str, str]]:
    """Pins that differ between the two runs: a change may come from them and not from the server."""
    then, now = old.run.run.pins, new.run.run.pins
    return [
        (name, then.get(name, ""), now.get(name, ""))
        for name in sorted({*then, *now})
        if then.get(name, "") != now.get(name, "")
    ]


def _runs(points: tuple[HistoryPoint, ...]) -> list[HistoryPoint]:
    """One point for each run, newest first."""
    return list({point.run: point for point in reversed(points)}.values())[:RUNS_OFFERED]
