"""What a Store knows of runs: their states, their trail and their manifests."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from evidence.canonical import Json
from evidence.model import Run, Trigger
from evidence.store.database import Database
from evidence.store.leases import reopening
from evidence.store.runs import operator_actions, run_states
from evidence.store.values import RunEvent, RunRow, RunState


class RunStore:
    """Runs of one database, one transaction for each question or change."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read_database_time(self, otherwise: datetime) -> datetime:
        """The time that all workers share: PostgreSQL's clock, and `otherwise` on SQLite, which has one machine."""
        with self._database.reading() as connection:
            return operator_actions.read_database_time(connection, otherwise)

    def add_run(self, run: Run, *, options: Mapping[str, Json] | None = None) -> None:
        """Add a run in state `discovering`, unless its id is there already."""
        with self._database.writing() as connection:
            run_states.add_run(connection, run, options or {})

    def find_run(self, run_id: str) -> RunRow | None:
        """One run."""
        with self._database.reading() as connection:
            return run_states.find_run(connection, run_id)

    def list_runs(self, limit: int = 20, *, triggers: Collection[Trigger] = tuple(Trigger)) -> list[RunRow]:
        """Runs, or those of some triggers, newest first."""
        with self._database.reading() as connection:
            return run_states.list_runs(connection, limit, triggers)

    def list_unfinished_runs(self, trigger: Trigger) -> list[RunRow]:
        """Every run of a trigger that is not final, newest first."""
        with self._database.reading() as connection:
            return run_states.list_unfinished_runs(connection, trigger)

    def set_run_state(self, run_id: str, state: RunState, at: datetime, note: str = "") -> bool:
        """Move a run to a state that may follow its own; whether it was moved."""
        with self._database.writing() as connection:
            return run_states.set_run_state(connection, run_id, state, at, note)

    def apply_run_action(self, run_id: str, event: RunEvent) -> RunRow:
        """Pause, resume, withhold or end a run, with an entry in its trail; raise IllegalRunChange or UnknownRun."""
        with self._database.writing() as connection:
            return operator_actions.apply_run_action(connection, run_id, event)

    def reopen_run(self, run_id: str, event: RunEvent, *, kind: str, reasons: Collection[str]) -> int:
        """Go on with a withheld run, and look again at servers whose record of a kind is absent for one of the reasons.

        Returns how many those are; raises as `act`.
        """
        with self._database.writing() as connection:
            operator_actions.apply_run_action(connection, run_id, event)
            return reopening.reopen_servers(connection, run_id, kind, reasons)

    def read_run_events(self, run_id: str) -> list[RunEvent]:
        """The trail of a run, oldest first."""
        with self._database.reading() as connection:
            return operator_actions.read_run_events(connection, run_id)

    def publish_run(self, run_id: str, manifest: bytes, at: datetime, by: RunEvent | None = None) -> bool:
        """Store the manifest and mark the run published, unless it was stopped meanwhile; whether this published it.

        `by` is the entry in the trail of the operator who has it published.
        """
        with self._database.writing() as connection:
            return operator_actions.publish_run(connection, run_id, manifest, at, by)

    def put_snapshot(self, run_id: str, manifest: bytes, at: datetime) -> None:
        """Store the manifest of a published run; the first one stays."""
        with self._database.writing() as connection:
            run_states.put_snapshot(connection, run_id, manifest, at)

    def find_snapshot(self, run_id: str) -> bytes | None:
        """The manifest of a run, None before it is published."""
        with self._database.reading() as connection:
            return run_states.find_snapshot(connection, run_id)
