"""Runs store shared values once, and other values are read back exactly as written, on both databases."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from evidence.kinds import samples
from evidence.kinds.samples import Sample, write_samples
from evidence.model import Absent, Reason, Record, ServerId
from evidence.store import CorruptBlob, Store, StoredScorecard, open_store
from evidence.store.database import Database
from evidence.store.records import attempts as attempt_rows
from evidence.store.records.attempt_pages import ATTEMPTS_PER_PAGE
from evidence.store.sql.json_columns import to_json
from evidence.store.sql.row_keys import find_known_server_keys
from tests.evidence.store.build import AS_OF, body, card, planned, record, run, server

FIRST = "20261121-1"
SECONDS = AS_OF.replace(microsecond=0)


def attempts(count: int, start: int = 0) -> list[Sample]:
    return [Sample(at=SECONDS + timedelta(days=number), cold_ms=100.5) for number in range(start, start + count)]


def sampled(of: ServerId, taken: Sequence[Sample]) -> Record:
    return record(of, samples.compose_samples(taken), kind=samples.KIND, observation=write_samples(taken))


def night(store: Store, number: int, ids: Sequence[ServerId]) -> tuple[str, datetime]:
    run_id, as_of = f"202612{number:02}-1", AS_OF + timedelta(days=number)
    store.add_run(replace(run(run_id), as_of=as_of))
    store.plan_run(run_id, ids, as_of)
    return run_id, as_of


def rows(url: str, table: str) -> int:
    database = Database(url)
    with database.reading() as connection:
        found = int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())
    database.close()
    return found


def receipt(of: ServerId, as_of: datetime, digests: dict[str, str]) -> StoredScorecard:
    text = f'{{"as_of":"{as_of.isoformat()}","caveats":[],"evidence":{to_json(digests)},"server":"{of}"}}'
    return replace(card(of, "adaptive"), body=text.encode())


def test_an_unchanged_night_adds_no_shape_no_body_and_no_receipt(store: Store, url: str) -> None:
    ids = [one.id for one in planned(store, 3)]
    shared = ("evidence_blob", "evidence_shape", "evidence_part", "receipt", "evidence_attempts")
    before: dict[str, int] = {}
    for number in range(1, 4):
        run_id, as_of = night(store, number, ids)
        taken = attempts(30, start=number)
        found = [each for one in ids for each in (record(one, body(1)), sampled(one, taken))]
        store.put_records(run_id, found, done=ids, at=as_of)
        cards = [receipt(one, as_of, store.read_digests(run_id, ids)[one]) for one in ids]
        store.put_scorecards(run_id, cards, done=ids, at=as_of)
        assert store.read_scorecards(run_id) == cards
        assert [list(each.records.values()) for each in store.read_dossiers(run_id, ids)] == [
            [each for each in found if each.server == one] for one in ids
        ]
        sizes = {table: rows(url, table) for table in shared}
        assert number == 1 or sizes == before
        before = sizes
    assert rows(url, "evidence_attempts") == 3, "32 attempts are one page"
    assert store.verify() == []


def test_records_that_come_one_kind_at_a_time_are_one_record_set(store: Store, url: str) -> None:
    (one,) = (each.id for each in planned(store, 1))
    kinds = ["listing", "access", "package", "source"]
    contents = [body(1), body(2), Absent(Reason.NO_PACKAGE, "npm"), body(3)]
    found = [record(one, content, kind) for kind, content in zip(kinds, contents, strict=True)]
    for each in found:
        store.put_records(FIRST, [each, replace(found[0], content=body(9))], at=AS_OF)
    (dossier,) = store.read_dossiers(FIRST, [one])
    assert dossier.records == {each.kind: each for each in found}
    assert list(dossier.records) == sorted(kinds)
    assert rows(url, "record_set") == 1
    assert store.verify() == []


def test_cards_that_come_one_at_a_time_are_one_scoring(store: Store, url: str) -> None:
    (one,) = (each.id for each in planned(store, 1))
    store.put_records(FIRST, [record(one, body(1))], at=AS_OF)
    first = receipt(one, AS_OF, store.read_digests(FIRST, [one])[one])
    store.put_scorecards(FIRST, [first], at=AS_OF)
    store.put_records(FIRST, [record(one, body(2), "source")], at=AS_OF)
    late = replace(receipt(one, AS_OF, store.read_digests(FIRST, [one])[one]), rubric="late")
    store.put_scorecards(FIRST, [replace(first, score=None), late, card(one, "lint")], at=AS_OF)
    assert store.read_scorecards(FIRST) == [first, late, card(one, "lint")]
    assert rows(url, "scoring") == 1
    assert store.verify() == []


def test_writers_at_the_same_time_lose_nothing(store: Store, url: str) -> None:
    ids = [each.id for each in planned(store, 20)]
    kinds = [f"kind-{number}" for number in range(6)]
    stores = [open_store(url) for _ in kinds]
    start = threading.Barrier(len(kinds))
    failed: list[BaseException] = []

    def write(number: int) -> None:
        try:
            start.wait(300)
            for _ in range(2):
                own = [record(one, body(number), kinds[number]) for one in ids]
                taken = [sampled(one, attempts(5, start=number)) for one in ids]
                stores[number].put_records(FIRST, [*own, *taken], at=AS_OF)
                cards = [card(one, kinds[number]) for one in ids]
                stores[number].put_scorecards(FIRST, cards, at=AS_OF)
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=write, args=(number,)) for number in range(len(kinds))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    for dossier in store.read_dossiers(FIRST, ids):
        assert set(dossier.records) == {*kinds, samples.KIND}
        assert len(dossier.records[samples.KIND].observation["samples"]) == 5  # type: ignore[arg-type]
    assert len(store.read_scorecards(FIRST)) == len(ids) * len(kinds)
    assert store.verify() == []
    for each in stores:
        each.close()


def test_windows_that_part_ways_keep_their_own_attempts(store: Store) -> None:
    """A re-test and a night that met the same server know nothing of each other's attempt."""
    (one,) = (each.id for each in planned(store, 1))
    ours, theirs = [*attempts(40), *attempts(1, 100)], [*attempts(40), *attempts(1, 99)]
    later = [*attempts(39, 1), *attempts(1, 99), *attempts(2, 101)]
    shuffled = [*attempts(1, 101), *attempts(1, 3), *attempts(1, 3)]
    for number, taken in enumerate((ours, theirs, later, shuffled, attempts(400, 200)), 1):
        run_id, _ = night(store, number, [one])
        store.put_records(run_id, [sampled(one, taken)], at=AS_OF)
        (dossier,) = store.read_dossiers(run_id, [one])
        assert dossier.records[samples.KIND].observation == write_samples(taken)
    assert store.verify() == []


def test_a_night_looks_at_no_attempts_before_the_window(store: Store, url: str) -> None:
    """However long the history is: it would else grow by a page a month."""
    (one,) = (each.id for each in planned(store, 1))
    run_id, _ = night(store, 1, [one])
    store.put_records(run_id, [sampled(one, attempts(400))], at=AS_OF)
    database = Database(url)
    with database.reading() as connection:
        (key,) = find_known_server_keys(connection, [one]).values()
        for back in (0, 17):
            tonight = attempts(31, 370 - back)
            (newest,) = attempt_rows.read_newest_attempts(connection, {key: tonight}).values()
            assert newest.end == 400
            assert set(newest.attempts).issuperset(set(tonight) & set(attempts(400)))
            assert len(newest.attempts) <= 3 * ATTEMPTS_PER_PAGE
        (further,) = attempt_rows.read_newest_attempts(connection, {key: attempts(31, 100)}).values()
        assert set(further.attempts) > set(attempts(31, 100)), "an older window is looked for as far back as it is"
    database.close()


def test_a_damaged_page_of_attempts_raises_when_it_is_read(store: Store, url: str) -> None:
    (one,) = (each.id for each in planned(store, 1))
    store.put_records(FIRST, [sampled(one, attempts(40))], at=AS_OF)
    database = Database(url)
    for damage in ("substr(attempts, 1, length(attempts) - 1)", "substr(attempts, 2)", "substr(attempts, 1, 0)"):
        with database.writing() as connection:
            connection.exec_driver_sql(f"UPDATE evidence_attempts SET attempts = {damage} WHERE page = 1")
        with pytest.raises(CorruptBlob, match="attempts of a server"):
            store.read_dossiers(FIRST, [one])
        assert any("attempts" in problem for problem in store.verify())
    database.close()


def test_a_body_with_another_date_is_kept_whole(store: Store) -> None:
    (one,) = (each.id for each in planned(store, 1))
    store.put_records(FIRST, [record(one, body(1))], at=AS_OF)
    digests = store.read_digests(FIRST, [one])[one]
    odd = [
        replace(receipt(one, AS_OF + timedelta(days=1), digests), rubric="a"),
        replace(receipt(one, AS_OF, {}), rubric="b"),
        replace(receipt(server(7).id, AS_OF, digests), server=one, rubric="c"),
        replace(card(one, "d"), body=b""),
    ]
    store.put_scorecards(FIRST, odd, at=AS_OF)
    assert store.read_scorecards(FIRST) == odd


@pytest.mark.parametrize("kind", ["", "kind with \x00 and \ud800", "k" * 3000])
def test_odd_kinds_are_kept(store: Store, kind: str) -> None:
    (one,) = (each.id for each in planned(store, 1))
    found = [record(one, Absent(Reason.TIMEOUT, "d" * 9000), kind), record(one, body(1))]
    store.put_records(FIRST, found, at=AS_OF)
    assert store.read_dossiers(FIRST, [one])[0].records == {each.kind: each for each in found}


def test_a_receipt_that_differs_little_costs_little(store: Store, url: str) -> None:
    (one,) = (each.id for each in planned(store, 1))
    lines = "".join(f'"line {number * 7919 % 1000}",' for number in range(300))
    written: dict[str, StoredScorecard] = {}
    for number in range(1, 6):
        run_id, as_of = night(store, number, [one])
        body_ = b'{"as_of":"","lines":[%s"%d days old"],"server":"%s"}' % (lines.encode(), 900 + number, one.encode())
        written[run_id] = replace(card(one, "adaptive"), body=body_)
        store.put_scorecards(run_id, [written[run_id]], at=as_of)
    for run_id, expected in written.items():
        assert store.read_scorecards(run_id) == [expected]
    database = Database(url)
    with database.reading() as connection:
        query = "SELECT length(body), base_key FROM receipt ORDER BY key"
        (whole, base), *others = connection.exec_driver_sql(query).all()
    database.close()
    assert base is None
    assert len(others) == 4
    assert {key for _, key in others} == {1}, "no chain has to be followed"
    assert max(size for size, _ in others) * 10 < whole
    assert store.verify() == []
