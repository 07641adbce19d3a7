"""Scores the stored evidence of a run again with the rules of this code, without the network.

The result is a new run with the same servers, evidence and date, and with other pinned versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from crawler.collector import Deriver
from crawler.collectors.derivers import DERIVERS, build_derivers
from evidence.canonical import canonical_json, sha256
from evidence.model import Dossier, Run, ServerId, Trigger
from evidence.store import RunRow, RunState, Stage, Store
from publish.publication import manifest
from publish.views.comparisons.score_moves import ScoreMove, find_moves
from scoring import receipt
from scoring.engine import catalogue
from scoring.engine.rubric import Rubric
from scoring.results.scorecard import Scorecard
from workers import retention
from workers.pipeline import SERVERS_PER_CHUNK, is_publishable
from workers.publication import finding_disclosure
from workers.runs import pins
from workers.runs.rescore_origin import build_rescore_options, find_origin_run
from workers.stages import earlier_evidence, scorecards
from workers.stages.approved_listings import read_approvals

_EVIDENCE = ("collector.", "evidence.")
# Derived evidence is derived again, so its pins are those of this code.
_DERIVED = frozenset(
    {f"collector.{deriver.name}" for deriver in DERIVERS}
    | {f"evidence.{kind}" for deriver in DERIVERS for kind in deriver.kinds}
)


class RescoreResult(Struct, frozen=True, kw_only=True):
    """`failed` maps servers without a scorecard to the exception of a rule; `dropped` counts servers whose records of
    that run were deleted by retention.
    """

    run: Run
    servers: int
    dropped: int
    failed: Mapping[ServerId, str]
    published: bool


class EvidenceExpired(Exception):
    """The records of a run were deleted, so it cannot be scored again; the message says when."""


def score_run_again(
    store: Store,
    source: RunRow,
    *,
    rubrics: Sequence[Rubric] = (),
    commit: str = "",
    wall: Callable[[], datetime],
    progress: Callable[[int], None] = lambda _: None,
) -> RescoreResult:
    """Score every collected server of a run again, with `rubrics` or all of them, and publish the result as a new run.

    The same request with the same code gives the same run: a repeated call does nothing, and a call after a crash
    resumes. `progress` gets the number of servers of every batch. Raise EvidenceExpired when no record is left.
    """
    run = plan_rescore(source.run, rubrics, commit, find_origin_run(source))
    waiting = set(store.list_pending_servers(source.run.id, Stage.COLLECT))
    collected = [server for server in store.list_planned_servers(source.run.id) if server not in waiting]
    servers = _select_with_records(store, source.run.id, collected)
    store.add_run(run, options=build_rescore_options(source, rubrics))
    store.plan_run(run.id, servers, wall())
    scoring = _Scoring(
        store=store,
        source=source.run,
        run=run.id,
        rubrics=rubrics,
        derivers=build_derivers(read_approvals(store)),
        wall=wall,
    )
    failed: dict[ServerId, str] = {}
    for batch in _batches(store.list_pending_servers(run.id, Stage.SCORE)):
        failed |= scoring.score(batch)
        progress(len(batch))
    dropped = len(collected) - len(servers)
    published = _publish(store, run, wall)
    return RescoreResult(run=run, servers=len(servers), dropped=dropped, failed=failed, published=published)


def plan_rescore(source: Run, rubrics: Sequence[Rubric], commit: str, first: str) -> Run:
    """The new run: collectors stay pinned as they were; rules, rubrics and derivers are pinned as they are here."""
    kept = {name: version for name, version in source.pins.items() if name.startswith(_EVIDENCE)}
    here = pins.read_current_pins([], commit)
    judging = {
        name: version
        for name, version in here.items()
        if name in _DERIVED or not name.startswith((*_EVIDENCE, "rubric."))
    }
    names = [f"rubric.{rubric.name}" for rubric in rubrics or catalogue.list_rubrics()]
    pinned = dict(sorted({**kept, **judging, **{name: here[name] for name in names}}.items()))
    identity = {name: version for name, version in pinned.items() if name not in {"code", "commit", "source"}}
    return Run(
        id=f"{first}-r{sha256(canonical_json(identity))[:8]}", trigger=Trigger.LOCAL, as_of=source.as_of, pins=pinned
    )


def compare_runs(store: Store, before: str, after: str) -> Iterator[ScoreMove]:
    """Yield changed scores between two runs with the same evidence, sorted by server id; reads in batches."""
    for batch in _batches(store.list_planned_servers(after)):
        old, new = (_cards(store, run, batch) for run in (before, after))
        for server in batch:
            yield from find_moves(old.get(server, []), new.get(server, []))


class _Scoring(Struct, frozen=True, kw_only=True):
    """Scores batches of one run's evidence into another run."""

    store: Store
    source: Run
    run: str
    rubrics: Sequence[Rubric]
    derivers: Sequence[Deriver]
    wall: Callable[[], datetime]

    def score(self, batch: Sequence[ServerId]) -> dict[ServerId, str]:
        """Write records and scorecards of a batch; return the errors of servers for which a rule raised.

        Bodies are shared with the source run by digest, so a server needs one small row per kind.
        """
        before = earlier_evidence.read_earlier_evidence(self.store, self.source, batch, self.source.as_of)
        dossiers = [
            _derive_again(dossier, before, self.derivers) for dossier in self.store.read_dossiers(self.source.id, batch)
        ]
        records = [record for dossier in dossiers for record in dossier.records.values()]
        self.store.put_records(self.run, records, done=batch, at=self.wall())
        cards, errors = scorecards.score_dossiers(dossiers, self.rubrics or None)
        scored = [server for server in batch if server not in errors]
        finding_disclosure.record_findings(self.store, self.run, cards)
        self.store.put_scorecards(self.run, cards, done=scored, at=self.wall())
        failed = {server: f"{type(error).__name__}: {error}" for server, error in errors.items()}
        for server, error in failed.items():
            self.store.record_failure(self.run, server, Stage.SCORE, error)
        return failed


def _select_with_records(store: Store, run: str, servers: Sequence[ServerId]) -> Sequence[ServerId]:
    """The servers whose records of the run still exist; the others cannot be scored again."""
    compaction = store.compaction.find_dropped_records(run)
    if compaction is None or not compaction.record_sets:
        return servers
    known = [server for batch in _batches(servers) for server, kinds in store.read_digests(run, batch).items() if kinds]
    if not known:
        raise EvidenceExpired(
            f"expected records of run {run}; they were dropped by {compaction.at:%Y-%m-%d}, as those of old runs are. "
            "Its receipts are kept. One run of every week keeps its records and can be scored again."
        )
    return known


def _derive_again(dossier: Dossier, before: Mapping[ServerId, Dossier], derivers: Sequence[Deriver]) -> Dossier:
    """The dossier with all derived kinds derived again by this code.

    Where the earlier run has no record of a derived kind, its listing is compared instead.
    """
    earlier = before.get(dossier.server.id) or Dossier(server=dossier.server, as_of=dossier.as_of)
    for deriver in derivers:
        derived = {record.kind: record for record in deriver.derive(dossier, earlier, dossier.as_of)}
        dossier = replace(dossier, records={**dossier.records, **derived})
    return dossier


def _publish(store: Store, run: Run, wall: Callable[[], datetime]) -> bool:
    stored = store.find_run(run.id)
    if stored is not None and stored.state is RunState.PUBLISHED:
        return True
    if not is_publishable(store.read_progress(run.id)):
        return False
    store.put_snapshot(run.id, manifest.make_manifest(store, run.id), wall())
    store.set_run_state(run.id, RunState.PUBLISHED, wall())
    retention.drop_done_items(store, run.id)
    return True


def _cards(store: Store, run: str, batch: Sequence[ServerId]) -> dict[ServerId, list[Scorecard]]:
    found: dict[ServerId, list[Scorecard]] = {}
    for card in store.read_scorecards(run, servers=batch):
        found.setdefault(card.server, []).append(receipt.decode_scorecard(card.body))
    return found


def _batches(servers: Sequence[ServerId]) -> Iterator[Sequence[ServerId]]:
    for start in range(0, len(servers), SERVERS_PER_CHUNK):
        yield servers[start : start + SERVERS_PER_CHUNK]
