from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from crawler.sandbox.boxes.egress_relay import NO_ENDPOINTS
from crawler.sandbox.boxes.relay_listener import RelayedBubblewrap
from evidence.kinds import access, listing
from evidence.kinds.access import ACCEPTED
from evidence.model import Observed, Reason
from evidence.store import Store
from publish.disclosure import PRIVATE_KINDS, PUBLIC_KINDS, PublicRecords, WithheldServer, disclose_dossier
from publish.views import public_servers
from scoring import receipt
from scoring.engine.rule import discover_rules
from tests.publish import observed, samples


def test_a_contained_server_is_shown_with_its_public_kinds() -> None:
    shown = disclose_dossier(samples.dossiers(1)[0])
    assert isinstance(shown, PublicRecords)
    assert list(shown.records) == ["listing", "registration"]


def test_an_unclassified_kind_is_not_shown() -> None:
    dossier = samples.dossiers(1)[0]
    secret = replace(dossier.records[listing.KIND], kind="secrets")
    shown = disclose_dossier(replace(dossier, records={**dossier.records, "secrets": secret}))
    assert isinstance(shown, PublicRecords)
    assert "secrets" not in shown.records


def test_every_kind_that_a_score_is_made_from_is_shown_or_private_by_decision() -> None:
    read = {rule.reads for rule in discover_rules().values()}
    assert read <= PUBLIC_KINDS | PRIVATE_KINDS
    assert not PUBLIC_KINDS & PRIVATE_KINDS
    shown = disclose_dossier(observed.talkative())
    assert isinstance(shown, PublicRecords)
    assert set(shown.records) == set(observed.talkative().records) <= PUBLIC_KINDS


def test_what_a_visit_to_a_lock_saw_is_not_shown_of_any_server() -> None:
    """The status of the question with an invalid token is in it, and what came of that in the body."""
    opened, held = (observed.locked_out(bogus=bogus) for bogus in ((200, ACCEPTED), (401, "oauth_required")))
    assert opened.records[access.KIND].observation
    shown, other = disclose_dossier(opened), disclose_dossier(held)
    assert isinstance(shown, PublicRecords) and isinstance(other, PublicRecords)
    assert shown.records[access.KIND].observation == {}
    assert opened.records[access.KIND].digest != held.records[access.KIND].digest
    assert shown.records[access.KIND].digest == other.records[access.KIND].digest


def test_a_receipt_cites_the_public_body_of_a_lock(make_store: Callable[..., Store]) -> None:
    """The omitted part has few possible values: the rest and the digest of the whole would be enough to guess it."""
    dossier = observed.locked_out(bogus=(200, ACCEPTED))
    whole = dossier.records[access.KIND].digest
    shown = next(public_servers.read_public_servers(make_store([dossier]), samples.RUN.id))
    public = shown.dossier.records[access.KIND].digest
    assert whole != public
    assert not [card for card in shown.cards if whole.encode() in card.body]
    cited = [receipt.decode_scorecard(card.body).evidence.get(access.KIND) for card in shown.cards]
    assert set(cited) <= {public, None}


@pytest.mark.parametrize("runtime", ["none", RelayedBubblewrap(NO_ENDPOINTS).name])
def test_evidence_of_a_run_that_was_not_contained_is_withheld(runtime: str) -> None:
    assert isinstance(disclose_dossier(samples.unsandboxed_dossier(runtime)), WithheldServer)


def test_a_listing_that_cannot_be_read_back_is_withheld() -> None:
    dossier = samples.dossiers(1)[0]
    broken = replace(dossier.records[listing.KIND], content=Observed(b"{"))
    assert isinstance(disclose_dossier(replace(dossier, records={listing.KIND: broken})), WithheldServer)


def test_an_absence_is_shown() -> None:
    assert isinstance(disclose_dossier(samples.absent_dossier(Reason.OAUTH_REQUIRED)), PublicRecords)


def test_what_was_seen_with_an_operators_credentials_is_withheld() -> None:
    dossier = samples.dossiers(1)[0]
    entered = replace(dossier.records[listing.KIND], observation={"credentials": "configured"})
    assert isinstance(
        disclose_dossier(replace(dossier, records={**dossier.records, listing.KIND: entered})), WithheldServer
    )
