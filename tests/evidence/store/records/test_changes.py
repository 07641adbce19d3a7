"""Unchanged servers are found by what their records hold, between runs of the same pins, on both databases."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import Engine, event

from evidence.model import Absent, Reason, Record, ServerId, Trigger
from evidence.store import EvidenceChange, Stage, Store
from evidence.store.database import Database
from tests.evidence.store.build import AS_OF, LATER, body, card, planned, record, run
from tests.sampling import some

FIRST, TONIGHT = "20261121-1", "20261122-1"


def _night(store: Store, run_id: str, ids: list[ServerId], records: list[Record], scored: list[ServerId]) -> None:
    store.add_run(replace(run(run_id), as_of=LATER))
    store.plan_run(run_id, ids, LATER)
    store.put_records(run_id, records, done=ids, at=LATER)
    store.put_scorecards(run_id, [card(one) for one in scored], done=scored, at=LATER)


def _records(of: ServerId) -> list[Record]:
    return [record(of, body(1)), record(of, Absent(Reason.NO_PACKAGE, "npm"), kind="package")]


def _two_nights(store: Store, tonight: list[Record] | None = None) -> ServerId:
    (one,) = (server.id for server in planned(store, 1))
    store.put_records(FIRST, _records(one), done=[one], at=AS_OF)
    store.put_scorecards(FIRST, [card(one)], done=[one], at=AS_OF)
    _night(store, TONIGHT, [one], _records(one) if tonight is None else tonight, [])
    return one


def test_a_server_with_equal_records_is_unchanged(store: Store) -> None:
    one = _two_nights(store)
    assert store.find_unchanged(TONIGHT, [one]) == {one: FIRST}
    assert store.find_unchanged(FIRST, [one]) == {}, "only earlier runs count"
    assert store.find_unchanged(TONIGHT, []) == {}


def test_when_a_visit_was_and_how_it_went_changes_nothing(store: Store) -> None:
    (one,) = (server.id for server in planned(store, 1))
    again = [replace(each, observed_at=LATER, observation={"ms": 7}) for each in _records(one)]
    assert _two_nights(store, again) == one
    assert store.find_unchanged(TONIGHT, [one]) == {one: FIRST}


_NEW = {
    "another body": {"listing"},
    "another schema": {"listing"},
    "another collector": {"listing"},
    "another version of the collector": {"listing"},
    "another reason": {"package"},
    "another detail": {"package"},
    "another kind": {"package", "source"},
    "one kind more": {"source"},
    "one kind less": {"package"},
    "nothing": {"listing", "package"},
}

_OTHER = {
    "another body": lambda kept, lost: [replace(kept, content=body(2)), lost],
    "another schema": lambda kept, lost: [replace(kept, schema=2), lost],
    "another collector": lambda kept, lost: [replace(kept, collector="package"), lost],
    "another version of the collector": lambda kept, lost: [replace(kept, collector_version=4), lost],
    "another reason": lambda kept, lost: [kept, replace(lost, content=Absent(Reason.TIMEOUT, "npm"))],
    "another detail": lambda kept, lost: [kept, replace(lost, content=Absent(Reason.NO_PACKAGE, "pypi"))],
    "another kind": lambda kept, lost: [kept, replace(lost, kind="source")],
    "one kind more": lambda kept, lost: [kept, lost, replace(lost, kind="source")],
    "one kind less": lambda kept, _: [kept],
    "nothing": lambda *_: [],
}


@pytest.mark.parametrize("difference", some(_OTHER, 5))
def test_any_difference_in_content_is_a_change(store: Store, difference: str) -> None:
    (one,) = (server.id for server in planned(store, 1))
    _two_nights(store, _OTHER[difference](*_records(one)))
    assert store.find_unchanged(TONIGHT, [one]) == {}
    assert store.read_changes(TONIGHT, [one]) == {one: EvidenceChange(run=FIRST, kinds=frozenset(_NEW[difference]))}


def test_digests_are_those_of_the_records(store: Store) -> None:
    one = _two_nights(store)
    kinds = {each.kind: each.digest for each in _records(one)}
    assert store.read_digests(TONIGHT, [one, "srv_none"]) == {one: kinds, "srv_none": {}}
    assert list(store.read_digests(TONIGHT, [one])[one]) == sorted(kinds)


def test_a_run_of_other_pins_does_not_count(store: Store) -> None:
    (one,) = (server.id for server in planned(store, 1))
    store.put_records(FIRST, _records(one), done=[one], at=AS_OF)
    store.put_scorecards(FIRST, [card(one)], done=[one], at=AS_OF)
    store.add_run(replace(run(TONIGHT), pins={"lint": "2", "protocol": "1"}))
    store.plan_run(TONIGHT, [one], LATER)
    store.put_records(TONIGHT, _records(one), done=[one], at=LATER)
    assert store.find_unchanged(TONIGHT, [one]) == {}


def test_a_server_that_was_not_scored_is_found_in_the_night_before(store: Store) -> None:
    one = _two_nights(store)
    store.record_failure(TONIGHT, one, Stage.SCORE, "a rule raised")
    _night(store, "20261123-1", [one], _records(one), [])
    assert store.find_unchanged("20261123-1", [one]) == {one: FIRST}


def test_each_server_has_its_own_newest_night(store: Store) -> None:
    ids = [server.id for server in planned(store, 4)]
    store.put_records(FIRST, [each for one in ids for each in _records(one)], done=ids, at=AS_OF)
    store.put_scorecards(FIRST, [card(one) for one in ids], done=ids, at=AS_OF)
    _night(store, TONIGHT, ids[:3], [each for one in ids[:3] for each in _records(one)], ids[:2])
    changed = [replace(each, schema=9) for each in _records(ids[0])]
    _night(store, "20261123-1", ids, [*changed, *(each for one in ids[1:] for each in _records(one))], [])
    assert store.find_unchanged("20261123-1", ids) == {ids[1]: TONIGHT, ids[2]: FIRST, ids[3]: FIRST}


def test_a_re_test_is_no_night_to_compare_with(store: Store) -> None:
    one = _two_nights(store)
    between = f"{FIRST}-retest"
    store.add_run(replace(run(between), trigger=Trigger.RETEST))
    store.plan_run(between, [one], AS_OF)
    store.put_records(between, _records(one), done=[one], at=AS_OF)
    store.put_scorecards(between, [card(one)], done=[one], at=AS_OF)
    assert store.find_unchanged(TONIGHT, [one]) == {one: FIRST}


def test_changes_are_read_without_every_run_of_every_server(url: str) -> None:
    """The newest ones are enough for nearly all; all of them would cost more with every night that there is."""
    asked: list[tuple[str, Any]] = []
    with closing(Database(url)) as database, closing(Store(database)) as store:
        one = _two_nights(store)

        def keep(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
            asked.append((statement, parameters))

        event.listen(Engine, "before_cursor_execute", keep)
        try:
            store.read_changes(TONIGHT, [one])
        finally:
            event.remove(Engine, "before_cursor_execute", keep)
        (plan,) = (query for query in asked if "FROM scoring" in query[0] and "FROM server" in query[0])
        with database.reading() as connection:
            if connection.dialect.name != "sqlite":
                pytest.skip("PostgreSQL sorts the few runs of a test")
            steps = str(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {plan[0]}", plan[1]).all())
    assert "(id>? AND id<?)" in steps, steps
    assert "TEMP B-TREE" not in steps, steps
