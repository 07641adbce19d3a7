"""What need not be asked again of a process: it is the same, contained alike, and cut off from what changes outside."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from crawler.collectors.protocol.carrying import CARRIED_FROM
from crawler.collectors.protocol.caution import Policy
from crawler.collectors.protocol.probe import Finding
from crawler.collectors.protocol.processes import is_same
from crawler.collectors.protocol.trials import NO_TIME
from crawler.wire.launch import CONTAINING
from evidence.canonical import Json, NotJson
from evidence.kinds import listing, trials
from evidence.kinds.trials import Outcome, Trials, WhyNot
from evidence.model import Absent, Dossier, Observed

LONGEST: Final = timedelta(days=14)

_LAYER: Final = "layer"
_OPENED: Final = "opened"


def kept_trials(
    earlier: Dossier,
    listed: Observed | Absent,
    facts: Mapping[str, Json],
    *,
    runtime: str,
    policy: Policy,
    at: datetime,
) -> Finding | None:
    """The trials of an earlier visit, when the same tools of the same package were tried by the same policy in a box.

    None when they are older than 14 days, met a call without an answer, or were cut short.
    """
    known = earlier.records.get(trials.KIND)
    if known is None or not isinstance(known.content, Observed) or runtime not in CONTAINING:
        return None
    if not _is_same(earlier, facts) or not are_equal(earlier.read(listing.KIND), listed):
        return None
    since = _since(known.observation.get(CARRIED_FROM), known.observed_at)
    if at - since > LONGEST or not _is_complete(known.content.body, policy):
        return None
    return known.content, {**known.observation, CARRIED_FROM: since.isoformat()}


def opened_before(earlier: Dossier, facts: Mapping[str, Json]) -> bool:
    """Whether the same package opened on an earlier visit, so that it is able to in this sandbox."""
    record = earlier.records.get(listing.KIND)
    if record is None or not _is_same(earlier, facts):
        return False
    return isinstance(record.content, Observed) or record.observation.get(_OPENED) is True


def are_equal(one: Observed | Absent, other: Observed | Absent) -> bool:
    """Whether two pieces of evidence say the same (docs/decisions/0001)."""
    if one.digest == other.digest or not (isinstance(one, Observed) and isinstance(other, Observed)):
        return one.digest == other.digest
    return one.canonical is not None and one.canonical == other.canonical


def _is_same(earlier: Dossier, facts: Mapping[str, Json]) -> bool:
    """Whether what is started consists of the same files, given the same; never known of a command."""
    record = earlier.records.get(listing.KIND)
    known = record.observation.get("facts") if record else None
    return bool(facts.get(_LAYER)) and isinstance(known, Mapping) and is_same(facts, known)


def _is_complete(body: bytes, policy: Policy) -> bool:
    try:
        found = Trials.parse(body)
    except NotJson:
        return False
    cut_short = any(row.reason == WhyNot.STOPPED or row.detail == NO_TIME for row in found.skipped)
    answered = all(row.outcome != Outcome.FAILURE for row in found.trials)
    return found.policy == policy.value and answered and not cut_short


def _since(stated: Json, otherwise: datetime) -> datetime:
    try:
        return datetime.fromisoformat(stated) if isinstance(stated, str) else otherwise
    except ValueError:
        return otherwise
