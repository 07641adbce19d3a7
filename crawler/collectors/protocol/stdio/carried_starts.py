"""Carries the records of an earlier start of a package, when a start tonight would be the same.

Each package is nevertheless started on one night in seven, and every night until several starts in a row had one
outcome. Carried records keep their time and state it as `carried_from`; no attempt to connect is added.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Final, TypeAlias

from msgspec.structs import replace

from crawler.collectors.earlier_values import CARRIED_FROM
from crawler.collectors.protocol.probes.carry_over import HALF_A_DAY, WEEK
from crawler.collectors.protocol.samples.sample_window import roll_sample_window
from crawler.collectors.protocol.stdio.trial_reuse import is_same_evidence
from evidence.canonical import Json, sha256
from evidence.kinds import listing, samples
from evidence.model import Absent, Dossier, Observed, Reason, Record, ServerId, Target

StartIdentity: TypeAlias = Callable[[Target], Awaitable[str | None]]
"""What a start of a package runs, what contains it, and our code; None when that is not known without installing it."""

ENOUGH_STARTS: Final = 3
"""Starts with one outcome before it is carried; `connection-unstable` judges no server with fewer attempts."""

_STARTED_AS: Final = "started_as"
_SAME_STARTS: Final = "same_starts"
_LASTING: Final = frozenset(
    {Reason.START_FAILED, Reason.CREDENTIALS_REQUIRED, Reason.SANDBOX_RESTRICTED, Reason.TRANSPORT_UNSUPPORTED}
)
"""Failures that the same start in the same sandbox repeats; others may be of the moment or ours."""

_NOT_STARTED: Final = Absent(Reason.NOT_COLLECTED, "an unchanged package was not started")


def name_start(identity: str, target: Target, *conditions: str) -> str:
    """The name of a start: equal for two starts that nothing but chance tells apart."""
    return sha256(repr((identity, target, conditions)).encode("utf-8", "replace"))


def note_start(name: str, content: Observed | Absent, earlier: Dossier) -> Mapping[str, Json]:
    """The observation with which a later night decides: the name, and how many starts in a row had this outcome."""
    known = earlier.records.get(listing.KIND)
    same = known is not None and _name(known) == name and is_same_evidence(known.content, content)
    return {_STARTED_AS: name, _SAME_STARTS: 1 + (_count(known) if same and known is not None else 0)}


def carry_records(
    name: str, earlier: Dossier, kinds: Collection[str], at: datetime, *, is_only_target: bool
) -> list[Record] | None:
    """The records of the earlier start; None when the package has to be started.

    A failure is carried only of a server's only target: after it another one is tried.
    """
    known = earlier.records.get(listing.KIND)
    if known is None or _name(known) != name or _count(known) < ENOUGH_STARTS:
        return None
    if isinstance(known.content, Absent) and not (is_only_target and known.content.reason in _LASTING):
        return None
    if is_start_due(earlier.server.id, known.observed_at, at):
        return None
    records = [record for kind in kinds if (record := earlier.records.get(kind)) is not None]
    # Records of several times were put together because the newest start failed, or because of a re-test.
    times = {record.observed_at for record in records if record.kind != samples.KIND}
    if len(records) < len(kinds) or times != {known.observed_at} or _has_failed_attempt(earlier):
        return None
    return [_carried(record, at) for record in records]


def is_start_due(server: ServerId, started: datetime, at: datetime) -> bool:
    """Whether it is the server's weekday in UTC, or its last start is about a week old."""
    return at.astimezone(UTC).weekday() == int(server[-8:], 16) % 7 or not (started <= at < started + WEEK - HALF_A_DAY)


def _carried(record: Record, at: datetime) -> Record:
    if record.kind == samples.KIND:
        content, window = roll_sample_window(record, _NOT_STARTED, at=at, cold_ms=None, warm_ms=None)
        return replace(record, content=content, observation=window, observed_at=at)
    since = record.observation.get(CARRIED_FROM, record.observed_at.isoformat())
    return replace(record, observation={**record.observation, CARRIED_FROM: since})


def _has_failed_attempt(earlier: Dossier) -> bool:
    record = earlier.records[samples.KIND]
    return any(sample.failure for sample in samples.read_samples(record.observation))


def _name(record: Record) -> str | None:
    name = record.observation.get(_STARTED_AS)
    return name if isinstance(name, str) else None


def _count(record: Record) -> int:
    count = record.observation.get(_SAME_STARTS)
    return count if isinstance(count, int) else 0
