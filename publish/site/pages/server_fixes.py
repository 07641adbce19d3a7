"""How to fix a server: what each fix brings under one methodology, judged again without the finding."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from evidence.model import Dossier
from evidence.store import Store
from publish.costs_view import public_prospect
from publish.disclosure import NOBODY_LOOKED, Reviewed
from publish.findings import reviewed
from publish.site.one_server import Look, look, naming, page
from publish.site.site import Site
from scoring import catalogue, illustration, receipt
from scoring.scorecard import Scorecard

SPOTS_SHOWN: Final = 30


def routes(site: Site) -> APIRouter:
    """One page, for one methodology at a time."""
    router = APIRouter()

    @router.get("/servers/{server}/fixes")
    def fixes(server: str, rubric: str = "", run: str | None = None) -> Response:
        seen = look(site, server, run)
        current = seen.current
        card = next((card for card in current if card.rubric == (rubric or naming().main)), None)
        if card is None:
            raise HTTPException(404, "The server has no receipt under this methodology.")
        values = {"index": False, "card": card, "cards": current, "spots_shown": SPOTS_SHOWN, "examples": _examples}
        return page(site, "server_fixes.html.j2", seen, tab="fixes", **values, **_outlook(site, seen, card))

    return router


def _outlook(site: Site, seen: Look, card: Scorecard) -> dict[str, Any]:
    """What could be gained by the rules of this code; nothing where no evidence is kept to be judged."""
    rubric = next((one for one in catalogue.rubrics() if (one.id, one.version) == (card.rubric, card.version)), None)
    if rubric is None or not seen.public.dossier.records:
        return {"outlook": None, "judged_otherwise": False}
    whole = site.store.dossiers(seen.run.run.id, [seen.id])[0]
    outlook = public_prospect(whole, rubric, _told(site.store, seen, whole))
    return {"outlook": outlook, "judged_otherwise": outlook.card.score != card.score}


def _told(store: Store, seen: Look, whole: Dossier) -> Reviewed:
    """The findings of the server that anybody may read, as its receipts and its assessment name them."""
    if not seen.public.disclosed:
        return NOBODY_LOOKED
    cards = [receipt.decode(card.body) for card in store.scorecards(seen.run.run.id, servers=[seen.id])]
    return reviewed(whole, cards, seen.public.disclosed)


def _examples(rule: str) -> tuple[str, ...]:
    """The first good example of a rule: the plainest one."""
    return tuple(illustration.illustrate(thing) for thing in catalogue.rule(rule).good[:1])
