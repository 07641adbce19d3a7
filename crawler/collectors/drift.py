"""DriftDeriver: compares the listing of a run with the approved one."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from evidence.derive.drift import ApprovalCheck, derive_drift, no_approval
from evidence.kinds.drift import KIND, SCHEMA
from evidence.model import Dossier, Record

VERSION: Final = 1


class DriftDeriver:
    """Deriver for kind `drift`. `approved` says by digest which listing of a server an operator has approved."""

    name: Final = "drift"
    version: Final = VERSION
    kinds: Final = (KIND,)

    def __init__(self, approved: ApprovalCheck = no_approval) -> None:
        self._approved = approved

    def derive(self, found: Dossier, earlier: Dossier, at: datetime) -> list[Record]:
        """One drift record; it is absent only when there is neither a listing nor an earlier record."""
        return [
            Record(
                server=found.server.id,
                kind=KIND,
                schema=SCHEMA,
                collector=self.name,
                collector_version=self.version,
                observed_at=at,
                content=derive_drift(found, earlier, self._approved),
            )
        ]
