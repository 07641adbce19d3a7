"""Reuse of earlier trials of a process that is the same, is contained in the same way, and has no network."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from crawler.collectors.earlier_values import CARRIED_FROM, read_time
from crawler.collectors.protocol.probes.probe import Finding
from crawler.collectors.protocol.stdio.processes import is_same_start
from crawler.collectors.protocol.trials.call_policy import CallPolicy
from crawler.collectors.protocol.trials.tool_trials import TIME_EXCEEDED
from evidence.canonical import Json, NotJson, sha256
from evidence.kinds import listing, trials
from evidence.kinds.listing import CONTAINING
from evidence.kinds.trials import SkipReason, TrialOutcome, Trials
from evidence.model import Absent, Dossier, Observed, Target

MAX_REUSE_AGE: Final = timedelta(days=14)

_LAYER: Final = "layer"
_FACTS: Final = "facts"
_GIVEN: Final = "given"
_OPENED: Final = "opened"


class ProcessStart(Struct, frozen=True):
    """What was started: stable facts about it, and a digest of its arguments and environment."""

    facts: Mapping[str, Json]
    given: str

    @staticmethod
    def from_launch(target: Target, facts: Mapping[str, Json]) -> ProcessStart:
        """The start of a target with the facts that its launcher gave."""
        return ProcessStart(
            facts, sha256(repr((target.arguments, sorted(target.environment))).encode("utf-8", "replace"))
        )

    @property
    def notes(self) -> Mapping[str, Json]:
        """The observation with which a later run compares; of a command, whose variables are its user's, only the
        facts.
        """
        return {_FACTS: dict(self.facts), **({_GIVEN: self.given} if self.facts.get(_LAYER) else {})}


def reuse_trials(
    earlier: Dossier, listed: Observed | Absent, start: ProcessStart, *, runtime: str, policy: CallPolicy, at: datetime
) -> Finding | None:
    """The trials of an earlier run, if the same tools of the same package were tried under the same policy in a
    sandbox.

    None when they are older than 14 days, include a call without an answer, or were cut short.
    """
    known = earlier.records.get(trials.KIND)
    if known is None or not isinstance(known.content, Observed) or runtime not in CONTAINING:
        return None
    if not _is_same(earlier, start) or not is_same_evidence(earlier.read(listing.KIND), listed):
        return None
    since = read_time(known, CARRIED_FROM) or known.observed_at
    if at - since > MAX_REUSE_AGE or not _is_complete(known.content.body, policy):
        return None
    return known.content, {**known.observation, CARRIED_FROM: since.isoformat()}


def has_opened_before(earlier: Dossier, start: ProcessStart) -> bool:
    """Whether the same package opened in an earlier run, so that it is able to in this sandbox."""
    record = earlier.records.get(listing.KIND)
    if record is None or not _is_same(earlier, start):
        return False
    return isinstance(record.content, Observed) or record.observation.get(_OPENED) is True


def is_same_evidence(one: Observed | Absent, other: Observed | Absent) -> bool:
    """Whether two contents are equal (docs/decisions/0001)."""
    if not (isinstance(one, Observed) and isinstance(other, Observed)):
        return one == other
    return one.digest == other.digest or (one.canonical is not None and one.canonical == other.canonical)


def _is_same(earlier: Dossier, start: ProcessStart) -> bool:
    """Whether the started files and inputs are those of the earlier record; never known of a command."""
    record = earlier.records.get(listing.KIND)
    if record is None or not start.facts.get(_LAYER):
        return False
    known = record.observation.get(_FACTS)
    return (
        isinstance(known, Mapping)
        and is_same_start(start.facts, known)
        and record.observation.get(_GIVEN) == start.given
    )


def _is_complete(body: bytes, policy: CallPolicy) -> bool:
    try:
        found = Trials.parse(body)
    except NotJson:
        return False
    cut_short = any(row.reason == SkipReason.STOPPED or row.detail == TIME_EXCEEDED for row in found.skipped)
    answered = all(row.outcome != TrialOutcome.FAILURE for row in found.trials)
    return found.policy == policy.value and answered and not cut_short
