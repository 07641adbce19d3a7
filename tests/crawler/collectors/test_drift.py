"""The deriver records one drift a run, and an operator's approval reaches it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from crawler.collectors.drift import DriftDeriver
from evidence.derive.listing_scan import scan_listing_cached
from evidence.derive.poisoning import Hit
from evidence.kinds.drift import Drift
from evidence.kinds.listing import Listing
from evidence.model import Absent, Observed
from tests.evidence.test_drift import MAIL, NIGHT, POISON, READ, SERVER, changed, dossier, listing


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


@pytest.mark.parametrize(("version", "scans"), [(DriftDeriver.version, 0), (DriftDeriver.version - 1, 1)])
def test_an_unchanged_listing_is_scanned_again_only_for_other_patterns(
    version: int, scans: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, scanned = listing(changed(READ, description=POISON)), []
    (last,) = DriftDeriver().derive(dossier(listing=content), dossier(), NIGHT)
    earlier = dossier(listing=content)
    earlier = replace(earlier, records={**earlier.records, "drift": replace(last, collector_version=version)})

    def watched(seen: Listing) -> tuple[Hit, ...]:
        scanned.append(seen)
        return scan_listing_cached(seen)

    monkeypatch.setattr("evidence.derive.drift.scan_listing_cached", watched)
    (record,) = DriftDeriver().derive(dossier(listing=content), earlier, NIGHT)
    assert (record.content, len(scanned)) == (last.content, scans)


def test_without_a_listing_there_is_no_drift() -> None:
    (record,) = DriftDeriver().derive(dossier(), dossier(), NIGHT)
    assert isinstance(record.content, Absent)
    assert record.observation == {}


@pytest.mark.parametrize(("tool", "clean"), [(READ, {"clean": True}), (changed(READ, description=POISON), {})])
def test_a_record_tells_the_listing_that_it_was_made_of_and_whether_the_scan_found_nothing(
    tool: dict[str, Any], clean: dict[str, bool]
) -> None:
    content = listing(tool)
    (record,) = DriftDeriver().derive(dossier(listing=content), dossier(), NIGHT)
    assert record.observation == {"listing": content.digest, **clean}


def test_a_record_that_stays_valid_does_not_claim_a_scan_of_its_own_run() -> None:
    content = listing(READ)
    (first,) = DriftDeriver().derive(dossier(listing=content), dossier(), NIGHT)
    earlier = dossier(listing=content)
    earlier = replace(earlier, records={**earlier.records, "drift": first})
    for found in (dossier(listing=content), dossier()):
        (record,) = DriftDeriver().derive(found, earlier, NIGHT)
        assert record.content is first.content
        assert record.observation == {"listing": content.digest}


def test_a_record_of_another_listing_is_not_taken_for_this_one() -> None:
    before, now = listing(READ), listing(READ, MAIL)
    (first,) = DriftDeriver().derive(dossier(listing=before), dossier(), NIGHT)
    earlier = dossier(listing=now)
    earlier = replace(earlier, records={**earlier.records, "drift": first})
    (record,) = DriftDeriver().derive(dossier(listing=now), earlier, NIGHT)
    assert isinstance(record.content, Observed)
    assert next(change.at for change in Drift.parse(record.content.body).changes).startswith("tools/send_mail")
