"""Scorecards as the store keeps them: dossiers in, receipts out, in a thread of their own.

Unchanged evidence under unchanged code costs a look-up: its receipts are those of the earlier night, of another date.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import partial

from evidence.model import Dossier, Run, ServerId
from evidence.store import CorruptBlob, Store, StoredCard
from scoring import catalogue
from scoring.assess import assess
from scoring.receipt import NotAReceipt, encode, redate
from scoring.rubric import Rubric
from scoring.scorecard import Scorecard
from workers import pins


@dataclass(frozen=True, slots=True)
class Judged:
    """The receipts of a batch, what was raised for servers that have none, and how many were looked up."""

    cards: Sequence[StoredCard]
    errors: Mapping[ServerId, Exception]
    looked_up: int


def judge(store: Store, run: Run, servers: Sequence[ServerId]) -> Judged:
    """The receipts of a run's servers: looked up where nothing changed, made anew elsewhere.

    A dated rubric is always scored anew. If that fails the server gets no receipt at all, not even the others.
    """
    known = look_up(store, run, servers)
    dated = [rubric for rubric in catalogue.rubrics() if rubric.dated]
    cards, errors = score_all(store.dossiers(run.id, [server for server in servers if server not in known]))
    again, late = score_all(store.dossiers(run.id, list(known)), dated) if dated and known else ([], {})
    copied = [card for server, found in known.items() if server not in late for card in found]
    return Judged([*cards, *again, *copied], {**errors, **late}, len(known))


def look_up(store: Store, run: Run, servers: Sequence[ServerId]) -> dict[ServerId, list[StoredCard]]:
    """For each server with the same evidence in an earlier run of the same pins, that run's undated receipts.

    Only whole sets count, and only between runs of code that can be named. A receipt that cannot be read is no reason
    to fail: the server is scored.
    """
    if pins.UNKNOWN in {run.pins.get("commit", pins.UNKNOWN), run.pins.get("source", pins.UNKNOWN)}:
        return {}
    by_run: dict[str, list[ServerId]] = {}
    for server, earlier in store.unchanged(run.id, servers).items():
        by_run.setdefault(earlier, []).append(server)
    return {
        server: cards
        for earlier, ids in by_run.items()
        for server, found in _by_server(store, earlier, ids).items()
        if (cards := _copies(found, run.as_of)) is not None
    }


def _by_server(store: Store, run: str, servers: Sequence[ServerId]) -> dict[ServerId, list[StoredCard]]:
    found: dict[ServerId, list[StoredCard]] = {}
    try:
        for card in store.scorecards(run, servers=servers):
            found.setdefault(card.server, []).append(card)
    except CorruptBlob:
        return {}
    return found


def _copies(cards: Sequence[StoredCard], as_of: datetime) -> list[StoredCard] | None:
    """The undated cards of a whole set, as of another moment; None when the set is not whole."""
    dated = {(rubric.id, rubric.version): rubric.dated for rubric in catalogue.rubrics()}
    if {(card.rubric, card.version) for card in cards} != dated.keys():
        return None
    try:
        undated = [card for card in cards if not dated[card.rubric, card.version]]
        return [replace(card, body=redate(card.body, as_of)) for card in undated]
    except NotAReceipt:
        return None


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
