"""The derivers: what is computed from the records of a run, and again when the run is rescored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from crawler.collector import Deriver
from crawler.collectors.drift import DriftDeriver
from evidence.derive.drift import ApprovalCheck

DERIVERS: Final[Sequence[type[DriftDeriver]]] = (DriftDeriver,)


def build_derivers(approved: ApprovalCheck) -> Sequence[Deriver]:
    """The derivers in the order in which they run. `approved` tells which listings an operator has approved."""
    return [deriver(approved) for deriver in DERIVERS]
