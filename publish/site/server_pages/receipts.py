"""The page of one server with its main receipt and first fixes; pages of each receipt and of badges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.responses import Response

from evidence.derive.secret_scrubbing import scrub_text
from evidence.store import ListedScore, Retest, RetestState, Store
from publish.badges import images, requirements
from publish.community.dispute_views import DisputeView, list_public_disputes
from publish.disclosure import NOT_DISCLOSED, WITHHELD
from publish.site.server_context import find_server_in_run, find_server_outline, server_response
from publish.site.server_pages.references import redirect_to_page
from publish.views.connecting import describe_connection
from publish.views.dimension_bars import list_dimension_bars
from publish.views.fix_costs import rank_costs
from publish.views.public_servers import SCORES_SHOWN
from publish.views.security_summary import summarize_security
from publish.views.server_in_run import ServerInRun, methodology_titles
from publish.views.server_summary import receipt_lines
from publish.web.context import SiteContext
from scoring.engine import catalogue
from scoring.receipt import decode_scorecard
from scoring.results.scorecard import Scorecard

FIXES_SHOWN: Final = 3
SPARK_WIDTH: Final = 120
SPARK_HEIGHT: Final = 20
LINES_ON_PAGE: Final = 500

Line = tuple[str, str, str]
"""The line that a dispute is about: rubric, published id, place."""


def routes(site: SiteContext) -> APIRouter:
    """The overview, a page with every line of each receipt, and a page of badges."""
    site.jinja.globals |= {"rule_page": _rule_page, "method_page": _method_page}
    router = APIRouter()

    @router.get("/servers/{server}")
    def overview(server: str, run: str | None = None) -> Response:
        if not server.startswith("srv_"):
            return redirect_to_page(site, server)
        with site.store.read_transaction():
            seen = find_server_outline(site, server) if run is None else find_server_in_run(site, server, run)
            found = _overview(site, seen)
        return server_response(site, "server_page.html.j2", seen, tab="overview", **found)

    @router.get("/servers/{server}/receipts/{name}")
    def receipt(
        server: str, name: str, run: str | None = None, number: Annotated[int, Query(alias="page", ge=1, le=10_000)] = 1
    ) -> Response:
        seen = find_server_in_run(site, server, run)
        stored = next((card for card in seen.public.cards if f"{card.rubric}@{card.version}" == name), None)
        if stored is None:
            raise HTTPException(404, "The server has no receipt under this version of a methodology in this run.")
        card = decode_scorecard(stored.body)
        values = {
            "card": card,
            "newest": seen.versions,
            "tables": _tables(card, number),
            "page": number,
            "index": False,
            "pages": max(1, -(-_longest(card) // LINES_ON_PAGE)),
            "disputed": list_disputed_lines(site.store, seen),
        }
        return server_response(site, "server_receipt.html.j2", seen, tab="", **values)

    @router.get("/servers/{server}/badges")
    def awards(server: str) -> Response:
        seen = find_server_in_run(site, server)
        judged = requirements.judge_server(
            seen.public, seen.current, controlled=site.store.claims.is_controlled(seen.id)
        )
        values = {
            "index": False,
            "judgement": judged,
            "awards": (judged.gate, *judged.badges),
            "snippets": images.badge_snippets(site.backend.base_url, seen.id),
            "base_url": site.backend.base_url,
        }
        return server_response(site, "server_badges.html.j2", seen, tab="badges", **values)

    return router


def list_disputed_lines(store: Store, seen: ServerInRun) -> Mapping[Line, Sequence[DisputeView]]:
    """The public disputes of a server by line."""
    found: dict[Line, list[DisputeView]] = {}
    for one in list_public_disputes(store, seen.id):
        found.setdefault((one.rubric, one.cites, one.at), []).append(one)
    return found


def _overview(site: SiteContext, seen: ServerInRun) -> dict[str, Any]:
    main = seen.main
    costs = rank_costs([] if main is None else [main])
    flags = seen.outline.flags if seen.outline else None
    of_lines = list_disputed_lines(site.store, seen) if flags is None or flags.disputed else {}
    can_have_retest = seen.newest and (flags is None or flags.retested)
    connection = describe_connection(seen.listed.server)
    newest = {one.rubric: one.version for one in sorted(seen.scores, key=lambda one: one.version)}
    return {
        "scores": _in_order([one for one in seen.scores if one.version == newest[one.rubric]]),
        "main": main,
        "retest": _retest(site.store, seen) if can_have_retest else None,
        "earlier": _in_order([one for one in seen.scores if one.version != newest[one.rubric]]),
        "bars": () if main is None else tuple(list_dimension_bars(main)),
        "security": None if main is None else summarize_security(main),
        "connection": connection,
        "config": Markup("") if connection is None else escape(scrub_text(connection.config)),  # with its line breaks
        "spark": _spark(site.store, seen, main),
        "costs": costs[:FIXES_SHOWN],
        "more_costs": max(0, len(costs) - FIXES_SHOWN),
        "has_withheld": _has_withheld_lines(main),
        "disclosed": seen.disclosed,
        "disputed": of_lines,
    }


def _spark(store: Store, seen: ServerInRun, main: Scorecard | None) -> str:
    """The points of a line through the newest scores under the main methodology; empty with fewer than two."""
    if main is None:
        return ""
    scores = (
        seen.outline.newest_scores
        if seen.outline
        else store.listing.read_newest_scores(seen.id, main.rubric, main.version, SCORES_SHOWN)
    )
    step = SPARK_WIDTH / max(1, len(scores) - 1)
    known = [
        (round(step * at, 1), SPARK_HEIGHT - float(score) / 5) for at, score in enumerate(scores) if score is not None
    ]
    return Markup(" ").join(f"{x:g},{y:g}" for x, y in known) if len(known) > 1 else ""


def _has_withheld_lines(main: Scorecard | None) -> bool:
    """Whether findings cost points that are withheld until their disclosure."""
    lines = () if main is None else receipt_lines(main)
    return any(line.cites == WITHHELD and line.why == NOT_DISCLOSED for line in lines)


def _in_order(scores: Iterable[ListedScore]) -> list[ListedScore]:
    """The default methodology first, the newest version first."""
    return sorted(scores, key=lambda one: (one.rubric != methodology_titles().main, one.rubric, -one.version))


def _retest(store: Store, seen: ServerInRun) -> Retest | None:
    """The newest finished re-test after the shown run."""
    done = (one for one in store.retests.list_retests(20, seen.id) if one.state is RetestState.DONE)
    return next((one for one in done if one.run and one.run > seen.listed.run), None)


def _tables(card: Scorecard, number: int) -> list[tuple[str, Sequence[Any], int]]:
    """Every table of lines of a receipt: its caption, its lines, and the index of the first line on this page."""
    found = [("Every line of the receipt", card.lines)]
    for part in card.dimensions:
        found.append((f"Lines of {part.name}", part.lines))
        found += [(f"Lines of {part.name}, {component.name}", component.lines) for component in part.components]
    first = (number - 1) * LINES_ON_PAGE
    return [(caption.replace("_", " "), lines, first) for caption, lines in found if len(lines) > first]


def _longest(card: Scorecard) -> int:
    return max([len(lines) for _, lines, _ in _tables(card, 1)], default=0)


def _rule_page(rule: str | None) -> str:
    return f"/rules/{rule}" if rule and rule in methodology_titles().rules else ""


def _method_page(rubric: str, version: int) -> str:
    known = any(one.id == rubric and one.version == version for one in catalogue.list_rubrics())
    return f"/methods/{rubric}@{version}" if known else ""
