"""DriftCollector: compares the listing of this run with the approved one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final

from evidence.derive.drift import Approval, derive, nobody
from evidence.kinds.drift import KIND, SCHEMA
from evidence.model import Dossier, Record

VERSION: Final = 1


class DriftCollector:
    """Follower for kind `drift`. `approved` says which listing of a server an operator has approved, by its digest."""

    name: Final = "drift"
    version: Final = VERSION
    kinds: Final = (KIND,)

    def __init__(self, clock: Callable[[], datetime], approved: Approval = nobody) -> None:
        self._clock = clock
        self._approved = approved

    async def follow(self, found: Dossier, earlier: Dossier) -> list[Record]:
        """One drift record: absent only when there is neither a listing nor an earlier record.

        Compared in a thread: a listing of a thousand tools takes seconds, and the other servers' answers would wait.
        """
        content = await asyncio.to_thread(derive, found, earlier, self._approved)
        return [
            Record(
                server=found.server.id,
                kind=KIND,
                schema=SCHEMA,
                collector=self.name,
                collector_version=self.version,
                observed_at=self._clock(),
                content=content,
            )
        ]
