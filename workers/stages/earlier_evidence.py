"""What a collector is told of earlier runs: the last one, and of a server that was out of order then the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from crawler.collectors.protocol.probes.carry_over import MAX_CARRY_AGE
from evidence.kinds import exchanges
from evidence.kinds.traits import kinds_where, traits
from evidence.model import Absent, Dossier, Observed, Reason, Record, Run, ServerId
from evidence.store import Store
from workers.stages.availability_samples import add_samples

_OF_ONE_NIGHT: Final = tuple(sorted(kinds_where(lambda declared: declared.one_night)))
_CHAINED: Final = tuple(sorted(kinds_where(lambda declared: declared.chained)))

_LASTING: Final[Mapping[str, tuple[str, ...]]] = {
    leading: tuple(sorted(kinds_where(lambda declared, leading=leading: declared.stands_with == leading)))  # type: ignore[misc]
    for leading in sorted({declared.stands_with for declared in traits().values() if declared.stands_with})
}
"""The kinds that an earlier run still answers when this one could not look, by the kind that says that it could not."""

_OURS: Final = frozenset(
    {
        Reason.RATE_LIMITED,
        Reason.UNREACHABLE,
        Reason.TIMEOUT,
        Reason.COLLECTOR_ERROR,
        Reason.QUARANTINED,
        Reason.NOT_COLLECTED,
    }
)
"""Reasons that say more of us than of the world."""

# The approved listing lives in the records of `drift` alone: a run that breaks their chain would approve every change.
_BREAKS: Final = frozenset({Reason.COLLECTOR_ERROR, Reason.QUARANTINED, Reason.INVALID_REGISTRATION, Reason.OPTED_OUT})
_CHAINED_FOR: Final = timedelta(days=366)


def read_earlier_evidence(
    store: Store, run: Run, servers: Sequence[ServerId], now: datetime
) -> Mapping[ServerId, Dossier]:
    """The newest dossier of each server before this run, with the samples taken since.

    A night on which a server did not open tells nothing of how it speaks, and must not end what a full probe found: of
    such a server the conversation is that of the last night, within 14 days, on which it did open. Likewise what was
    last seen of its package, repository and source, when it was we who could not look since. The approved listing is
    that of the last night that told one, within a year. What was said in a re-test since then counts as said that
    night; nothing else of a re-test does (docs/decisions/0029).
    """
    known = add_samples(store, store.read_earlier(run.id, servers), now)
    mute = [server for server, dossier in known.items() if isinstance(dossier.read(exchanges.KIND), Absent)]
    spoken = store.read_earlier_observed(run.id, mute, exchanges.KIND, now - MAX_CARRY_AGE) if mute else {}
    told = {**known, **{server: _with(known[server], spoken[server], _OF_ONE_NIGHT) for server in spoken}}
    told = _with_retests(store, run, told, now)
    for kind, kinds in _LASTING.items():
        blind = [server for server, dossier in told.items() if _is_for(dossier, kind, _OURS)]
        seen = store.read_earlier_observed(run.id, blind, kind, now - MAX_CARRY_AGE) if blind else {}
        told |= {server: _with(told[server], seen[server], kinds) for server in seen}
    for kind in _CHAINED:
        broken = [server for server, dossier in told.items() if _is_for(dossier, kind, _BREAKS)]
        linked = store.read_earlier_observed(run.id, broken, kind, now - _CHAINED_FOR) if broken else {}
        told |= {server: _with(told[server], linked[server], (kind,)) for server in linked}
    return told


def _with_retests(store: Store, run: Run, told: Mapping[ServerId, Dossier], now: datetime) -> dict[ServerId, Dossier]:
    """The dossiers with newer conversations of re-tests, or a repair would be forgotten until the next full probe."""
    again = store.read_retested(run.id, list(told), now - MAX_CARRY_AGE)
    newer = [server for server, dossier in again.items() if _spoke_at(dossier) > _spoke_at(told[server])]
    return {**told, **{server: _with(told[server], again[server], _OF_ONE_NIGHT) for server in newer}}


def _spoke_at(dossier: Dossier) -> datetime:
    record = dossier.records.get(exchanges.KIND)
    spoke = record is not None and isinstance(record.content, Observed)
    return record.observed_at if record is not None and spoke else datetime.min.replace(tzinfo=UTC)


def is_recent_record(record: Record, now: datetime) -> bool:
    """Whether a record is at most 14 days old by its `looked_at`, so that it may stand (docs/decisions/0015)."""
    stated = record.observation.get("looked_at")
    try:
        return isinstance(stated, str) and now - datetime.fromisoformat(stated) <= MAX_CARRY_AGE
    except (ValueError, TypeError):
        return False


def _is_for(dossier: Dossier, kind: str, reasons: frozenset[Reason]) -> bool:
    """Whether a kind was recorded to be absent, for one of the reasons."""
    record = dossier.records.get(kind)
    return record is not None and isinstance(record.content, Absent) and record.content.reason in reasons


def _with(newest: Dossier, older: Dossier, kinds: Sequence[str]) -> Dossier:
    told = {kind: record for kind in kinds if (record := older.records.get(kind)) is not None}
    return replace(newest, records={**newest.records, **told})
