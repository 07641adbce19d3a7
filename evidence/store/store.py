"""The Store: one method per question or change, each one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from evidence.kinds.samples import Sample
from evidence.model import Absent, Dossier, Record, Server, ServerId, ServerRef
from evidence.store import discovery, migrating, outcomes, scorecards, verification
from evidence.store import findings as own_findings
from evidence.store import records as evidence_records
from evidence.store import samples as between_runs
from evidence.store import servers as known_servers
from evidence.store.approvals import put_approval, read_approvals
from evidence.store.audit import Audit
from evidence.store.board import Board
from evidence.store.claims import Claims
from evidence.store.compacting import Compacting
from evidence.store.database import Database
from evidence.store.disputes import Disputes
from evidence.store.errors import NotMigrated, StoreUnavailable
from evidence.store.full_probes import FullProbes
from evidence.store.happened import Happenings
from evidence.store.item_store import NOBODY_BEGINS, ItemStore
from evidence.store.opt_outs import OptOuts
from evidence.store.retests import Retests
from evidence.store.rows import (
    Approval,
    Change,
    Disclosure,
    FindingRow,
    FindingState,
    Spotted,
    Stage,
    StoredCard,
    Walk,
)
from evidence.store.run_store import RunStore
from evidence.store.tokens import ApiTokens
from evidence.store.unchanged import read_changes
from evidence.store.webhooks import Webhooks


def open_store(url: str) -> Store:
    """The store at `sqlite:///PATH` or `postgresql+psycopg://...`; nothing is opened before it is used."""
    return Store(Database(url))


class Store(RunStore, ItemStore):
    """Versioned evidence. Every writing method may be repeated: a replay changes nothing. Threads may share it."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.retests = Retests(database)
        self.full_probes = FullProbes(database)
        self.opt_outs = OptOuts(database)
        self.compacting = Compacting(database)
        self.board = Board(database)
        self.happenings = Happenings(database)
        self.disputes = Disputes(database)
        self.claims = Claims(database)
        self.tokens = ApiTokens(database)
        self.webhooks = Webhooks(database)
        self.audit = Audit(database)

    def migrate(self) -> None:
        """Create or upgrade the tables; several processes may do so at once."""
        if not self._is_current():
            with self._database.migrating() as connection:
                migrating.upgrade(connection)

    def at_once(self) -> AbstractContextManager[None]:
        """Let all that this thread reads within the block be one transaction, where many small questions are asked."""
        return self._database.at_once()

    def close(self) -> None:
        """Close the connections."""
        self._database.close()

    def verify(self) -> list[str]:
        """Recompute every digest and follow every reference; what is wrong, or an empty list."""
        with self._database.reading() as connection:
            return verification.verify(connection)

    # Discovery

    def walk(self, run_id: str, registry: str) -> Walk:
        """How far a run's walk over a registry has come."""
        with self._database.reading() as connection:
            return discovery.find_walk(connection, run_id, registry)

    def put_page(
        self,
        run_id: str,
        registry: str,
        refs: Sequence[tuple[Server, ServerRef]],
        *,
        cursor: str | None,
        done: bool,
        at: datetime,
    ) -> None:
        """Store a page of a registry and advance the walk to `cursor`, in one transaction."""
        with self._database.writing() as connection:
            discovery.put_page(connection, run_id, registry, refs, cursor=cursor, done=done, at=at)

    def fail_walk(self, run_id: str, registry: str, error: str, at: datetime) -> None:
        """Note why a walk stopped; the next page clears it."""
        with self._database.writing() as connection:
            discovery.fail_walk(connection, run_id, registry, error, at)

    def retire_unseen(self, run_id: str, registry: str) -> int:
        """After a walk over a whole registry: mark what it did not see as deleted; the number of entries."""
        with self._database.writing() as connection:
            return discovery.retire_unseen(connection, run_id, registry)

    def watermark(self, registry: str) -> datetime | None:
        """When the newest complete walk over a registry began."""
        with self._database.reading() as connection:
            return discovery.find_watermark(connection, registry)

    def set_watermark(self, registry: str, at: datetime) -> None:
        """Note when a complete walk began; never moves back."""
        with self._database.writing() as connection:
            discovery.set_watermark(connection, registry, at)

    # Servers

    def server(self, server_id: ServerId) -> Server | None:
        """One server."""
        found = self.servers([server_id])
        return found[0] if found else None

    def servers(self, ids: Sequence[ServerId]) -> list[Server]:
        """Those of the servers that are stored, sorted by id."""
        with self._database.reading() as connection:
            return known_servers.find_servers(connection, ids)

    def active_servers(self, registries: Sequence[str] | None = None) -> list[Server]:
        """Servers with a reference that is not deleted (an invalid one counts), sorted by id."""
        with self._database.reading() as connection:
            return known_servers.active_servers(connection, registries)

    def find(self, text: str, limit: int = 20) -> list[Server]:
        """Servers by exact id, ref or name; if there are none, by a part of ref or name."""
        with self._database.reading() as connection:
            return known_servers.search(connection, text, limit)

    def refs(self, servers: Sequence[ServerId]) -> dict[ServerId, list[ServerRef]]:
        """The registry entries of each server, sorted by registry and name."""
        with self._database.reading() as connection:
            return known_servers.find_refs(connection, servers)

    # Evidence

    def put_records(
        self,
        run_id: str,
        records: Sequence[Record],
        *,
        done: Sequence[ServerId] = (),
        at: datetime,
        stage: Stage = Stage.COLLECT,
        onward: Mapping[ServerId, Stage] = NOBODY_BEGINS,
    ) -> None:
        """Store records and mark a stage of `done`, in one transaction; the first of a kind stays.

        After a part of collecting, servers go on to the part that `onward` names, or are collected.
        """
        with self._database.writing() as connection:
            evidence_records.put_records(connection, run_id, records, done=done, at=at, stage=stage, onward=onward)

    def dossiers(self, run_id: str, servers: Sequence[ServerId]) -> list[Dossier]:
        """Dossiers in the order asked; raise CorruptBlob when a body does not match its digest."""
        with self._database.reading() as connection:
            return evidence_records.read_dossiers(connection, run_id, servers)

    def absences(self, run_id: str, kind: str) -> dict[ServerId, Absent]:
        """Why servers of a run have no payload of a kind, without reading any body."""
        with self._database.reading() as connection:
            return outcomes.read_absences(connection, run_id, kind)

    def earlier(self, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, Dossier]:
        """The newest dossier of each server before this run, of those that have one."""
        with self._database.reading() as connection:
            return evidence_records.read_earlier(connection, run_id, servers)

    def retested(self, run_id: str, servers: Sequence[ServerId], since: datetime) -> dict[ServerId, Dossier]:
        """The dossier of each server in its newest finished re-test before this run, as of `since` or later."""
        with self._database.reading() as connection:
            return evidence_records.read_retested(connection, run_id, servers, since)

    def earlier_observed(
        self, run_id: str, servers: Sequence[ServerId], kind: str, since: datetime
    ) -> dict[ServerId, Dossier]:
        """The newest dossier of each server before this run, as of `since` or later, in which a kind was observed."""
        with self._database.reading() as connection:
            return evidence_records.read_earlier_observed(connection, run_id, servers, kind, since)

    def unchanged(self, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, str]:
        """The newest earlier run with equal pins that scored a server, of those with equal evidence in both runs."""
        changes = self.changes(run_id, servers)
        return {server: change.run for server, change in changes.items() if not change.kinds}

    def changes(self, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, Change]:
        """What is new since the newest earlier run with equal pins that scored a server, of those that have one."""
        with self._database.reading() as connection:
            return read_changes(connection, run_id, servers)

    def digests(self, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, dict[str, str]]:
        """The digest of every record of these servers by kind, in the order of kinds, without reading any body."""
        with self._database.reading() as connection:
            return evidence_records.read_digests(connection, run_id, servers)

    # Visits between runs

    def put_visits(self, visits: Sequence[tuple[ServerId, Sample | None]], at: datetime) -> None:
        """Store attempts to connect, `at` for those that gave no sample; the first of a server at one moment stays."""
        with self._database.writing() as connection:
            between_runs.put_visits(connection, visits, at)

    def samples(self, servers: Sequence[ServerId], since: datetime) -> dict[ServerId, list[Sample]]:
        """The samples after a moment of those servers that have any, oldest first."""
        with self._database.reading() as connection:
            return between_runs.read_samples(connection, servers, since)

    def last_visits(self) -> dict[ServerId, datetime]:
        """When each server that was visited between runs was visited last."""
        with self._database.reading() as connection:
            return between_runs.last_visits(connection)

    def forget_visits(self, before: datetime) -> None:
        """Drop attempts to connect before a moment."""
        with self._database.writing() as connection:
            between_runs.forget_visits(connection, before)

    # Scorecards

    def put_scorecards(
        self, run_id: str, cards: Sequence[StoredCard], *, done: Sequence[ServerId] = (), at: datetime
    ) -> None:
        """Store scorecards and mark the score stage of `done`, in one transaction; the first of a version stays."""
        with self._database.writing() as connection:
            scorecards.put_scorecards(connection, run_id, cards, done=done, at=at)

    def scorecards(
        self,
        run_id: str,
        *,
        servers: Sequence[ServerId] | None = None,
        rubric: str | None = None,
        version: int | None = None,
    ) -> list[StoredCard]:
        """Scorecards of a run, sorted by server, rubric and version."""
        with self._database.reading() as connection:
            return scorecards.read_scorecards(connection, run_id, servers=servers, rubric=rubric, version=version)

    # Findings of our own scans

    def put_findings(self, found: Sequence[Spotted], seen: datetime) -> int:
        """Store new findings in private triage and the newest date of known ones; how many are new."""
        with self._database.writing() as connection:
            return own_findings.put_findings(connection, found, seen)

    def findings(
        self,
        *,
        servers: Sequence[ServerId] | None = None,
        states: Sequence[FindingState] | None = None,
        rule: str | None = None,
        prefix: str = "",
    ) -> list[FindingRow]:
        """Findings by server, state, rule and the beginning of their id."""
        with self._database.reading() as connection:
            return own_findings.read_findings(connection, servers=servers, states=states, rule=rule, prefix=prefix)

    def move_finding(self, finding: str, change: Disclosure) -> FindingRow:
        """Change a finding's state, with its entry in the audit trail; raise IllegalTransition or UnknownFinding."""
        return self.move_findings({finding: change})[0]

    def move_findings(self, changes: Mapping[str, Disclosure]) -> list[FindingRow]:
        """The same for several findings, in their order: all are changed, or none."""
        with self._database.writing() as connection:
            return [own_findings.move_finding(connection, finding, change) for finding, change in changes.items()]

    def trail(self, findings: Sequence[str]) -> dict[str, list[Disclosure]]:
        """Every change of these findings, oldest first."""
        with self._database.reading() as connection:
            return own_findings.read_trail(connection, findings)

    def approve(self, approval: Approval) -> None:
        """Store that an operator approved a listing."""
        with self._database.writing() as connection:
            put_approval(connection, approval)

    def approvals(self, server: ServerId | None = None) -> list[Approval]:
        """The approved listings of one server or all, oldest first."""
        with self._database.reading() as connection:
            return read_approvals(connection, server)

    def _is_current(self) -> bool:
        try:
            with self._database.reading() as connection:
                return migrating.is_current(connection)
        except StoreUnavailable:  # There is no folder yet. If the database is really away, migrating says so.
            return False
        except NotMigrated:
            with self._database.reading() as connection:
                migrating.refuse_others(connection)
            return False
