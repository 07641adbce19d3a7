"""DriftDeriver: compares the listing of a run with the approved one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from crawler.collector import make_record
from evidence.canonical import Json
from evidence.derive.drift import ApprovalCheck, DerivedDrift, derive_drift, no_approval
from evidence.kinds import listing
from evidence.kinds.drift import CLEAN, KIND, LISTING
from evidence.model import Absent, Dossier, Record
from evidence.patterns import poisoning as patterns

VERSION: Final = 2 + patterns.VERSION
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
        derived = derive_drift(found, earlier, self._approved, same_version=same_version)
        return [make_record(self, found.server, KIND, derived.content, _observe(found, last, derived), at=at)]


def _observe(found: Dossier, last: Record | None, derived: DerivedDrift) -> Mapping[str, Json]:
    """The listing that a record was made of and whether it was found clean. A content that stays keeps its listing."""
    if last is not None and derived.content is last.content:
        return {name: last.observation[name] for name in (LISTING,) if name in last.observation}
    content = found.read(listing.KIND)
    if isinstance(content, Absent):
        return {}
    return {LISTING: content.digest, **({CLEAN: True} if derived.is_clean else {})}
