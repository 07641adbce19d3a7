"""An opt-out is entered once, can be ended, and leaves its trail."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from evidence.store import OptOut, OptOutScope, Store
from tests.evidence.store.build import AS_OF, LATER

ENTRY = OptOut(scope=OptOutScope.HOST, value="a.example", at=AS_OF, who="ann", note="asked by mail")


def test_an_entry_is_made_once(store: Store) -> None:
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda _: store.opt_outs.add(ENTRY), range(4)))
    assert sorted(made) == [False, False, False, True]
    assert store.opt_outs.read() == [ENTRY]
    assert store.opt_outs.add(replace(ENTRY, scope=OptOutScope.DOMAIN))


def test_an_ended_entry_stays_readable_with_who_ended_it(store: Store) -> None:
    store.opt_outs.add(ENTRY)
    assert store.opt_outs.revoke(OptOutScope.HOST, "a.example", at=LATER, who="ben", note="they agreed")
    assert not store.opt_outs.revoke(OptOutScope.HOST, "a.example", at=LATER, who="ben")
    assert store.opt_outs.read() == []
    (kept,) = store.opt_outs.read(revoked=True)
    assert (kept.revoked_at, kept.note) == (LATER, "asked by mail\nrevoked by ben: they agreed")
    assert store.opt_outs.add(ENTRY)
