"""The Store: one method for each question or change. The functions that the methods call document them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from evidence.model import Server, ServerId
from evidence.store import host_schedule, schema_upgrade, verification
from evidence.store.changed_servers import ChangedServersReader
from evidence.store.community.claims import Claims
from evidence.store.community.disputes import Disputes
from evidence.store.community.tokens import ApiTokens
from evidence.store.community.webhooks import Webhooks
from evidence.store.database import Database
from evidence.store.decisions import approvals, disclosure, opinions
from evidence.store.decisions.audit_trail import AuditTrail
from evidence.store.decisions.opt_outs import OptOuts
from evidence.store.errors import NotMigrated, StoreUnavailable
from evidence.store.leases import leasing, progress, reopening
from evidence.store.listing.index import ListingIndex
from evidence.store.records import availability_samples, changes, dossiers
from evidence.store.retention.compaction import Compaction
from evidence.store.runs import operator_actions, record_counts, run_states
from evidence.store.runs.full_probes import FullProbes
from evidence.store.runs.publication_parts import PublicationParts
from evidence.store.runs.retests import Retests
from evidence.store.scores import scorecards
from evidence.store.servers import lookup, registry_walks
from evidence.store.transactions import DatabaseAccess, read_method, write_method
from evidence.store.values import Disclosure, FindingRow, PlanPosition, Stage


def open_store(url: str) -> Store:
    """The store at `sqlite:///PATH` or `postgresql+psycopg://...`; it connects when it is first used."""
    return Store(Database(url))


class Store(DatabaseAccess):
    """Versioned evidence. Every writing method may be repeated: a replay changes nothing. Threads may share it.

    Times (`now`) come from PostgreSQL itself where leases are concerned; on SQLite the caller's are used.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.retests = Retests(database)
        self.full_probes = FullProbes(database)
        self.opt_outs = OptOuts(database)
        self.compaction = Compaction(database)
        self.listing = ListingIndex(database)
        self.publication = PublicationParts(database)
        self.changed_servers = ChangedServersReader(database)
        self.disputes = Disputes(database)
        self.claims = Claims(database)
        self.api_tokens = ApiTokens(database)
        self.webhooks = Webhooks(database)
        self.audit = AuditTrail(database)

    def migrate(self) -> None:
        """Create or upgrade the tables; several processes may call this at once."""
        if not self._is_current():
            with self._database.migration_transaction() as connection:
                schema_upgrade.upgrade_schema(connection)

    def read_transaction(self) -> AbstractContextManager[None]:
        """Run all reads of this thread within the block in one transaction: cheaper for many small queries."""
        return self._database.shared_reading()

    def close(self) -> None:
        self._database.close()

    verify = read_method(verification.verify_store)

    # Registries
    find_walk = read_method(registry_walks.find_walk)
    list_walks = read_method(registry_walks.list_walks)
    put_registry_page = write_method(registry_walks.put_registry_page)
    record_walk_failure = write_method(registry_walks.record_walk_failure)
    mark_unseen_deleted = write_method(registry_walks.mark_unseen_deleted)
    find_watermark = read_method(registry_walks.find_watermark)
    set_watermark = write_method(registry_walks.set_watermark)

    # Servers
    find_servers = read_method(lookup.find_servers)
    list_active_servers = read_method(lookup.list_active_servers)
    list_servers_by_host = read_method(lookup.list_servers_by_host)
    list_hosts = read_method(lookup.list_hosts)
    find_named_or_remote = read_method(lookup.find_named_or_remote)
    search_servers = read_method(lookup.search_servers)
    find_refs = read_method(lookup.find_refs)

    def find_server(self, server_id: ServerId) -> Server | None:
        found = self.find_servers([server_id])
        return found[0] if found else None

    # Runs
    read_database_time = read_method(operator_actions.read_database_time)
    add_run = write_method(run_states.add_run)
    find_run = read_method(run_states.find_run)
    list_runs = read_method(run_states.list_runs)
    list_unfinished_runs = read_method(run_states.list_unfinished_runs)
    set_run_state = write_method(run_states.set_run_state)
    apply_run_action = write_method(operator_actions.apply_run_action)
    reopen_run = write_method(reopening.reopen_run)
    read_run_events = read_method(operator_actions.read_run_events)
    publish_run = write_method(operator_actions.publish_run)
    put_snapshot = write_method(run_states.put_snapshot)
    find_snapshot = read_method(run_states.find_snapshot)

    # Items of a run
    def plan_run(
        self,
        run_id: str,
        servers: Sequence[ServerId],
        at: datetime,
        *,
        first: Mapping[ServerId, Stage] = progress.NO_STAGES,
        starts: Mapping[ServerId, datetime] = progress.NO_START_TIMES,
        carried: Collection[ServerId] = frozenset(),
        before: PlanPosition | None = None,
        after: PlanPosition | None = None,
        last: bool = True,
    ) -> bool:
        """Add a part to the plan of a run, which is `after` it; the `last` part moves the run to `planned`.

        Where a fleet collects in parts, `first` names the part that a server begins with and `starts` its earliest
        time. `carried` servers are collected at once: their last evidence, whatever its age, becomes this run's.
        False, and nothing is changed, when the run is not at the position `before`, or is planned or stopped.
        """
        with self._database.writing() as connection:
            chosen = set(carried)
            if not progress.move_plan(connection, run_id, at, before=before, after=after, last=last):
                return False
            progress.add_items(connection, run_id, servers, first=first, starts=starts, carried=chosen)
            host_schedule.carry_evidence_forward(connection, run_id, sorted(chosen), at)
            return True

    def release_expired_leases(
        self, run_id: str, now: datetime, *, gone: Collection[str] = (), most: int = 1_000
    ) -> Mapping[Stage, int]:
        """Release leases that expired or whose holders are `gone`, `most` in a transaction; the number by stage."""
        freed: Counter[Stage] = Counter()
        while True:
            with self._database.writing() as connection:
                found = leasing.release_expired_leases(connection, run_id, now, most, gone)
            freed.update(found)
            if sum(found.values()) < most:
                return dict(freed)

    list_planned_servers = read_method(progress.list_planned_servers)
    list_pending_servers = read_method(progress.list_pending_servers)
    lease_servers = write_method(leasing.lease_servers)
    read_tokens = read_method(leasing.read_tokens)
    renew_leases = write_method(leasing.renew_leases)
    excuse_expiry = write_method(leasing.excuse_expiry)
    release_leases = write_method(leasing.release_leases)
    postpone_servers = write_method(leasing.postpone_servers)
    list_crash_suspects = read_method(leasing.list_crash_suspects)
    list_lease_holders = read_method(leasing.list_lease_holders)
    count_due_servers = read_method(leasing.count_due_servers)
    record_failure = write_method(progress.record_failure)
    list_failures = read_method(progress.list_failures)
    count_open_servers = read_method(progress.count_open_servers)
    read_progress = read_method(progress.read_progress)
    read_last_collection_times = read_method(host_schedule.read_last_collection_times)
    list_carried_servers = read_method(host_schedule.list_carried_servers)
    find_progress_time = read_method(host_schedule.find_progress_time)
    count_held_items = read_method(host_schedule.count_held_items)
    list_postponed_servers = read_method(host_schedule.list_postponed_servers)
    count_probes_without_evidence = read_method(host_schedule.count_probes_without_evidence)

    # Evidence
    put_records = write_method(dossiers.put_records)
    read_dossiers = read_method(dossiers.read_dossiers)
    find_absence = read_method(record_counts.find_absence)
    read_absences = read_method(record_counts.read_absences)
    read_earlier = read_method(dossiers.read_earlier)
    read_retested = read_method(dossiers.read_retested)
    read_earlier_observed = read_method(dossiers.read_earlier_observed)
    read_changes = read_method(changes.read_changes)
    read_digests = read_method(dossiers.read_digests)

    def find_unchanged(self, run_id: str, servers: Sequence[ServerId]) -> dict[ServerId, str]:
        """The newest earlier run with equal pins that scored a server, of those with equal evidence in both runs."""
        found = self.read_changes(run_id, servers)
        return {server: change.run for server, change in found.items() if not change.kinds}

    # Probes between runs
    put_probes = write_method(availability_samples.put_probes)
    read_samples = read_method(availability_samples.read_samples)
    read_last_probe_times = read_method(availability_samples.read_last_probe_times)
    delete_probes = write_method(availability_samples.delete_probes)

    # Scorecards
    put_scorecards = write_method(scorecards.put_scorecards)
    mend_scorecards = write_method(scorecards.mend_scorecards)
    read_scorecards = read_method(scorecards.read_scorecards)
    list_receipt_versions = read_method(scorecards.list_receipt_versions)

    # Findings of our own scans
    put_findings = write_method(disclosure.put_findings)
    confirm_findings = write_method(disclosure.confirm_findings)
    read_findings = read_method(disclosure.read_findings)
    transition_findings = write_method(disclosure.transition_findings)
    read_finding_trail = read_method(disclosure.read_finding_trail)
    put_approval = write_method(approvals.put_approval)
    read_approvals = read_method(approvals.read_approvals)
    put_opinions = write_method(opinions.put_opinions)
    read_opinions = read_method(opinions.read_opinions)
    drop_opinions = write_method(opinions.drop_opinions)

    def transition_finding(self, finding: str, change: Disclosure) -> FindingRow:
        """`transition_findings` for one finding."""
        return self.transition_findings({finding: change})[0]

    def _is_current(self) -> bool:
        try:
            with self._database.reading() as connection:
                return schema_upgrade.is_schema_current(connection)
        except StoreUnavailable:  # The folder does not exist yet; any other cause fails again in `migrate`.
            return False
        except NotMigrated:
            with self._database.reading() as connection:
                schema_upgrade.refuse_foreign_database(connection)
            return False
