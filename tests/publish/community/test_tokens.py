"""A token is identified by its secret alone; every invalid token costs the same time and gets the same answer."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from evidence.model import Dossier
from evidence.store import Store
from evidence.store.decisions.audit_trail import AuditEntry
from publish.community.tokens import UnknownScope, authenticate_token, check_scopes, create_token

NOW = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def store(make_store: Callable[[Sequence[Dossier]], Store]) -> Store:
    return make_store([])


def stored(store: Store, **changes: object) -> str:
    minted = create_token("ana", ("admin:audit",), now=NOW, **changes)  # type: ignore[arg-type]
    store.api_tokens.put_token(minted.token, AuditEntry(at=NOW, who="op", what="token.new", subject=minted.token.id))
    return minted.text


def test_a_wrong_secret_and_an_unknown_id_are_compared_alike(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    text = stored(store)
    compared: list[int] = []
    compare = hmac.compare_digest

    def noting(one: bytes, other: bytes) -> bool:
        compared.append(len(one))
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", noting)
    wrong, unknown = text[:-2] + "__", f"hmk_{'0' * 12}{text[16:]}"
    assert [authenticate_token(store, each, NOW) for each in (wrong, unknown)] == [None, None]
    assert compared == [32, 32]
    assert authenticate_token(store, text, NOW) is not None


def test_a_token_counts_from_when_it_is_made_until_it_ends(store: Store) -> None:
    text = stored(store, expires_at=NOW + timedelta(days=1))
    bearer = authenticate_token(store, text, NOW)
    assert bearer is not None
    assert (bearer.name, bearer.may("admin:audit"), bearer.may("admin:disputes")) == ("ana", True, False)
    assert authenticate_token(store, text, NOW + timedelta(days=1)) is None
    known = store.api_tokens.find_token(bearer.token.id)
    assert known is not None
    assert known.used_at == NOW


def test_nothing_that_is_stored_opens_anything(store: Store) -> None:
    text = stored(store)
    (known,) = store.api_tokens.list_tokens()
    secret = text.removeprefix(f"hmk_{known.id}_")
    assert secret.encode() not in known.digest + known.salt
    assert len({stored(store)[17:] for _ in range(20)}) == 20
    for guess in (known.digest.hex(), known.salt.hex(), known.digest.hex()[:43]):
        assert authenticate_token(store, f"hmk_{known.id}_{guess}", NOW) is None


@pytest.mark.parametrize(
    "text", ["", "hmk_", "hmk_0123456789ab_", "x" * 10_000, "hmk_0123456789ab_" + "é" * 43, "\x00"]
)
def test_what_is_no_token_is_not_looked_up(store: Store, text: str) -> None:
    assert authenticate_token(store, text, NOW) is None


def test_operators_give_out_no_proofs_of_control() -> None:
    assert check_scopes(("admin:audit", "admin:audit")) == ("admin:audit",)
    for scope in ("owner:srv_1", "admin:", "admin:tokens", ""):
        with pytest.raises(UnknownScope):
            check_scopes((scope,))
