"""The deriver records one drift a run, and an operator's approval reaches it."""

from __future__ import annotations

from crawler.collectors.drift import DriftDeriver
from evidence.kinds.drift import Drift
from evidence.model import Absent, Observed
from tests.evidence.test_drift import NIGHT, POISON, READ, SERVER, changed, dossier, listing


def test_one_record_of_what_changed_since_the_approved_listing() -> None:
    earlier = dossier(listing=listing(READ))
    found = dossier(listing=listing(changed(READ, description=POISON)))
    (record,) = DriftDeriver().derive(found, earlier, NIGHT)
    assert (record.kind, record.server, record.observed_at) == ("drift", SERVER.id, NIGHT)
    assert isinstance(record.content, Observed)
    seen = Drift.parse(record.content.body)
    assert seen.alarm

    def approved(server: str, digest: str) -> bool:
        return (server, digest) == (SERVER.id, seen.listing)

    (record,) = DriftDeriver(approved).derive(found, earlier, NIGHT)
    assert isinstance(record.content, Observed)
    assert not Drift.parse(record.content.body).alarm


def test_without_a_listing_there_is_no_drift() -> None:
    (record,) = DriftDeriver().derive(dossier(), dossier(), NIGHT)
    assert isinstance(record.content, Absent)
