"""An opt-out is entered once, can be ended, and leaves its trail."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from msgspec.structs import replace

from evidence.store import OptOut, OptOutScope, Store
from evidence.store.decisions.audit_trail import AuditEntry
from tests.evidence.store.build import AS_OF, LATER

ENTRY = OptOut(scope=OptOutScope.HOST, value="a.example", at=AS_OF, who="ann", note="asked by mail")


def test_an_entry_is_made_once(store: Store) -> None:
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda _: store.opt_outs.add_opt_out(ENTRY), range(4)))
    assert sorted(made) == [False, False, False, True]
    assert store.opt_outs.read_opt_outs() == [ENTRY]
    assert store.opt_outs.add_opt_out(replace(ENTRY, scope=OptOutScope.DOMAIN))


def test_an_ended_entry_stays_readable_with_who_ended_it(store: Store) -> None:
    store.opt_outs.add_opt_out(ENTRY)
    assert store.opt_outs.revoke_opt_out(OptOutScope.HOST, "a.example", at=LATER, who="ben", note="they agreed")
    assert not store.opt_outs.revoke_opt_out(OptOutScope.HOST, "a.example", at=LATER, who="ben")
    assert store.opt_outs.read_opt_outs() == []
    (kept,) = store.opt_outs.read_opt_outs(revoked=True)
    assert (kept.revoked_at, kept.note) == (LATER, "asked by mail\nrevoked by ben: they agreed")
    assert store.opt_outs.add_opt_out(ENTRY)


def test_who_decided_is_in_the_trail_of_what_was_changed_and_of_nothing_else(store: Store) -> None:
    added = AuditEntry(at=AS_OF, who="ann", what="opt-out.add", subject="a.example")
    revoked = AuditEntry(at=LATER, who="ben", what="opt-out.revoke", subject="a.example")
    for act in (added, replace(added, who="again")):
        store.opt_outs.add_opt_out(ENTRY, act)
    for act in (revoked, replace(revoked, who="again")):
        store.opt_outs.revoke_opt_out(OptOutScope.HOST, "a.example", at=LATER, who=act.who, act=act)
    found = [(act.who, act.what) for act in store.audit.read_entries()]
    assert found == [("ben", "opt-out.revoke"), ("ann", "opt-out.add")]
