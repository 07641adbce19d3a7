"""The follower records one drift a run, and an operator's approval reaches it."""

from __future__ import annotations

import asyncio
import threading

from crawler.collectors.drift import DriftCollector
from evidence.kinds.drift import Drift
from evidence.model import Absent, Observed
from tests.evidence.test_drift import NIGHT, POISON, READ, SERVER, changed, dossier, listing


def test_one_record_of_what_changed_since_the_approved_listing() -> None:
    earlier = dossier(listing=listing(READ))
    found = dossier(listing=listing(changed(READ, description=POISON)))
    (record,) = asyncio.run(DriftCollector(lambda: NIGHT).follow(found, earlier))
    assert (record.kind, record.server, record.observed_at) == ("drift", SERVER.id, NIGHT)
    assert isinstance(record.content, Observed)
    seen = Drift.parse(record.content.body)
    assert seen.alarm

    def approved(server: str, digest: str) -> bool:
        return (server, digest) == (SERVER.id, seen.listing)

    (record,) = asyncio.run(DriftCollector(lambda: NIGHT, approved).follow(found, earlier))
    assert isinstance(record.content, Observed)
    assert not Drift.parse(record.content.body).alarm


def test_without_a_listing_there_is_no_drift() -> None:
    (record,) = asyncio.run(DriftCollector(lambda: NIGHT).follow(dossier(), dossier()))
    assert isinstance(record.content, Absent)


def test_a_listing_is_compared_beside_the_event_loop() -> None:
    threads: list[threading.Thread] = []

    def approved(_server: str, _digest: str) -> bool:
        threads.append(threading.current_thread())
        return False

    asyncio.run(
        DriftCollector(lambda: NIGHT, approved).follow(dossier(listing=listing(READ)), dossier(listing=listing(READ)))
    )
    assert threading.main_thread() not in threads
    assert threads
