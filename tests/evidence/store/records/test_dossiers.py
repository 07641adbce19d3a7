"""Records and dossiers: read back as written, stored once, never changed."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.model import Absent, Dossier, Observed, Reason, Record
from evidence.store import Stage, Store, StoreError, UnknownRun, UnknownServer, blobs
from tests.evidence.store.build import AS_OF, LATER, body, planned, record, ref, run, server

RUN = "20261121-1"
EDGE_BODIES = [b"", b"x", b"\x00", b"\xff\xfe", b"{}", b"[1,2]" * 40_000, bytes(range(256)) * 4, b"\x28\xb5\x2f\xfd"]


def listings(store: Store, run_id: str, ids: list[str]) -> list[Record]:
    return [dossier.records["listing"] for dossier in store.read_dossiers(run_id, ids)]


def test_dossier_holds_the_records_as_they_were_put(store: Store) -> None:
    one, other = planned(store, 2)
    records = [
        record(one.id, body(1), observation={"ms": 12.5, "headers": {"date": "x"}, "ids": [1, None, True]}),
        record(one.id, Absent(Reason.NO_REPOSITORY, "d"), kind="repository"),
        record(other.id, Absent(Reason.TIMEOUT)),
    ]
    store.put_records(RUN, records, at=AS_OF)
    assert store.read_dossiers(RUN, [other.id, one.id]) == [
        Dossier(server=other, as_of=AS_OF, records={"listing": records[2]}),
        Dossier(server=one, as_of=AS_OF, records={"listing": records[0], "repository": records[1]}),
    ]


def test_an_absence_is_found_where_the_dossier_has_one(store: Store) -> None:
    one, other = planned(store, 2)
    absent = Absent(Reason.NO_REPOSITORY, "d")
    store.put_records(RUN, [record(one.id, body(1)), record(one.id, absent, kind="repository")], at=AS_OF)
    store.put_records(RUN, [record(other.id, Absent(Reason.TIMEOUT, "30 s"))], at=AS_OF)
    assert store.find_absence(RUN, one.id, "repository") == absent
    assert store.find_absence(RUN, other.id, "listing") == Absent(Reason.TIMEOUT, "30 s")
    for run_id, server_id, kind in ((RUN, one.id, "listing"), (RUN, other.id, "access"), ("x", other.id, "listing")):
        assert store.find_absence(run_id, server_id, kind) is None


def test_server_without_records_has_an_empty_dossier(store: Store) -> None:
    (one,) = planned(store, 1)
    assert store.read_dossiers(RUN, [one.id]) == [Dossier(server=one, as_of=AS_OF)]
    assert store.read_dossiers(RUN, []) == []


def test_unknown_run_or_server_is_named(store: Store) -> None:
    (one,) = planned(store, 1)
    with pytest.raises(UnknownServer, match="srv_none"):
        store.read_dossiers(RUN, [one.id, "srv_none"])
    with pytest.raises(UnknownRun):
        store.read_dossiers("nope", [one.id])
    with pytest.raises(UnknownServer):
        store.put_records(RUN, [record("srv_none", body(1))], at=AS_OF)
    with pytest.raises(UnknownRun):
        store.put_records("nope", [record(one.id, body(1))], at=AS_OF)


def test_second_record_of_a_kind_does_not_replace_the_first(store: Store) -> None:
    (one,) = planned(store, 1)
    first = record(one.id, body(1))
    store.put_records(RUN, [first, record(one.id, body(2))], at=AS_OF)
    store.put_records(RUN, [record(one.id, body(3)), record(one.id, Absent(Reason.TIMEOUT))], at=LATER)
    assert listings(store, RUN, [one.id]) == [first]


def test_replayed_batch_changes_nothing(store: Store) -> None:
    ids = [one.id for one in planned(store, 3)]
    records = [record(one, body(number)) for number, one in enumerate(ids)]
    for at in (AS_OF, LATER, LATER):
        store.put_records(RUN, records, done=ids, at=at)
    assert listings(store, RUN, ids) == records
    assert store.read_progress(RUN).done == {"collect": 3, "score": 0}
    assert store.verify() == []


def test_empty_batch_is_no_error(store: Store) -> None:
    planned(store, 1)
    store.put_records(RUN, [], at=AS_OF)
    store.put_scorecards(RUN, [], at=AS_OF)


def test_batch_that_fails_leaves_nothing(store: Store) -> None:
    one, other = (server.id for server in planned(store, 2))
    naive = record(other, body(2), observed_at=AS_OF.replace(tzinfo=None))
    with pytest.raises(ValueError, match="time zone"):
        store.put_records(RUN, [record(one, body(1)), naive], done=[one], at=AS_OF)
    assert [dossier.records for dossier in store.read_dossiers(RUN, [one, other])] == [{}, {}]
    assert len(store.list_pending_servers(RUN, Stage.COLLECT)) == 2


def test_same_body_is_stored_once(store: Store, url: str) -> None:
    ids = [one.id for one in planned(store, 4)]
    store.put_records(RUN, [record(one, body(7)) for one in ids], at=AS_OF)
    store.add_run(run("20261122-1"))
    store.put_records("20261122-1", [record(one, body(7)) for one in ids], at=AS_OF)
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            digest = bytes.fromhex(body(7).digest)
            found = connection.execute("SELECT count(*) FROM evidence_blob WHERE digest = ?", [digest]).fetchone()
        assert found == (1,)
    assert {item.content for item in listings(store, "20261122-1", ids)} == {body(7)}


def test_known_body_is_not_even_compressed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = planned(store, 1)
    store.put_records(RUN, [record(one.id, body(7))], at=AS_OF)
    store.add_run(run("20261122-1"))
    monkeypatch.setattr(blobs, "compress_body", None)
    store.put_records("20261122-1", [record(one.id, body(7))], at=AS_OF)


@pytest.mark.parametrize("raw", EDGE_BODIES, ids=lambda raw: f"{len(raw)}-{raw[:4].hex()}")
def test_any_bytes_are_kept(store: Store, raw: bytes) -> None:
    (one,) = planned(store, 1)
    store.put_records(RUN, [record(one.id, Observed(raw))], at=AS_OF)
    (found,) = listings(store, RUN, [one.id])
    assert isinstance(found.content, Observed)
    assert found.content.body == raw
    assert found.content.digest == Observed(raw).digest
    assert found.content.canonical == Observed(raw).canonical
    assert store.verify() == []


def test_body_above_the_bound_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    (one,) = planned(store, 1)
    monkeypatch.setattr(blobs, "MAX_BODY_BYTES", 1000)
    with pytest.raises(StoreError, match="at most 1000"):
        store.put_records(RUN, [record(one.id, Observed(b"x" * 1001))], at=AS_OF)


@pytest.mark.parametrize(
    "detail",
    ["", "x" * 1000, "é名前😀" * 250, "a\x00b", "\ud800", "\u241b", "\u241b0000", "\\u0000", "'; DROP TABLE run"],
    ids=ascii,
)
def test_any_detail_is_kept_with_its_digest(store: Store, detail: str) -> None:
    """PostgreSQL's text holds no NUL and neither database a lone surrogate: they are escaped there."""
    (one,) = planned(store, 1)
    absent = record(one.id, Absent(Reason.UNREACHABLE, detail), observation={"error": detail, detail: 1})
    store.put_records(RUN, [absent], at=AS_OF)
    assert listings(store, RUN, [one.id]) == [absent]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(codec=None), max_size=20), st.text(max_size=20))
def test_any_name_is_kept(store: Store, name: str, version: str) -> None:
    one = server(1)
    hostile = ref(type(one)(ref="npm:weather-1", name=name, repository=version))
    odd = type(one)(ref=one.ref, name=name, repository=version, seen_in=(name,))
    store.add_run(run(hostile.entry.hex()[:8] + one.id))
    run_id = hostile.entry.hex()[:8] + one.id
    store.put_registry_page(run_id, "starter", [(odd, hostile)], cursor=name, done=False, at=AS_OF)
    assert store.find_server(one.id) == odd
    assert hostile in store.find_refs([one.id])[one.id]
    assert store.find_walk(run_id, "starter").cursor == name


def test_name_of_ten_thousand_characters_is_kept(store: Store) -> None:
    """An index of PostgreSQL would refuse it; incompressible, so that the database cannot shrink it either."""
    name = "".join(chr(0x4E00 + (number * 7919) % 20000) for number in range(10_000))
    odd = type(server(1))(ref="entry:x/" + name, name=name)
    store.add_run(run())
    store.put_registry_page(RUN, "x", [(odd, ref(odd, "x"))], cursor=None, done=True, at=AS_OF)
    assert store.search_servers(name) == store.search_servers(odd.ref) == [odd]


@pytest.mark.parametrize("offset", [0, 5.5, -11])
def test_times_keep_their_microseconds_and_come_back_as_utc(store: Store, offset: float) -> None:
    (one,) = planned(store, 1)
    moment = datetime(1999, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone(timedelta(hours=offset)))
    store.put_records(RUN, [record(one.id, body(1), observed_at=moment)], at=AS_OF)
    (found,) = listings(store, RUN, [one.id])
    assert found.observed_at == moment
    assert found.observed_at.tzinfo is UTC


def test_observation_may_be_any_mapping(store: Store) -> None:
    (one,) = planned(store, 1)
    nested = MappingProxyType({"a": MappingProxyType({"b": (1, 2)})})
    store.put_records(RUN, [record(one.id, body(1), observation=nested)], at=AS_OF)
    (found,) = listings(store, RUN, [one.id])
    assert found.observation == {"a": {"b": [1, 2]}}


def test_earlier_is_the_newest_run_before_this_one_that_saw_the_server(store: Store) -> None:
    ids = [one.id for one in planned(store, 3, "1")]
    for number, run_id in enumerate(("1", "2", "3", "5")):
        store.add_run(run(run_id))
        seen = ids if run_id == "1" else ids[:1]
        store.put_records(run_id, [record(one, body(number)) for one in seen], at=AS_OF)
    store.add_run(run("4"))
    earlier = store.read_earlier("4", [*ids, "srv_none"])
    assert {one: dossier.read("listing") for one, dossier in earlier.items()} == {
        ids[0]: body(2),
        ids[1]: body(0),
        ids[2]: body(0),
    }
    assert store.read_earlier("1", ids) == {}
    assert store.read_earlier("4", []) == {}
    with pytest.raises(UnknownRun):
        store.read_earlier("nope", ids)


def test_more_records_than_one_statement_takes(store: Store) -> None:
    ids = [one.id for one in planned(store, 1100)]
    records = [record(one, body(number, 50)) for number, one in enumerate(ids)]
    store.put_records(RUN, records, done=ids, at=AS_OF)
    assert listings(store, RUN, ids) == records
    assert store.list_pending_servers(RUN, Stage.COLLECT) == []
    store.add_run(run("20261122-1"))
    assert len(store.read_earlier("20261122-1", ids)) == 1100


def test_absences_name_the_reason_of_the_asked_run_and_kind(store: Store) -> None:
    first, second, third = planned(store, 3)
    absent = [
        record(first.id, Absent(Reason.TIMEOUT, "30 s")),
        record(first.id, Absent(Reason.NO_PACKAGE), kind="package"),
    ]
    store.put_records("20261121-1", [*absent, record(second.id, body(1))], at=LATER)
    assert store.read_absences("20261121-1", "listing") == {first.id: Absent(Reason.TIMEOUT, "30 s")}
    assert store.read_absences("20261121-1", "package") == {first.id: Absent(Reason.NO_PACKAGE)}
    assert third.id not in store.read_absences("20261121-1", "listing")
    with pytest.raises(UnknownRun):
        store.read_absences("nope", "listing")


def test_earlier_observed_passes_over_the_runs_in_which_a_kind_was_absent(store: Store) -> None:
    down = Absent(Reason.UNREACHABLE, "connection refused")
    first, second = (one.id for one in planned(store, 2, "1"))
    for number, run_id in enumerate(("1", "2", "3")):
        store.add_run(run(run_id))
        contents = {first: body(number) if run_id != "3" else down, second: down}
        store.put_records(run_id, [record(one, content) for one, content in contents.items()], at=AS_OF)
    store.add_run(run("4"))

    found = store.read_earlier_observed("4", [first, second], "listing", AS_OF)

    assert {one: dossier.read("listing") for one, dossier in found.items()} == {first: body(1)}
    assert store.read_earlier_observed("4", [first], "exchanges", AS_OF) == {}
    assert store.read_earlier_observed("4", [first], "listing", AS_OF + timedelta(seconds=1)) == {}
