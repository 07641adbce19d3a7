"""What changed about one server: its history, since the night before, and between any two of its runs."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Query
from starlette.exceptions import HTTPException
from starlette.responses import Response

from evidence.store.board_rows import HistoryPoint
from publish.changes_view import changes_of
from publish.comparison import compare
from publish.history_view import history_of
from publish.side_by_side import why_apart
from publish.site.one_server import Look, before, glance, look, naming, over_time, page
from publish.site.site import Site

LINES_SHOWN: Final = 60
RUNS_OFFERED: Final = 400


def routes(site: Site) -> APIRouter:
    """Three pages."""
    router = APIRouter()

    @router.get("/servers/{server}/history")
    def history(server: str) -> Response:
        with site.store.at_once():
            seen = glance(site, server)
            points = site.store.board.history(server)
        histories = history_of(points, naming().rubrics, naming().main)
        values = {"index": False, "histories": histories, "runs": _runs(points)}
        return over_time(site, "server_history.html.j2", seen, tab="history", **values)

    @router.get("/servers/{server}/changes")
    def changes(server: str, run: str | None = None) -> Response:
        after = look(site, server, run)
        earlier = before(site, after)
        found = {"earlier": None} if earlier is None else _between(look(site, server, earlier), after)
        return page(site, "server_changes.html.j2", after, tab="changes", index=False, **found)

    @router.get("/servers/{server}/compare")
    def two_runs(
        server: str,
        from_: str = Query(alias="from"),
        to: str = Query(),
    ) -> Response:
        old, new = look(site, server, from_), look(site, server, to)
        if old.run.run.id > new.run.run.id:
            raise HTTPException(400, "Expected the earlier run in `from` and the later one in `to`; exchange them.")
        return page(site, "server_changes.html.j2", new, tab="history", index=False, **_between(old, new))

    return router


def _between(old: Look, new: Look) -> dict[str, Any]:
    """Two runs of one server, all in public form."""
    known = {(card.rubric, card.version): card for card in old.cards}
    apart = {
        f"{card.rubric}@{card.version}": tuple(why_apart(known[card.rubric, card.version], card))
        for card in new.cards
        if (card.rubric, card.version) in known
    }
    compared = compare(old.cards, new.cards)
    return {
        "earlier": old.run.run,
        "comparisons": compared,
        "apart": apart,
        "pins": tuple(_pins(old, new)),
        "changes": changes_of(old.public.dossier, new.public.dossier),
        "gone": old.thinned is not None,
        "lines_shown": LINES_SHOWN,
        "same": not any(comparison.changed for comparison in compared),
    }


def _pins(old: Look, new: Look) -> list[tuple[str, str, str]]:
    """What the two runs pinned differently, so that not every change needs to come from the server."""
    then, now = old.run.run.pins, new.run.run.pins
    return [
        (name, then.get(name, ""), now.get(name, ""))
        for name in sorted({*then, *now})
        if then.get(name, "") != now.get(name, "")
    ]


def _runs(points: tuple[HistoryPoint, ...]) -> list[HistoryPoint]:
    """One point for each run, newest first."""
    return list({point.run: point for point in reversed(points)}.values())[:RUNS_OFFERED]
