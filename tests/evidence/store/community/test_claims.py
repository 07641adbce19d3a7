"""Stored tokens, claims and webhooks: validity, leases of due work, and limits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from msgspec.structs import replace

from evidence.store import Store
from evidence.store.community.claim_values import Claim, ClaimLimits, ClaimState, ProofMethod
from evidence.store.community.tokens import ApiToken
from evidence.store.community.webhook_values import Delivery, DeliveryState, Webhook
from evidence.store.decisions.audit_trail import AuditEntry
from tests.evidence.store.build import AS_OF, LATER, planned

LIMITS = ClaimLimits(of_client=10, since=AS_OF - timedelta(days=1), of_server=5, stale=AS_OF - timedelta(hours=1))
LEASE = timedelta(minutes=5)


def token(number: str = "0123456789ab", **changes: object) -> ApiToken:
    known: dict[str, object] = {"id": number, "name": "ci", "salt": b"\x00salt", "digest": b"d", "made_at": AS_OF}
    return ApiToken(**({"scopes": ("admin:disputes", "admin:audit")} | known | changes))  # type: ignore[arg-type]


def act(what: str, subject: str = "x", **changes: object) -> AuditEntry:
    return AuditEntry(at=LATER, who="op", what=what, subject=subject, **changes)  # type: ignore[arg-type]


@pytest.fixture
def server(store: Store) -> str:
    return planned(store, 1)[0].id


def claim(server: str, number: int = 1, **changes: object) -> Claim:
    known: dict[str, object] = {
        "id": f"clm_{number}",
        "server": server,
        "way": ProofMethod.DNS,
        "place": "_hallmark.a.example",
    }
    more: dict[str, object] = {"challenge": f"c{number}", "client": "ann", "asked_at": AS_OF, "due_at": AS_OF}
    return Claim(**(known | more | changes))  # type: ignore[arg-type]


def webhook(server: str, number: int = 1) -> Webhook:
    return Webhook(id=f"whk_{number}", server=server, url="https://a.example/", token="t", made_at=AS_OF, run="r1")


def message(hook: Webhook, number: int = 1) -> Delivery:
    return Delivery(
        id=f"dlv_{number}", webhook=hook.id, url=hook.url, run="r2", body=b"{}", made_at=AS_OF, due_at=AS_OF
    )


def test_a_token_counts_until_it_ends(store: Store) -> None:
    store.api_tokens.put_token(token(expires_at=LATER), act("token.new"))
    known = store.api_tokens.find_token("0123456789ab")
    assert known == token(expires_at=LATER)
    assert known is not None
    assert [known.is_valid(AS_OF), known.is_valid(LATER)] == [True, False]
    assert store.api_tokens.revoke_token(known.id, act("token.revoke"))
    assert not store.api_tokens.revoke_token(known.id, act("token.revoke"))
    ended = store.api_tokens.find_token(known.id)
    assert ended is not None
    assert not ended.is_valid(AS_OF)
    assert (store.api_tokens.list_tokens(), store.api_tokens.list_tokens(ended=True)) == ([], [ended])
    assert [one.what for one in store.audit.read_entries()] == ["token.revoke", "token.new"]


def test_the_last_use_is_kept_to_the_minute(store: Store) -> None:
    store.api_tokens.put_token(token(), act("token.new"))
    store.api_tokens.record_use(token(), LATER)
    known = store.api_tokens.find_token(token().id)
    assert known is not None
    assert known.used_at == LATER
    store.api_tokens.record_use(known, LATER + timedelta(seconds=30))
    assert store.api_tokens.find_token(token().id) == known


def test_an_owners_token_counts_while_its_claim_is_proven(store: Store, server: str) -> None:
    assert store.claims.put_claim(claim(server), token(), LIMITS)

    def counts() -> bool:
        known = store.api_tokens.find_token(token().id)
        assert known is not None
        assert known.claim == "clm_1"
        return known.is_valid(LATER)

    assert not counts()
    for state, expected in ((ClaimState.PROVEN, True), (ClaimState.LAPSED, False)):
        assert store.claims.record_check(claim(server, state=state, seen_at=LATER, note="found"))
        assert (counts(), store.claims.is_controlled(server)) == (expected, expected)
    assert not store.claims.record_check(claim(server, state=ClaimState.PROVEN))
    assert store.claims.list_claims(server=server) == []
    (over,) = store.claims.list_claims(server=server, ended=True)
    assert over == claim(server, state=ClaimState.LAPSED, seen_at=LATER, note="found")


def test_claims_are_few(store: Store, server: str) -> None:
    few = replace(LIMITS, of_client=2)
    started = [store.claims.put_claim(claim(server, n), token(f"{n:012x}"), few) for n in (1, 2, 3)]
    assert started == [True, True, False]
    others = [claim(server, n, client=f"c{n}") for n in range(4, 9)]
    assert [store.claims.put_claim(one, token(one.id), LIMITS) for one in others] == [True, True, True, False, False]
    assert store.api_tokens.find_token("clm_8") is None
    later = replace(LIMITS, stale=AS_OF)
    assert store.claims.put_claim(claim(server, 9, client="its owner"), token("9"), later)
    waiting = store.claims.list_claims(server=server)
    assert [one.id for one in waiting] == ["clm_9", "clm_6", "clm_5", "clm_4", "clm_2"]


def test_what_is_due_is_handed_out_once(store: Store, server: str) -> None:
    store.claims.put_claim(claim(server), token(), LIMITS)
    with ThreadPoolExecutor(4) as threads:
        taken = list(threads.map(lambda _: store.claims.lease_due(LATER, 10, LEASE), range(4)))
    assert sorted(map(len, taken)) == [0, 0, 0, 1]
    assert store.claims.lease_due(LATER + LEASE, 10, LEASE)
    assert store.claims.schedule_check("clm_1", AS_OF)
    assert store.claims.lease_due(LATER, 10, LEASE)


def test_a_webhook_gets_one_message_per_run_and_its_messages_are_kept(store: Store, server: str) -> None:
    hook = webhook(server)
    assert store.webhooks.put_webhook(hook, 1, act("webhook.register"))
    assert not store.webhooks.put_webhook(webhook(server, 2), 1, act("webhook.register"))
    assert (store.webhooks.list_unprocessed("r1"), store.webhooks.list_unprocessed("r2")) == ([], [hook])
    assert store.webhooks.record_scanned_run(hook, "r2", message(hook))
    assert not store.webhooks.record_scanned_run(hook, "r2", message(hook, 2))
    assert store.webhooks.list_deliveries(hook.id) == [message(hook)]
    assert store.webhooks.lease_due(AS_OF, 10, LEASE) == [message(hook)]
    assert store.webhooks.lease_due(AS_OF, 10, LEASE) == []


def test_webhooks_that_are_made_at_once_are_no_more_than_the_most(store: Store, server: str) -> None:
    with ThreadPoolExecutor(4) as threads:
        made = list(
            threads.map(
                lambda number: store.webhooks.put_webhook(webhook(server, number), 1, act("webhook.register")), range(4)
            )
        )
    assert sorted(made) == [False, False, False, True]


def test_failures_in_a_row_are_counted(store: Store, server: str) -> None:
    hook = webhook(server)
    store.webhooks.put_webhook(hook, 1, act("webhook.register"))
    for number, (state, failures) in enumerate(
        [(DeliveryState.FAILED, 1), (DeliveryState.FAILED, 2), (DeliveryState.WAITING, 2), (DeliveryState.DELIVERED, 0)]
    ):
        known = replace(hook, run=f"r{number}") if number else hook
        sent = replace(message(known, number), run=f"r{number + 1}")
        if number:
            assert store.webhooks.record_scanned_run(known, sent.run, sent)
        else:
            assert store.webhooks.record_scanned_run(known, "r1", sent)
        ended = replace(sent, state=state, attempts=1, due_at=None, tried_at=LATER, said="HTTP 500")
        assert store.webhooks.record_delivery(ended) == failures
        assert store.webhooks.list_deliveries(hook.id)[0] == ended


def test_an_ended_webhook_gets_nothing_more(store: Store, server: str) -> None:
    hook = webhook(server)
    store.webhooks.put_webhook(hook, 1, act("webhook.register"))
    store.webhooks.record_scanned_run(hook, "r2", message(hook))
    assert store.webhooks.end_webhook(hook.id, "gone", act("webhook.end"))
    assert not store.webhooks.end_webhook(hook.id, "gone", act("webhook.end"))
    assert store.webhooks.lease_due(LATER, 10, LEASE) == []
    assert (store.webhooks.list_webhooks(server=server), store.webhooks.list_unprocessed("r9")) == ([], [])
    (known,) = store.webhooks.list_webhooks(server=server, ended=True)
    assert (known.ended_at, known.why) == (LATER, "gone")


def test_the_trail_is_read_page_by_page(store: Store) -> None:
    for number in range(5):
        store.audit.put_entry(act("token.new", str(number), before={"a": "\ud800"}))
    newest = store.audit.read_entries(2)
    assert [one.subject for one in newest] == ["4", "3"]
    assert [one.subject for one in store.audit.read_entries(2, before=newest[-1].number)] == ["2", "1"]
    assert newest[0].before == {"a": "\ud800"}
