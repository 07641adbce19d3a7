"""Scores dossiers in a thread and returns scorecards as the store keeps them.

With unchanged evidence and unchanged code the scorecards of the earlier run are reused, with another date. Of a dated
rubric those components are scored again whose answers the date or the changed evidence decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from evidence.derive.drift import is_of_listing
from evidence.derive.listing_scan import note_clean_listing
from evidence.kinds import drift, listing, samples
from evidence.kinds.listing import Listing
from evidence.model import Dossier, Run, ServerId
from evidence.store import KeptReceipts, Store, StoredScorecard
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

Version: TypeAlias = tuple[str, int]
"""A rubric and its version."""

QUIET: Final = frozenset({samples.KIND})
"""Kinds that no private rule and no undated rubric reads. When others stay the same, so do all findings."""


class ScoredBatch(Struct, frozen=True):
    """The scorecards of a batch, the exceptions of servers without any, and the dossiers that were read.

    Servers keep some receipts of earlier runs besides. Those of `same_findings` have the findings of that run too.
    """

    cards: Sequence[StoredScorecard]
    errors: Mapping[ServerId, Exception]
    dossiers: Sequence[Dossier]
    kept: Mapping[ServerId, KeptReceipts]
    same_findings: frozenset[ServerId]

    @property
    def looked_up(self) -> int:
        """For how many servers receipts were reused."""
        return len(self.kept)


class Reusable(Struct, frozen=True):
    """What an earlier run gives: receipts that hold as they are, and scorecards of dated rubrics to be revised."""

    kept: KeptReceipts
    dated: Sequence[StoredScorecard]
    changed: frozenset[str]
    evidence: Mapping[str, str]


def score_servers(store: Store, run: Run, servers: Sequence[ServerId], *, anew: bool = False) -> ScoredBatch:
    """The scorecards of a run's servers: reused where neither code nor evidence changed, else scored, or all `anew`.

    If any rubric fails, the server gets no scorecard at all. Raise CorruptBlob when something stored cannot be read.
    """
    reusable = {} if anew else find_reusable(store, run, servers)
    trusted = _is_code_known(run)
    made: list[StoredScorecard] = []
    errors: dict[ServerId, Exception] = {}
    read: list[Dossier] = []
    for versions, ids in _still_to_make(reusable, servers).items():
        rubrics = [rubric for rubric in catalogue.list_rubrics() if (rubric.id, rubric.version) in versions]
        is_all = len(rubrics) == len(catalogue.list_rubrics())
        judge = partial(_revise_or_score, reusable=reusable, rubrics=None if is_all else rubrics)
        dossiers = store.read_dossiers(run.id, ids)
        if trusted:
            _note_clean_listings(dossiers)
        cards, raised = _judge_in_thread(dossiers, judge)
        read += dossiers
        made += cards
        errors |= raised
    valid = {server: found for server, found in reusable.items() if server not in errors}
    return ScoredBatch(
        cards=made,
        errors=errors,
        dossiers=read,
        kept={server: found.kept for server, found in valid.items()},
        same_findings=frozenset(server for server, found in valid.items() if found.changed <= QUIET),
    )


def mend_receipts(store: Store, run: Run, servers: Sequence[ServerId]) -> int:
    """Make the damaged receipts of servers in a run again from evidence; return how many were the same before."""
    cards, _ = score_dossiers(store.read_dossiers(run.id, servers))
    return store.mend_scorecards(run.id, cards)


def find_reusable(store: Store, run: Run, servers: Sequence[ServerId]) -> dict[ServerId, Reusable]:
    """What an earlier run with the same pins gives for this run, by server.

    Receipts of undated rubrics that read no changed kind are kept without being read. Only complete sets are reused,
    and only when commit and source of the code are known. Raise CorruptBlob when a dated scorecard cannot be read.
    """
    if not _is_code_known(run):
        return {}
    by_run: dict[str, dict[ServerId, frozenset[str]]] = {}
    for server, change in store.read_changes(run.id, servers).items():
        by_run.setdefault(change.run, {})[server] = change.kinds
    evidence = store.read_digests(run.id, [server for changed in by_run.values() for server in changed])
    found: dict[ServerId, Reusable] = {}
    for earlier, changed in by_run.items():
        kept = _find_kept(store, earlier, changed)
        dated = _read_dated(store, earlier, list(kept))
        for server, receipts in kept.items():
            found[server] = Reusable(receipts, dated[server], changed[server], evidence[server])
    return found


def _find_kept(store: Store, earlier: str, changed: Mapping[ServerId, frozenset[str]]) -> dict[ServerId, KeptReceipts]:
    """The receipts of complete sets that servers keep although some kinds of their evidence have changed."""
    every = {(rubric.id, rubric.version) for rubric in catalogue.list_rubrics()}
    valid = {kinds: _list_valid(kinds) for kinds in set(changed.values())}
    return {
        server: KeptReceipts(run=earlier, versions=versions)
        for server, stored in store.list_receipt_versions(earlier, list(changed)).items()
        if stored.keys() == every
        and (versions := valid[changed[server]])
        and all(stored[version] for version in versions)
    }


def _read_dated(store: Store, earlier: str, servers: Sequence[ServerId]) -> dict[ServerId, list[StoredScorecard]]:
    """The scorecards of dated rubrics by server."""
    found: dict[ServerId, list[StoredScorecard]] = {server: [] for server in servers}
    dated = {(rubric.id, rubric.version) for rubric in catalogue.list_rubrics() if rubric.dated}
    for rubric in sorted({name for name, _ in dated}):
        for card in store.read_scorecards(earlier, servers=servers, rubric=rubric):
            if (card.rubric, card.version) in dated:
                found[card.server].append(card)
    return found


def _list_valid(changed: frozenset[str]) -> frozenset[Version]:
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
    reusable: Mapping[ServerId, Reusable], servers: Sequence[ServerId]
) -> dict[frozenset[Version], list[ServerId]]:
    """The servers by the rubric versions of which they have no scorecard yet."""
    every = frozenset((rubric.id, rubric.version) for rubric in catalogue.list_rubrics())
    found: dict[frozenset[Version], list[ServerId]] = {}
    for server in servers:
        known = reusable.get(server)
        if missing := every if known is None else every - known.kept.versions:
            found.setdefault(missing, []).append(server)
    return found


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
