"""Evidence of earlier runs for collectors: the newest run, and an older one where the newest could not observe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from crawler.collectors.protocol.probes.carry_over import MAX_CARRY_AGE
from evidence.kinds import exchanges
from evidence.kinds.traits import kinds_where, traits
from evidence.model import Absent, Dossier, Observed, Reason, Record, Run, ServerId
from workers.stages.availability_samples import add_samples

if TYPE_CHECKING:
    from evidence.store import Store

_OF_ONE_NIGHT: Final = tuple(sorted(kinds_where(lambda declared: declared.one_night)))
_CHAINED: Final = tuple(sorted(kinds_where(lambda declared: declared.chained)))

_LASTING: Final[Mapping[str, tuple[str, ...]]] = {
    leading: tuple(sorted(kinds_where(lambda declared, leading=leading: declared.stands_with == leading)))  # type: ignore[misc]
    for leading in sorted({declared.stands_with for declared in traits().values() if declared.stands_with})
}
"""Kinds that stay valid from an earlier run when this one could not collect them, by the absent kind."""

_OURS: Final = frozenset(
    {
        Reason.RATE_LIMITED,
        Reason.UNREACHABLE,
        Reason.TIMEOUT,
        Reason.COLLECTOR_ERROR,
        Reason.COLLECTOR_OFFLINE,
        Reason.QUARANTINED,
        Reason.NOT_COLLECTED,
    }
)
"""Reasons of absence that say nothing about the server."""

# Only records of `drift` hold the approved listing: a run that broke their chain would approve every change.
_BREAKS: Final = frozenset({Reason.COLLECTOR_ERROR, Reason.QUARANTINED, Reason.INVALID_REGISTRATION, Reason.OPTED_OUT})
_CHAINED_FOR: Final = timedelta(days=366)


def read_earlier_evidence(
    store: Store, run: Run, servers: Sequence[ServerId], now: datetime
) -> Mapping[ServerId, Dossier]:
    """The newest dossier of each server before this run, with the samples taken since.

    When a server did not connect in that run, its conversation is that of the newest run within 14 days in which it
    did. Likewise its package, repository and source, when Hallmark could not collect them. The approved listing comes
    from the newest run within a year that recorded one. A newer conversation of a re-test replaces the run's; other
    evidence of re-tests is not used (docs/decisions/0029).
    """
    known = add_samples(store, store.read_earlier(run.id, servers), now)
    mute = [server for server, dossier in known.items() if isinstance(dossier.read(exchanges.KIND), Absent)]
    spoken = store.read_earlier_observed(run.id, mute, exchanges.KIND, now - MAX_CARRY_AGE) if mute else {}
    merged = {**known, **{server: _with(known[server], spoken[server], _OF_ONE_NIGHT) for server in spoken}}
    merged = _with_retests(store, run, merged, now)
    for kind, kinds in _LASTING.items():
        blind = [server for server, dossier in merged.items() if _is_for(dossier, kind, _OURS)]
        seen = store.read_earlier_observed(run.id, blind, kind, now - MAX_CARRY_AGE) if blind else {}
        merged |= {server: _with(merged[server], seen[server], kinds) for server in seen}
    for kind in _CHAINED:
        broken = [server for server, dossier in merged.items() if _is_for(dossier, kind, _BREAKS)]
        linked = store.read_earlier_observed(run.id, broken, kind, now - _CHAINED_FOR) if broken else {}
        merged |= {server: _with(merged[server], linked[server], (kind,)) for server in linked}
    return merged


def _with_retests(store: Store, run: Run, merged: Mapping[ServerId, Dossier], now: datetime) -> dict[ServerId, Dossier]:
    """The dossiers with newer conversations of re-tests; otherwise a repair would be lost until the next full probe."""
    again = store.read_retested(run.id, list(merged), now - MAX_CARRY_AGE)
    newer = [server for server, dossier in again.items() if _spoke_at(dossier) > _spoke_at(merged[server])]
    return {**merged, **{server: _with(merged[server], again[server], _OF_ONE_NIGHT) for server in newer}}


def _spoke_at(dossier: Dossier) -> datetime:
    record = dossier.records.get(exchanges.KIND)
    spoke = record is not None and isinstance(record.content, Observed)
    return record.observed_at if record is not None and spoke else datetime.min.replace(tzinfo=UTC)


def is_recent_record(record: Record, now: datetime) -> bool:
    """Whether a record is still valid: its `looked_at` is at most 14 days ago (docs/decisions/0015)."""
    stated = record.observation.get("looked_at")
    try:
        return isinstance(stated, str) and now - datetime.fromisoformat(stated) <= MAX_CARRY_AGE
    except (ValueError, TypeError):
        return False


def _is_for(dossier: Dossier, kind: str, reasons: frozenset[Reason]) -> bool:
    """Whether a kind was recorded as absent for one of the reasons."""
    record = dossier.records.get(kind)
    return record is not None and isinstance(record.content, Absent) and record.content.reason in reasons


def _with(newest: Dossier, older: Dossier, kinds: Sequence[str]) -> Dossier:
    merged = {kind: record for kind in kinds if (record := older.records.get(kind)) is not None}
    return replace(newest, records={**newest.records, **merged})
