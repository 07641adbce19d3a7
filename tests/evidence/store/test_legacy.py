"""A database that an older version filled is migrated, and everything reads as before, on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from alembic import command

from evidence.kinds.samples import KIND, Sample, write_samples
from evidence.model import Absent, Dossier, Observed, Reason, Record, ServerId
from evidence.store import RunState, Stage, Store, StoredCard, open_store
from evidence.store import legacy as legacy_module
from evidence.store.blobs import new_compressor, pack, put_blobs
from evidence.store.bulk import insert
from evidence.store.database import Database
from evidence.store.discovery import put_page
from evidence.store.evidence_models import OLD_RECORD, OLD_SCORECARD
from evidence.store.keys import run_key, server_keys
from evidence.store.mapping import to_json
from evidence.store.migrating import alembic_config
from evidence.store.models import RUN, RUN_ITEM
from tests.evidence.store.build import AS_OF, body, card, record, ref, run, server

SERVERS = sorted((server(number) for number in range(5)), key=lambda one: one.id)
IDS = [one.id for one in SERVERS]
NIGHTS = {f"2026112{number}-1": AS_OF + timedelta(days=number) for number in range(3)}
OPEN = "20261122-1"

_RECORD = ("run_key", "server_key", "kind", "schema", "collector", "collector_version", "observed_at")
_CONTENT = ("blob_key", "reason", "detail", "observation")
_CARD = ("run_key", "server_key", "rubric", "version", "score", "grade", "codec", "size", "body")


def records_of(of: ServerId, night: str) -> list[Record]:
    at = NIGHTS[night] + timedelta(seconds=7, microseconds=5)
    days = [AS_OF.replace(microsecond=0) - timedelta(days=back) for back in range(3)] + [at.replace(microsecond=0)]
    window = write_samples(Sample(at=day, cold_ms=120.5, warm_ms=None) for day in sorted(days))
    return [
        record(of, body(1), observation={"ms": 312.5}, observed_at=at),
        record(of, Absent(Reason.NO_PACKAGE, "npm"), kind="package", observed_at=at),
        record(of, body(int(night[7])), kind=KIND, observation=window, observed_at=at),
    ]


def cards_of(of: ServerId, night: str) -> list[StoredCard]:
    """Receipts as they were: with date and evidence, and one that is no receipt at all."""
    digests = {each.kind: each.digest for each in sorted(records_of(of, night), key=lambda each: each.kind)}
    text = f'{{"as_of":"{NIGHTS[night].isoformat()}","caveats":[],"evidence":{to_json(digests)},"lines":[]}}'
    return [replace(card(of, "adaptive"), body=text.encode()), card(of, "lint", 1), card(of, "lint", 2, None)]


def fill(url: str) -> None:
    """What the version before 0006 would have written."""
    database = Database(url)
    with database.migrating() as connection:
        command.upgrade(alembic_config(connection), "0005")
        for night, as_of in NIGHTS.items():
            state = RunState.PLANNED if night == OPEN else RunState.PUBLISHED
            row = (night, "nightly", as_of, to_json(run().pins), "{}", state.value)
            insert(connection, RUN, ("id", "trigger", "as_of", "pins", "options", "state"), [row], unique=["id"])
            put_page(connection, night, "starter", [(one, ref(one)) for one in SERVERS], cursor="", done=True, at=as_of)
            key, keys = run_key(connection, night), server_keys(connection, IDS)
            found = [each for one in IDS for each in records_of(one, night)]
            blobs = put_blobs(connection, [each.content for each in found if isinstance(each.content, Observed)])
            rows = [(key, keys[each.server], *_columns(each, blobs)) for each in found]
            insert(connection, OLD_RECORD, (*_RECORD, *_CONTENT), rows, unique=["run_key", "server_key", "kind"])
            cards = [each for one in IDS for each in cards_of(one, night)]
            packed = [(key, keys[each.server], *_card_columns(each)) for each in cards]
            insert(connection, OLD_SCORECARD, _CARD, packed, unique=["run_key", "server_key", "rubric", "version"])
            items = [(key, stage, one, 0, as_of) for one in keys.values() for stage in (Stage.COLLECT, Stage.SCORE)]
            columns = ("run_key", "stage", "server_key", "attempts", "done_at")
            insert(connection, RUN_ITEM, columns, items, unique=["run_key", "stage", "server_key"])
    database.close()


def _columns(each: Record, blobs: dict[str, int]) -> tuple[object, ...]:
    absent = each.content if isinstance(each.content, Absent) else None
    blob = None if absent else blobs[each.digest]
    head = (each.kind, each.schema, each.collector, each.collector_version, each.observed_at)
    reason = (absent.reason.value, absent.detail) if absent else (None, None)
    return (*head, blob, *reason, to_json(each.observation).encode())


def _card_columns(each: StoredCard) -> tuple[object, ...]:
    score = None if each.score is None else str(each.score)
    return (each.rubric, each.version, score, each.grade, *pack(each.body, new_compressor()))


@pytest.fixture
def filled(empty_url: str) -> str:
    fill(empty_url)
    return empty_url


def expected(night: str) -> list[Dossier]:
    return [
        Dossier(server=one, as_of=NIGHTS[night], records={each.kind: each for each in records_of(one.id, night)})
        for one in SERVERS
    ]


def test_everything_of_an_older_database_reads_as_before(filled: str) -> None:
    store = open_store(filled)
    store.migrate()
    for night in NIGHTS:
        assert store.dossiers(night, IDS) == expected(night)
        assert store.scorecards(night) == [each for one in IDS for each in cards_of(one, night)]
        assert set(store.absences(night, "package")) == set(IDS)
    assert {one.as_of for one in store.earlier(OPEN, IDS).values()} == {NIGHTS["20261121-1"]}
    changed = {one: change.kinds for one, change in store.changes(OPEN, IDS).items()}
    assert changed == dict.fromkeys(IDS, frozenset({KIND}))
    assert store.verify() == []
    store.close()


def test_what_is_copied_is_copied_once(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(legacy_module, "_SERVERS", 2)
    store = open_store(filled)
    store.migrate()
    before = sizes(filled)
    assert before == {"evidence_visit": 15, "scoring": 15, "receipt": 3, "evidence_attempts": 5}
    store.migrate()
    assert sizes(filled) == before
    store.close()


def sizes(url: str) -> dict[str, int]:
    database = Database(url)
    with database.reading() as connection:
        tables = ("evidence_visit", "scoring", "receipt", "evidence_attempts")
        found = {name: connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one() for name in tables}
    database.close()
    return found


def test_a_run_that_an_older_process_goes_on_with_is_copied_when_it_has_ended(filled: str) -> None:
    """The older version knows neither today's tables nor that they are there."""
    store = open_store(filled)
    store.migrate()
    late = replace(records_of(IDS[0], OPEN)[0], kind="source")
    database = Database(filled)
    with database.writing() as connection:
        key, keys = run_key(connection, OPEN), server_keys(connection, [IDS[0]])
        connection.exec_driver_sql(f"DELETE FROM evidence_visit WHERE run_key = {key}")
        blobs = put_blobs(connection, [body(1)])
        rows = [(key, keys[IDS[0]], *_columns(late, blobs))]
        insert(connection, OLD_RECORD, (*_RECORD, *_CONTENT), rows, unique=["run_key", "server_key", "kind"])
    database.close()
    store.set_state(OPEN, RunState.PUBLISHED, AS_OF)
    store.migrate()
    (dossier,) = store.dossiers(OPEN, [IDS[0]])
    assert dossier.records["source"] == late
    assert store.dossiers(OPEN, IDS[1:]) == expected(OPEN)[1:]
    store.close()


def test_a_run_of_today_is_not_looked_for_in_older_tables(store: Store) -> None:
    store.add_run(run())
    store.migrate()
    assert store.runs()[0].run == run()
