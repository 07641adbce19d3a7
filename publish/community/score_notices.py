"""The webhook message of a changed score; its only untrusted texts are the server's name and reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from evidence.canonical import Json, canonical_json
from evidence.model import ServerId
from evidence.store import Store
from publish.text.display import make_visible
from publish.text.numbers import json_number, json_share
from publish.views.comparisons.receipts import Comparison, ReceiptResult, compare_receipts
from publish.views.public_servers import read_public_server
from scoring.results.scorecard import Scorecard

NOTICE_TYPE: Final = "score.changed"
_LONGEST_NAME: Final = 200


def make_score_notice(store: Store, base_url: str, server: ServerId, before: str, after: str) -> bytes | None:
    """The message if a score or grade of a server differs between two published runs; else None.

    `judged_otherwise` says that rules or code differ too, so that the change need not come from the server.
    """
    shown, earlier = read_public_server(store, after, server), read_public_server(store, before, server)
    if shown is None or earlier is None:
        return None
    cards = shown.scorecards
    changed = [one for one in compare_receipts(earlier.scorecards, cards) if one.before not in {None, one.after}]
    if not changed:
        return None
    known = shown.dossier.server
    document: dict[str, Json] = {
        "type": NOTICE_TYPE,
        "timestamp": cards[0].as_of.isoformat(),
        "data": {
            "server": {
                "id": known.id,
                "ref": make_visible(known.ref, limit=_LONGEST_NAME),
                "name": make_visible(known.name, limit=_LONGEST_NAME),
                "url": f"{base_url}/servers/{known.id}",
            },
            "run": after,
            "before_run": before,
            "scores": [_score(one, _card(cards, one)) for one in changed],
        },
    }
    return canonical_json(document)


def _card(cards: Sequence[Scorecard], of: Comparison) -> Scorecard:
    return next(card for card in cards if (card.rubric, card.version) == (of.rubric, of.version))


def _score(one: Comparison, card: Scorecard) -> dict[str, Any]:
    return {
        "rubric": one.rubric,
        "version": one.version,
        "before": _side(one.before),
        "after": _side(one.after),
        "points": None if one.points is None else json_number(one.points),
        "turn": one.turn and one.turn.value,
        "coverage": json_share(card.coverage),
        "judged_otherwise": one.judged_otherwise,
    }


def _side(side: ReceiptResult | None) -> dict[str, Json] | None:
    """Score and grade of a side; a missing score is None, not 0."""
    if side is None:
        return None
    return {"score": None if side.score is None else json_number(side.score), "grade": side.grade}
