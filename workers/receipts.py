"""Scorecards as the store keeps them: dossiers in, receipts out, in a thread of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal
from functools import partial

from evidence.model import Dossier, ServerId
from evidence.store import StoredCard
from scoring import catalogue
from scoring.assess import assess
from scoring.receipt import encode
from scoring.rubric import Rubric
from scoring.scorecard import Scorecard


def score_all(
    dossiers: Sequence[Dossier], rubrics: Sequence[Rubric] | None = None
) -> tuple[list[StoredCard], Mapping[ServerId, Exception]]:
    """The receipts of all rubrics (or some) for every dossier, and what was raised for those that have none.

    A future holds what a rule raised without anybody having to catch it: one rule's bug must neither be swallowed nor
    stop the other servers, and a server with a failing rule gets no receipt at all.
    """
    judge = score_one if rubrics is None else partial(score_one, rubrics=rubrics)
    with ThreadPoolExecutor(1, thread_name_prefix="score") as thread:
        futures = {dossier.server.id: thread.submit(judge, dossier) for dossier in dossiers}
    errors = {server: error for server, future in futures.items() if (error := _raised(future)) is not None}
    cards = [card for server, future in futures.items() if server not in errors for card in future.result()]
    return cards, errors


def score_one(dossier: Dossier, rubrics: Sequence[Rubric] | None = None) -> list[StoredCard]:
    """One dossier's receipts, one per version of each rubric, or of some."""
    assessment = assess(dossier, rubrics)
    return [_stored(rubric.score(assessment)) for rubric in rubrics or catalogue.rubrics()]


def _stored(card: Scorecard) -> StoredCard:
    return StoredCard(
        server=card.server,
        rubric=card.rubric,
        version=card.version,
        score=card.score if isinstance(card.score, Decimal) else None,
        grade=card.grade,
        body=encode(card),
    )


def _raised(future: Future[list[StoredCard]]) -> Exception | None:
    error = future.exception()
    if error is not None and not isinstance(error, Exception):
        raise error
    return error
