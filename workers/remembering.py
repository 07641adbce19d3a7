"""What a collector is told of earlier runs: the last one, and of a server that was out of order then the one before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from crawler.collectors.protocol.carrying import LONGEST
from evidence.kinds import access, exchanges, listing
from evidence.model import Absent, Dossier, Run, ServerId
from evidence.store import Store
from workers.light_checks import with_samples

# They are read together: exchanges refer to results in the listing of their own night.
_OF_ONE_NIGHT: Final = (listing.KIND, exchanges.KIND, access.KIND)


def earlier(store: Store, run: Run, servers: Sequence[ServerId], now: datetime) -> Mapping[ServerId, Dossier]:
    """The newest dossier of each server before this run, with the samples taken since.

    A night on which a server did not open tells nothing of how it speaks, and must not end what a full probe found: of
    such a server the conversation is that of the last night, within 14 days, on which it did open.
    """
    known = with_samples(store, store.earlier(run.id, servers), now)
    mute = [server for server, dossier in known.items() if isinstance(dossier.read(exchanges.KIND), Absent)]
    spoken = store.earlier_observed(run.id, mute, exchanges.KIND, now - LONGEST) if mute else {}
    return {**known, **{server: _with_conversation(known[server], spoken[server]) for server in spoken}}


def _with_conversation(newest: Dossier, spoken: Dossier) -> Dossier:
    told = {kind: record for kind in _OF_ONE_NIGHT if (record := spoken.records.get(kind)) is not None}
    return replace(newest, records={**newest.records, **told})
