"""The Store: one method per question or change, each one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from evidence.kinds.samples import Sample
from evidence.model import Absent, Dossier, Record, Server, ServerId, ServerRef
from evidence.store import schema_upgrade, verification
from evidence.store.changed_servers import ChangedServersReader
from evidence.store.community.claims import Claims
from evidence.store.community.disputes import Disputes
from evidence.store.community.tokens import ApiTokens
from evidence.store.community.webhooks import Webhooks
from evidence.store.database import Database
from evidence.store.decisions import disclosure as own_findings
from evidence.store.decisions.approvals import put_approval, read_approvals
from evidence.store.decisions.audit_trail import AuditTrail
from evidence.store.decisions.opt_outs import OptOuts
from evidence.store.errors import NotMigrated, StoreUnavailable
from evidence.store.listing.index import ListingIndex
from evidence.store.records import availability_samples as between_runs
from evidence.store.records import dossiers as evidence_records
from evidence.store.records.changes import read_changes
from evidence.store.retention.compaction import Compaction
from evidence.store.run_item_store import NO_NEXT_STAGES, RunItemStore
from evidence.store.run_store import RunStore
from evidence.store.runs import record_counts
from evidence.store.runs.full_probes import FullProbes
from evidence.store.runs.retests import Retests
from evidence.store.scores import scorecards
from evidence.store.servers import lookup as known_servers
from evidence.store.servers import registry_walks
from evidence.store.values import (
    Approval,
    DetectedFinding,
    Disclosure,
    EvidenceChange,
    FindingRow,
    FindingState,
    RegistryWalk,
    Stage,
    StoredScorecard,
)


def open_store(url: str) -> Store:
    """The store at `sqlite:///PATH` or `postgresql+psycopg://...`; nothing is opened before it is used."""
    return Store(Database(url))


class Store(RunStore, RunItemStore):
    """Versioned evidence. Every writing method may be repeated: a replay changes nothing. Threads may share it."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.retests = Retests(database)
        self.full_probes = FullProbes(database)
        self.opt_outs = OptOuts(database)
        self.compaction = Compaction(database)
        self.listing = ListingIndex(database)
        self.changed_servers = ChangedServersReader(database)
        self.disputes = Disputes(database)
        self.claims = Claims(database)
        self.api_tokens = ApiTokens(database)
        self.webhooks = Webhooks(database)
        self.audit = AuditTrail(database)

    def migrate(self) -> None:
        """Create or upgrade the tables; several processes may do so at once."""
        if not self._is_current():
            with self._database.migration_transaction() as connection:
                schema_upgrade.upgrade_schema(connection)

    def read_transaction(self) -> AbstractContextManager[None]:
        """Let all that this thread reads within the block be one transaction, where many small questions are asked."""
        return self._database.at_once()

    def close(self) -> None:
        """Close the connections."""
        self._database.close()

    def verify(self) -> list[str]:
        """Recompute every digest and follow every reference; what is wrong, or an empty list."""
        with self._database.reading() as connection:
            return verification.verify_store(connection)

    # Discovery

    def find_walk(self, run_id: str, registry: str) -> RegistryWalk:
        """How far a run's walk over a registry has come."""
        with self._database.reading() as connection:
            return registry_walks.find_walk(connection, run_id, registry)

    def put_registry_page(
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
            registry_walks.put_registry_page(connection, run_id, registry, refs, cursor=cursor, done=done, at=at)

    def record_walk_failure(self, run_id: str, registry: str, error: str, at: datetime) -> None:
        """Note why a walk stopped; the next page clears it."""
        with self._database.writing() as connection:
            registry_walks.record_walk_failure(connection, run_id, registry, error, at)

    def mark_unseen_deleted(self, run_id: str, registry: str) -> int:
        """After a walk over a whole registry: mark what it did not see as deleted; the number of entries."""
        with self._database.writing() as connection:
            return registry_walks.mark_unseen_deleted(connection, run_id, registry)

    def find_watermark(self, registry: str) -> datetime | None:
        """When the newest complete walk over a registry began."""
        with self._database.reading() as connection:
            return registry_walks.find_watermark(connection, registry)

    def set_watermark(self, registry: str, at: datetime) -> None:
        """Note when a complete walk began; never moves back."""
        with self._database.writing() as connection:
            registry_walks.set_watermark(connection, registry, at)

    # Servers

    def find_server(self, server_id: ServerId) -> Server | None:
        """One server."""
        found = self.find_servers([server_id])
        return found[0] if found else None

    def find_servers(self, ids: Sequence[ServerId]) -> list[Server]:
        """Those of the servers that are stored, sorted by id."""
        with self._database.reading() as connection:
            return known_servers.find_servers(connection, ids)

    def list_active_servers(self, registries: Sequence[str] | None = None) -> list[Server]:
        """Servers with a reference that is not deleted (an invalid one counts), sorted by id."""
        with self._database.reading() as connection:
            return known_servers.list_active_servers(connection, registries)

    def search_servers(self, text: str, limit: int = 20) -> list[Server]:
        """Servers by exact id, ref or name; if there are none, by a part of ref or name."""
        with self._database.reading() as connection:
            return known_servers.search_servers(connection, text, limit)

    def find_refs(self, servers: Sequence[ServerId]) -> dict[ServerId, list[ServerRef]]:
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
        onward: Mapping[ServerId, Stage] = NO_NEXT_STAGES,
    ) -> None:
        """Store records and mark a stage of `done`, in one transaction; the first of a kind stays.

        After a part of collecting, servers go on to the part that `onward` names, or are collected.
        """
        with self._database.writing() as connection:
            evidence_records.put_records(connection, run_id, records, done=done, at=at, stage=stage, onward=onward)

    def read_dossiers(self, run_id: str, servers: Sequence[ServerId]) -> list[Dossier]:
        """Dossiers in the order asked; raise CorruptBlob when a body does not match its digest."""
        with self._database.reading() as connection:
            return evidence_records.read_dossiers(connection, run_id, servers)

    def read_absences(self, run_id: str, kind: str) -> dict[ServerId, Absent]:
        """Why servers of a run have no payload of a kind, without reading any body."""
        with self._database.reading() as connection:
            return record_counts.read_absences(connection, run_id, kind)

    def read_earlier(self, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, Dossier]:
        """The newest dossier of each server before this run, of those that have one."""
        with self._database.reading() as connection:
            return evidence_records.read_earlier(connection, run_id, servers)

    def read_retested(self, run_id: str, servers: Sequence[ServerId], since: datetime) -> dict[ServerId, Dossier]:
        """The dossier of each server in its newest finished re-test before this run, as of `since` or later."""
        with self._database.reading() as connection:
            return evidence_records.read_retested(connection, run_id, servers, since)

    def read_earlier_observed(
        self, run_id: str, servers: Sequence[ServerId], kind: str, since: datetime
    ) -> dict[ServerId, Dossier]:
        """The newest dossier of each server before this run, as of `since` or later, in which a kind was observed."""
        with self._database.reading() as connection:
            return evidence_records.read_earlier_observed(connection, run_id, servers, kind, since)

    def find_unchanged(self, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, str]:
        """The newest earlier run with equal pins that scored a server, of those with equal evidence in both runs."""
        changes = self.read_changes(run_id, servers)
        return {server: change.run for server, change in changes.items() if not change.kinds}

    def read_changes(self, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, EvidenceChange]:
        """What is new since the newest earlier run with equal pins that scored a server, of those that have one."""
        with self._database.reading() as connection:
            return read_changes(connection, run_id, servers)

    def read_digests(self, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, dict[str, str]]:
        """The digest of every record of these servers by kind, in the order of kinds, without reading any body."""
        with self._database.reading() as connection:
            return evidence_records.read_digests(connection, run_id, servers)

    # Visits between runs

    def put_probes(self, visits: Sequence[tuple[ServerId, Sample | None]], at: datetime) -> None:
        """Store attempts to connect, `at` for those that gave no sample; the first of a server at one moment stays."""
        with self._database.writing() as connection:
            between_runs.put_probes(connection, visits, at)

    def read_samples(self, servers: Sequence[ServerId], since: datetime) -> dict[ServerId, list[Sample]]:
        """The samples after a moment of those servers that have any, oldest first."""
        with self._database.reading() as connection:
            return between_runs.read_samples(connection, servers, since)

    def read_last_probe_times(self) -> dict[ServerId, datetime]:
        """When each server that was visited between runs was visited last."""
        with self._database.reading() as connection:
            return between_runs.read_last_probe_times(connection)

    def delete_probes(self, before: datetime) -> None:
        """Drop attempts to connect before a moment."""
        with self._database.writing() as connection:
            between_runs.delete_probes(connection, before)

    # Scorecards

    def put_scorecards(
        self, run_id: str, cards: Sequence[StoredScorecard], *, done: Sequence[ServerId] = (), at: datetime
    ) -> None:
        """Store scorecards and mark the score stage of `done`, in one transaction; the first of a version stays."""
        with self._database.writing() as connection:
            scorecards.put_scorecards(connection, run_id, cards, done=done, at=at)

    def read_scorecards(
        self,
        run_id: str,
        *,
        servers: Sequence[ServerId] | None = None,
        rubric: str | None = None,
        version: int | None = None,
    ) -> list[StoredScorecard]:
        """Scorecards of a run, sorted by server, rubric and version."""
        with self._database.reading() as connection:
            return scorecards.read_scorecards(connection, run_id, servers=servers, rubric=rubric, version=version)

    # Findings of our own scans

    def put_findings(self, found: Sequence[DetectedFinding], seen: datetime) -> int:
        """Store new findings in private triage and the newest date of known ones; how many are new."""
        with self._database.writing() as connection:
            return own_findings.put_findings(connection, found, seen)

    def read_findings(
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

    def transition_finding(self, finding: str, change: Disclosure) -> FindingRow:
        """Change a finding's state, with its entry in the audit trail; raise IllegalTransition or UnknownFinding."""
        return self.transition_findings({finding: change})[0]

    def transition_findings(self, changes: Mapping[str, Disclosure]) -> list[FindingRow]:
        """The same for several findings, in their order: all are changed, or none."""
        with self._database.writing() as connection:
            return [own_findings.transition_finding(connection, finding, change) for finding, change in changes.items()]

    def read_finding_trail(self, findings: Sequence[str]) -> dict[str, list[Disclosure]]:
        """Every change of these findings, oldest first."""
        with self._database.reading() as connection:
            return own_findings.read_finding_trail(connection, findings)

    def put_approval(self, approval: Approval) -> None:
        """Store that an operator approved a listing."""
        with self._database.writing() as connection:
            put_approval(connection, approval)

    def read_approvals(self, server: ServerId | None = None) -> list[Approval]:
        """The approved listings of one server or all, oldest first."""
        with self._database.reading() as connection:
            return read_approvals(connection, server)

    def _is_current(self) -> bool:
        try:
            with self._database.reading() as connection:
                return schema_upgrade.is_schema_current(connection)
        except StoreUnavailable:  # There is no folder yet. If the database is really away, migrating says so.
            return False
        except NotMigrated:
            with self._database.reading() as connection:
                schema_upgrade.refuse_foreign_database(connection)
            return False
