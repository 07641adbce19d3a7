"""DriftDeriver: compares the listing of a run with the approved one."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from crawler.collector import make_record
from evidence.derive.drift import ApprovalCheck, derive_drift, no_approval
from evidence.kinds.drift import KIND
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
        return [make_record(self, found.server, KIND, derive_drift(found, earlier, self._approved), at=at)]
