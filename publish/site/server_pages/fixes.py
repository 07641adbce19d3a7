"""How to fix a server: the gain of each fix under one rubric, judged again without the finding."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from evidence.model import Dossier
from evidence.store import Store
from publish.community.disputable_lines import find_charging_lines
from publish.disclosure import NOT_REVIEWED, ReviewedFindings
from publish.findings.identity import match_reviews
from publish.site.server_context import find_server_in_run, server_response
from publish.views.fix_costs import predict_public_fixes
from publish.views.server_in_run import ServerInRun, methodology_titles
from publish.web.context import SiteContext
from scoring import receipt
from scoring.engine import catalogue
from scoring.engine.snippet import Snippet
from scoring.results.scorecard import Scorecard
from scoring.rule_snippets import make_snippet

SPOTS_SHOWN: Final = 30


def routes(site: SiteContext) -> APIRouter:
    """One page, for one methodology at a time."""
    router = APIRouter()

    @router.get("/servers/{server}/fixes")
    def fixes(server: str, rubric: str = "", run: str | None = None) -> Response:
        seen = find_server_in_run(site, server, run)
        current = seen.current
        card = next((card for card in current if card.rubric == (rubric or methodology_titles().main)), None)
        if card is None:
            raise HTTPException(404, "The server has no receipt under this methodology.")
        values = {
            "index": False,
            "card": card,
            "cards": current,
            "spots_shown": SPOTS_SHOWN,
            "snippet_of": _snippet_of,
            "charging": find_charging_lines(card),
        }
        return server_response(site, "server_fixes.html.j2", seen, tab="fixes", **values, **_outlook(site, seen, card))

    return router


def _outlook(site: SiteContext, seen: ServerInRun, card: Scorecard) -> dict[str, Any]:
    """The possible gains under the rules of this code; none if the evidence was dropped."""
    rubric = next(
        (one for one in catalogue.list_rubrics() if (one.id, one.version) == (card.rubric, card.version)), None
    )
    if rubric is None or not seen.public.dossier.records:
        return {"outlook": None, "judged_otherwise": False}
    whole = site.store.read_dossiers(seen.run.run.id, [seen.id])[0]
    outlook = predict_public_fixes(whole, rubric, _match_disclosed(site.store, seen, whole))
    return {"outlook": outlook, "judged_otherwise": outlook.card.score != card.score}


def _match_disclosed(store: Store, seen: ServerInRun, whole: Dossier) -> ReviewedFindings:
    """The disclosed findings of the server, matched with its receipts."""
    if not seen.public.disclosed:
        return NOT_REVIEWED
    cards = [receipt.decode_scorecard(card.body) for card in store.read_scorecards(seen.run.run.id, servers=[seen.id])]
    return match_reviews(whole, cards, seen.public.disclosed)


def _snippet_of(rule: str) -> Snippet | None:
    return make_snippet(catalogue.get_rule(rule))
