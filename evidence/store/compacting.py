"""The part of the Store that keeps less of old nights: each method is one short transaction, and may be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from evidence.store import sweeping, thinning
from evidence.store.database import Database
from evidence.store.sweeping import Marks, Swept
from evidence.store.thinning import Thinned


class Compacting:
    """Thins old runs and sweeps what nothing needs. See workers/compacting.py for the order."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def runs(self, before: datetime) -> list[str]:
        """Runs over since before a moment of which records are still to be dropped, oldest first."""
        with self._database.reading() as connection:
            return thinning.runs_to_thin(connection, before)

    def droppable(self, run: str) -> int:
        """How many visits of a run would be dropped."""
        with self._database.reading() as connection:
            return thinning.count_droppable(connection, run)

    def thin(self, run: str, at: datetime, *, limit: int, after: int = 0) -> tuple[int, int | None]:
        """Drop visits of a run among the next `limit`: how many, and where to go on, None when it is done."""
        with self._database.writing() as connection:
            return thinning.thin(connection, run, at, limit, after)

    def thinned(self, run: str) -> Thinned | None:
        """What was dropped of a run; None before anything was looked for."""
        with self._database.reading() as connection:
            return thinning.find_thinned(connection, run)

    def marks(self) -> Marks:
        """What is needed of all bodies, read run by run."""
        with self._database.reading() as connection:
            marks, runs = sweeping.begin(connection), sweeping.runs(connection)
            sweeping.mark_entries(connection, marks)
        for run in runs:
            with self._database.reading() as connection:
                sweeping.mark_run(connection, marks, run)
        return marks

    def sweep(self, marks: Marks, part: Sequence[tuple[int, bool]], since: datetime) -> Swept:
        """Give up those bodies of a part that nothing written since `since` needs either. Nobody writes meanwhile."""
        with self._database.sweeping() as connection:
            return sweeping.sweep(connection, marks, part, since)
