"""Filling a store with made-up dossiers and their hand-made receipts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from evidence.model import Dossier, Run, ServerRef, Status
from evidence.store import RunState, Store, StoredScorecard
from scoring import receipt
from scoring.results.scorecard import Scorecard
from tests.publish import samples


def stored(card: Scorecard) -> StoredScorecard:
    score = None if hasattr(card.score, "reason") else card.score
    return StoredScorecard(
        server=card.server,
        rubric=card.rubric,
        version=card.version,
        score=score,
        grade=card.grade,
        body=receipt.encode_scorecard(card),
    )


def score_by_hand(dossier: Dossier) -> list[StoredScorecard]:
    return [stored(card) for card in samples.cards(dossier)]


def fill(
    store: Store,
    dossiers: Sequence[Dossier],
    run: Run = samples.RUN,
    *,
    publish: bool = True,
    score: Callable[[Dossier], list[StoredScorecard]] = score_by_hand,
) -> None:
    """Put dossiers and their receipts, by default hand-made ones, into a store, as a finished run would."""
    store.add_run(run)
    refs = [ref for dossier in dossiers if (ref := (dossier.server, _ref(dossier)))]
    store.put_registry_page(run.id, "starter", refs, cursor=None, done=True, at=run.as_of)
    ids = [dossier.server.id for dossier in dossiers]
    store.plan_run(run.id, ids, run.as_of)
    records = [record for dossier in dossiers for record in dossier.records.values()]
    store.put_records(run.id, records, done=ids, at=run.as_of)
    cards = [card for dossier in dossiers for card in score(dossier)]
    store.put_scorecards(run.id, cards, done=ids, at=run.as_of)
    if publish:
        store.set_run_state(run.id, RunState.PUBLISHED, run.as_of)


def _ref(dossier: Dossier) -> ServerRef:
    server = dossier.server
    return ServerRef(registry="starter", name=server.name, version="1.0.0", status=Status.ACTIVE, entry=b"{}")
