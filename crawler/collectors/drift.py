"""DriftDeriver: compares the listing of a run with the approved one."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from crawler.collector import make_record
from evidence.derive.drift import ApprovalCheck, derive_drift, no_approval
from evidence.kinds.drift import KIND
from evidence.model import Dossier, Record
from evidence.patterns import poisoning as patterns

VERSION: Final = 1 + patterns.VERSION
"""Grows with a change of this deriver or of the patterns whose signals its records hold."""


class DriftDeriver:
    """Deriver for kind `drift`. `approved` says by digest which listing of a server an operator has approved."""

    name: Final = "drift"
    version: Final = VERSION
    kinds: Final = (KIND,)

    def __init__(self, approved: ApprovalCheck = no_approval) -> None:
        self._approved = approved

    def derive(self, found: Dossier, earlier: Dossier, at: datetime) -> list[Record]:
        """One drift record; it is absent only when there is neither a listing nor an earlier record."""
        last = earlier.records.get(KIND)
        same_version = last is not None and last.collector_version == self.version
        content = derive_drift(found, earlier, self._approved, same_version=same_version)
        return [make_record(self, found.server, KIND, content, at=at)]
