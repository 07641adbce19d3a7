"""Scores dossiers in a thread and returns scorecards as the store keeps them.

With unchanged evidence and unchanged code the scorecards of the earlier run are reused, with another date. Of a dated
rubric those components are scored again whose answers the date or the changed evidence decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import partial

from evidence.derive.drift import is_of_listing
from evidence.derive.listing_scan import note_clean_listing
from evidence.kinds import drift, listing
from evidence.kinds.listing import Listing
from evidence.model import Dossier, Run, ServerId
from evidence.store import CorruptBlob, Store, StoredScorecard
from scoring.engine import catalogue
from scoring.engine.assess import ask_questions, assess_dossier
from scoring.engine.evidence_kinds import kinds_of_rubric
from scoring.engine.reuse import find_stale_questions
from scoring.engine.rubric import Rubric
from scoring.receipt import (
    NotAReceipt,
    decode_stored_scorecard,
    encode_scorecard,
    read_moment,
    replace_evidence_digests,
    replace_moment,
)
from scoring.results.scorecard import Scorecard
from workers.runs import pins


@dataclass(frozen=True, slots=True)
class ScoredBatch:
    """The scorecards of a batch, the exceptions of servers without any, for how many servers they were reused, and the
    dossiers that were read.
    """

    cards: Sequence[StoredScorecard]
    errors: Mapping[ServerId, Exception]
    looked_up: int
    dossiers: Sequence[Dossier] = ()


@dataclass(frozen=True, slots=True)
class Reusable:
    """What an earlier run gives: copies that are valid as they are, and receipts of dated rubrics to be revised."""

    copies: Sequence[StoredScorecard]
    dated: Sequence[StoredScorecard]
    changed: frozenset[str]
    evidence: Mapping[str, str]


def score_servers(store: Store, run: Run, servers: Sequence[ServerId]) -> ScoredBatch:
    """The scorecards of a run's servers: reused where neither code nor evidence changed, else scored.

    If any rubric fails, the server gets no scorecard at all.
    """
    reusable = find_reusable(store, run, servers)
    trusted = _is_code_known(run)
    known = {server: found.copies for server, found in reusable.items()}
    made: list[StoredScorecard] = []
    errors: dict[ServerId, Exception] = {}
    read: list[Dossier] = []
    for names, ids in _still_to_make(known, servers).items():
        rubrics = [rubric for rubric in catalogue.list_rubrics() if rubric.name in names]
        is_all = len(rubrics) == len(catalogue.list_rubrics())
        judge = partial(_revise_or_score, reusable=reusable, rubrics=None if is_all else rubrics)
        dossiers = store.read_dossiers(run.id, ids)
        if trusted:
            _note_clean_listings(dossiers)
        cards, raised = _judge_in_thread(dossiers, judge)
        read += dossiers
        made += cards
        errors |= raised
    copied = [card for server, found in known.items() if server not in errors for card in found]
    return ScoredBatch([*made, *copied], errors, len(known), read)


def find_reusable(store: Store, run: Run, servers: Sequence[ServerId]) -> dict[ServerId, Reusable]:
    """What an earlier run with the same pins gives for this run, by server.

    Copies are of undated rubrics that read no changed kind. Only complete sets are reused, and only when commit and
    source of the code are known. A server whose scorecard cannot be read is scored again.
    """
    if not _is_code_known(run):
        return {}
    by_run: dict[str, dict[ServerId, frozenset[str]]] = {}
    for server, change in store.read_changes(run.id, servers).items():
        by_run.setdefault(change.run, {})[server] = change.kinds
    evidence = store.read_digests(run.id, [server for changed in by_run.values() for server in changed])
    valid = {kinds: _list_valid(kinds) for kinds in {each for changed in by_run.values() for each in changed.values()}}
    return {
        server: reusable
        for earlier, changed in by_run.items()
        for server, found in _by_server(store, earlier, list(changed)).items()
        if (reusable := _reuse(found, changed[server], valid[changed[server]], run.as_of, evidence[server]))
    }


def _list_valid(changed: frozenset[str]) -> frozenset[tuple[str, int]]:
    """The undated rubric versions that read none of the changed kinds."""
    undated = [rubric for rubric in catalogue.list_rubrics() if not rubric.dated]
    return frozenset((rubric.id, rubric.version) for rubric in undated if not kinds_of_rubric(rubric) & changed)


def _is_code_known(run: Run) -> bool:
    """Whether the pins of a run name the code, so that equal pins mean equal code."""
    return pins.UNKNOWN not in {run.pins.get("commit", pins.UNKNOWN), run.pins.get("source", pins.UNKNOWN)}


def _note_clean_listings(dossiers: Sequence[Dossier]) -> None:
    """Spare rules the scan of listings that the collecting process, with the same code, scanned and found clean."""
    for dossier in dossiers:
        record = dossier.records.get(drift.KIND)
        if record is None or record.observation.get(drift.CLEAN) is not True:
            continue
        seen = dossier.parsed(listing.KIND, Listing.parse)
        if seen is not None and is_of_listing(record, dossier.read(listing.KIND).digest):
            note_clean_listing(seen)


def _still_to_make(
    known: Mapping[ServerId, Sequence[StoredScorecard]], servers: Sequence[ServerId]
) -> dict[frozenset[str], list[ServerId]]:
    """The servers by the names of the rubrics that they have no scorecard of yet."""
    every = {rubric.name for rubric in catalogue.list_rubrics()}
    found: dict[frozenset[str], list[ServerId]] = {}
    for server in servers:
        missing = every - {f"{card.rubric}@{card.version}" for card in known.get(server, ())}
        if missing:
            found.setdefault(frozenset(missing), []).append(server)
    return found


def _by_server(store: Store, run: str, servers: Sequence[ServerId]) -> dict[ServerId, list[StoredScorecard]]:
    found: dict[ServerId, list[StoredScorecard]] = {}
    try:
        for card in store.read_scorecards(run, servers=servers):
            found.setdefault(card.server, []).append(card)
    except CorruptBlob:
        return {}
    return found


def _reuse(
    cards: Sequence[StoredScorecard],
    changed: frozenset[str],
    valid: frozenset[tuple[str, int]],
    as_of: datetime,
    evidence: Mapping[str, str],
) -> Reusable | None:
    """What a complete set gives: copies with the new date and digests, and receipts of dated rubrics; else nothing."""
    rubrics = {(rubric.id, rubric.version): rubric for rubric in catalogue.list_rubrics()}
    if {(card.rubric, card.version) for card in cards} != rubrics.keys():
        return None
    try:
        copies = [_copy(card, as_of, evidence) for card in cards if (card.rubric, card.version) in valid]
    except NotAReceipt:
        return None
    if not copies:
        return None
    dated = [card for card in cards if rubrics[card.rubric, card.version].dated]
    return Reusable(copies, dated, changed, evidence)


def _copy(card: StoredScorecard, as_of: datetime, evidence: Mapping[str, str]) -> StoredScorecard:
    return replace(card, body=replace_evidence_digests(replace_moment(card.body, as_of), evidence))


def _revise_or_score(
    dossier: Dossier, *, reusable: Mapping[ServerId, Reusable], rubrics: Sequence[Rubric] | None
) -> list[StoredScorecard]:
    """The scorecards of all rubrics (or some) for one dossier, made from earlier ones where that is possible."""
    found = reusable.get(dossier.server.id)
    if rubrics is None or found is None:
        return score_dossier(dossier) if rubrics is None else score_dossier(dossier, rubrics)
    wanted = {(rubric.id, rubric.version): rubric for rubric in rubrics}
    revised = [
        made
        for card in found.dated
        if (rubric := wanted.get((card.rubric, card.version))) and (made := _revise(card, rubric, dossier, found))
    ]
    left = wanted.keys() - {(card.rubric, card.version) for card in revised}
    rest = [rubric for name, rubric in wanted.items() if name in left]
    return [*revised, *(score_dossier(dossier, rest) if rest else ())]


def _revise(card: StoredScorecard, rubric: Rubric, dossier: Dossier, reusable: Reusable) -> StoredScorecard | None:
    """The scorecard of a dated rubric from an earlier one; None when it has to be scored as a whole."""
    try:
        stale = find_stale_questions(rubric, dossier, reusable.changed, read_moment(card.body))
        if stale == ():
            return _copy(card, dossier.as_of, reusable.evidence)
        if stale is None or rubric.revise is None:
            return None
        made = rubric.revise(decode_stored_scorecard(card.body), ask_questions(dossier, stale))
    except NotAReceipt:
        return None
    return None if made is None else _stored(made)


def score_dossiers(
    dossiers: Sequence[Dossier], rubrics: Sequence[Rubric] | None = None
) -> tuple[list[StoredScorecard], Mapping[ServerId, Exception]]:
    """The scorecards of all rubrics (or some) for every dossier, and the exceptions of servers without any."""
    return _judge_in_thread(dossiers, score_dossier if rubrics is None else partial(score_dossier, rubrics=rubrics))


def _judge_in_thread(
    dossiers: Sequence[Dossier], judge: Callable[[Dossier], list[StoredScorecard]]
) -> tuple[list[StoredScorecard], Mapping[ServerId, Exception]]:
    """The scorecards of every dossier, and the exceptions of servers without any.

    Futures hold the exceptions of rules, so no broad `except` is needed: a bug in a rule is reported, does not stop the
    other servers, and leaves its server without a scorecard.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="score") as thread:
        futures = {dossier.server.id: thread.submit(judge, dossier) for dossier in dossiers}
    errors = {server: error for server, future in futures.items() if (error := _raised(future)) is not None}
    cards = [card for server, future in futures.items() if server not in errors for card in future.result()]
    return cards, errors


def score_dossier(dossier: Dossier, rubrics: Sequence[Rubric] | None = None) -> list[StoredScorecard]:
    """The scorecards of one dossier: one per version of each rubric, or of some."""
    assessment = assess_dossier(dossier, rubrics)
    return [_stored(rubric.score(assessment)) for rubric in rubrics or catalogue.list_rubrics()]


def _stored(card: Scorecard) -> StoredScorecard:
    return StoredScorecard(
        server=card.server,
        rubric=card.rubric,
        version=card.version,
        score=card.score if isinstance(card.score, Decimal) else None,
        grade=card.grade,
        body=encode_scorecard(card),
    )


def _raised(future: Future[list[StoredScorecard]]) -> Exception | None:
    error = future.exception()
    if error is not None and not isinstance(error, Exception):
        raise error
    return error
