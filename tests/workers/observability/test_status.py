"""What is seen of a deployment from outside, on a real database and a real broker."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import psycopg.errors
import pytest
from celery import Celery
from msgspec.structs import replace
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from sqlalchemy import Engine, event
from sqlalchemy.exc import DBAPIError

from crawler.collectors.repository.api.token_budgets import Granted, ReportedBudget, Resource
from crawler.collectors.repository.api.token_rotation import UNLIMITED_REQUESTS
from evidence.kinds import access, listing
from evidence.model import Dossier, Reason, Run, Trigger
from evidence.store import RunState, Stage, Store, open_store
from tests.publish import samples
from tests.publish.filled_stores import fill
from tests.servers.daemon import free_port
from tests.servers.postgres import PostgresServer
from tests.servers.valkey import ValkeyServer, valkey_server
from tests.stepping_clock import SteppingClock
from tests.workers import world
from workers import celery_app, schedule
from workers.clock import SystemClock
from workers.coordination.broker_reader import BrokerReader
from workers.coordination.broker_statistics import SENT_HEADER, BrokerStatistics, BrokerUnavailable
from workers.coordination.shared_github_quota import SharedGitHubBudgets
from workers.coordination.shared_host_pacing import SharedHostPacing
from workers.observability.run_statistics import (
    OBSERVED_LABEL,
    RATE_WINDOW,
    StoreStatistics,
    StoreStatisticsReader,
    bound_queries,
)
from workers.observability.status import NotInstalled, StatusReader, SystemStatus, Unavailable
from workers.retention import drop_done_items

NOW = world.NIGHT + timedelta(hours=1)
NIGHTLY = schedule.make_nightly_run_id(world.NIGHT)


@pytest.fixture(scope="module")
def valkey() -> Iterator[ValkeyServer]:
    with valkey_server() as server:
        yield server


@pytest.fixture(scope="module")
def postgres(session_postgres: PostgresServer) -> PostgresServer:
    return session_postgres


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/hallmark.db"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.create_database()


def half_done(store: Store, dossiers: list[Dossier]) -> None:
    """A nightly run of ten servers: four collected, two held, two whose holder died, one that failed twice."""
    store.migrate()
    run = Run(id=NIGHTLY, trigger=Trigger.NIGHTLY, as_of=world.NIGHT, pins={})
    store.add_run(run)
    ids = [dossier.server.id for dossier in dossiers]
    store.put_registry_page(
        run.id, "first", [(one.server, world.ref(0)) for one in dossiers], cursor=None, done=True, at=world.NIGHT
    )
    store.plan_run(run.id, ids, world.NIGHT)
    # PostgreSQL goes by its own clock, and the looks below by one that stands.
    left = NOW + timedelta(minutes=9) - store.read_database_time(NOW)
    chosen = list(store.lease_servers(run.id, Stage.COLLECT, "old", limit=4, ttl=left, now=NOW))
    records = [record for one in dossiers if one.server.id in chosen for record in one.records.values()]
    store.put_records(run.id, records, done=chosen, at=NOW - timedelta(seconds=60))
    dead = list(store.lease_servers(run.id, Stage.COLLECT, "dead", limit=2, ttl=left - timedelta(minutes=10), now=NOW))
    assert len(dead) == 2
    held = list(store.lease_servers(run.id, Stage.COLLECT, "alive", limit=4, ttl=left, now=NOW))
    for server in held[2:]:
        store.record_failure(run.id, server, Stage.COLLECT, "crash")
    store.record_failure(run.id, held[-1], Stage.COLLECT, "crash")


def look(url: str, now: datetime = NOW) -> StoreStatistics:
    standings = StoreStatisticsReader(url, SteppingClock(now))
    try:
        return standings.read_statistics(NIGHTLY)
    finally:
        standings.close()


def test_a_night_under_way_is_counted_by_stage_lease_and_outcome(url: str) -> None:
    dossiers = [*samples.dossiers(9), samples.absent_dossier(Reason.COLLECTOR_ERROR, "TypeError")]
    store = open_store(url)
    half_done(store, dossiers)
    store.close()
    shown = look(url).shown
    assert shown is not None
    collect, score = shown.stages
    assert (collect.planned, collect.done, collect.held, collect.expired) == (10, 4, 2, 2)
    assert (collect.retries, collect.failing, collect.due) == (3, 2, 6)
    assert collect.rate == pytest.approx(4 / RATE_WINDOW.total_seconds())
    assert collect.eta == pytest.approx(6 * RATE_WINDOW.total_seconds() / 4)
    assert collect.latest == NOW - timedelta(seconds=60)
    assert (score.done, score.rate, score.eta, score.latest) == (0, None, None, None)
    assert sum(shown.outcomes.values()) > 0
    assert any(outcome == OBSERVED_LABEL for _, outcome in shown.outcomes)


def count_done(url: str) -> dict[Stage, int]:
    shown = look(url).shown
    assert shown is not None
    return {stage.stage: stage.done for stage in shown.stages}


def test_an_item_that_is_dropped_while_it_is_counted_is_counted_once(postgres: PostgresServer) -> None:
    url, dossiers = postgres.create_database(), samples.dossiers(3)
    store = open_store(url)
    store.migrate()
    fill(store, dossiers)
    before = count_done(url)

    counting = []

    def drop(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "FROM run_item" in statement and not counting:
            counting.append(statement)
            drop_done_items(store, samples.RUN.id)

    event.listen(Engine, "after_cursor_execute", drop)
    try:
        assert count_done(url) == before == {Stage.COLLECT: 3, Stage.SCORE: 3}
    finally:
        event.remove(Engine, "after_cursor_execute", drop)
    assert counting
    assert store.compaction.list_runs_with_done_items() == []
    store.close()


def test_a_registry_that_could_not_be_read_is_in_the_status_until_its_next_page(url: str) -> None:
    store = open_store(url)
    store.migrate()
    store.add_run(Run(id=NIGHTLY, trigger=Trigger.NIGHTLY, as_of=world.NIGHT, pins={}))
    store.record_walk_failure(NIGHTLY, "official", "no answer within 30 s", NOW)
    (walk,) = look(url).failed_walks[NIGHTLY]
    assert (walk.registry, walk.error) == ("official", "no answer within 30 s")
    store.put_registry_page(NIGHTLY, "official", [], cursor="next", done=False, at=NOW)
    assert look(url).failed_walks == {}
    store.close()


def test_postponed_servers_do_not_fail_and_carried_servers_are_counted(url: str) -> None:
    dossiers = samples.dossiers(6)
    store = open_store(url)
    store.migrate()
    store.add_run(Run(id=NIGHTLY, trigger=Trigger.NIGHTLY, as_of=world.NIGHT, pins={}))
    refs = [(one.server, world.ref(0)) for one in dossiers]
    store.put_registry_page(NIGHTLY, "first", refs, cursor=None, done=True, at=world.NIGHT)
    ids = [one.server.id for one in dossiers]
    now = store.read_database_time(NOW)
    store.plan_run(NIGHTLY, ids, now, carried=ids[:2])
    put_back = {"delay": timedelta(minutes=20), "why": "timeout", "most": 2, "now": now}
    store.postpone_servers(NIGHTLY, Stage.COLLECT, ids[2:5], **put_back)  # type: ignore[arg-type]
    store.close()
    shown = look(url, now).shown
    assert shown is not None
    collect = shown.stages[0]
    assert (collect.retries, collect.later, collect.failing) == (3, 3, 0)
    assert shown.carried == 2


def test_the_stages_of_a_published_night_outlive_its_items(url: str) -> None:
    store = open_store(url)
    half_done(store, samples.dossiers(10))
    store.set_run_state(NIGHTLY, RunState.PUBLISHED, NOW)
    before = look(url).shown
    drop_done_items(store, NIGHTLY)
    store.close()
    after = look(url).shown
    assert before is not None
    assert after is not None
    assert after.stages == before.stages
    assert (after.stages[0].planned, after.stages[0].done, after.stages[0].retries) == (10, 4, 3)


def test_any_number_of_re_tests_hides_no_night(url: str) -> None:
    store = open_store(url)
    store.migrate()
    store.add_run(Run(id=NIGHTLY, trigger=Trigger.NIGHTLY, as_of=world.NIGHT, pins={}))
    for number in range(30):
        store.add_run(Run(id=f"20261122-{number:02}", trigger=Trigger.RETEST, as_of=world.NIGHT, pins={}))
    store.close()
    found = look(url)
    assert found.unfinished[0].run.id == NIGHTLY
    assert found.shown is not None
    assert found.shown.row.run.id == NIGHTLY


def test_own_failures_are_a_share_of_all_records(url: str) -> None:
    theirs = [samples.absent_dossier(Reason.UNREACHABLE, "refused"), *samples.dossiers(2)]
    store = open_store(url)
    store.migrate()
    fill(store, theirs)
    store.close()
    shown = look(url).shown
    assert shown is not None
    assert shown.own_failure_share == 0
    ours = type(shown)(
        row=shown.row, stages=(), outcomes={("listing", OBSERVED_LABEL): 3, ("listing", "collector_error"): 1}
    )
    assert ours.own_failure_share == 0.25
    assert type(shown)(row=shown.row, stages=(), outcomes={}).own_failure_share is None


def test_servers_that_were_not_asked_are_counted_by_what_kept_us_from_asking(url: str) -> None:
    bound, offline = "our own bound of 5 requests a day for the domain a.example is reached", "the index is offline"
    refused = samples.absent_dossier(Reason.UNREACHABLE, "refused")
    unasked = samples.absent_dossier(Reason.NOT_COLLECTED, offline, ref="npm:offline")
    other_kind = replace(unasked.records[listing.KIND], server=refused.server.id, kind=access.KIND)
    store = open_store(url)
    store.migrate()
    fill(store, [unasked], replace(samples.RUN, id="run_20260101T030000Z_0001"))
    fill(
        store,
        [
            *(samples.absent_dossier(Reason.NOT_COLLECTED, bound, ref=f"npm:bound-{number}") for number in range(2)),
            unasked,
            replace(refused, records={**refused.records, access.KIND: other_kind}),
            *samples.dossiers(2),
        ],
    )
    store.close()
    shown = look(url).shown
    assert shown is not None
    assert shown.row.run.id == samples.RUN.id
    assert shown.not_asked == {bound: 2, offline: 1}


def test_the_night_under_way_stands_before_the_published_one(url: str) -> None:
    store = open_store(url)
    store.migrate()
    fill(store, samples.dossiers(2))
    before = look(url)
    assert before.shown is not None
    assert before.shown.row.state is RunState.PUBLISHED
    assert not before.has_due
    store.add_run(Run(id=NIGHTLY, trigger=Trigger.NIGHTLY, as_of=world.NIGHT, pins={}))
    store.close()
    after = look(url)
    assert after.shown is not None
    assert after.shown.row.run.id == NIGHTLY
    assert after.published is not None
    assert after.has_due
    assert after.size > 10_000


def test_looking_cannot_write_or_hang_on_postgres(postgres: PostgresServer) -> None:
    standings = StoreStatisticsReader(postgres.create_database(), SystemClock())
    with standings._database.writing() as connection:
        with pytest.raises(DBAPIError) as caught:
            connection.exec_driver_sql("CREATE TABLE x (y int)")
        assert isinstance(caught.value.orig, psycopg.errors.ReadOnlySqlTransaction)
        connection.rollback()
    with standings._database.reading() as connection:
        assert connection.exec_driver_sql("SHOW statement_timeout").scalar() == "10s"
    assert not standings.is_available()  # no tables of ours
    standings.close()


def test_options_of_the_operator_stay() -> None:
    assert "search_path" in bound_queries("postgresql+psycopg://me:pw@db.example/x?options=-c%20search_path%3Dy")
    assert "pw" in bound_queries("postgresql+psycopg://me:pw@db.example/x")


def test_a_database_that_is_away_is_said_without_its_address(tmp_path: Path) -> None:
    url = f"postgresql+psycopg://me:s3cret@127.0.0.1:{free_port()}/x"
    with StatusReader(
        world.settings(tmp_path, database_url=url, redis_url="redis://:s3cret@127.0.0.1:1/0"), CLOCK
    ) as one:
        seen = one.read_status()
        assert one.check_availability() == {"database": False, "broker": False}
    assert isinstance(seen.store, Unavailable)
    assert isinstance(seen.broker, Unavailable)
    assert "s3cret" not in repr(seen)
    assert "127.0.0.1" not in repr(seen)


CLOCK = SteppingClock(NOW)


def observed(folder: Path, **changes: object) -> SystemStatus:
    with StatusReader(world.settings(folder, **changes), CLOCK) as observer:
        return observer.read_status()


def test_an_embedded_installation_needs_no_broker_and_is_never_late(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/hallmark.db")
    store.migrate()
    store.close()
    seen = observed(tmp_path)
    assert isinstance(seen.broker, NotInstalled)
    assert seen.overdue == 0


def test_a_night_that_beat_did_not_plan_is_late(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.create_database()
    store = open_store(url)
    store.migrate()
    overdue = observed(tmp_path, database_url=url, redis_url="redis://127.0.0.1:1/0")
    assert overdue.overdue == timedelta(hours=1).total_seconds()
    store.add_run(Run(id=NIGHTLY, trigger=Trigger.NIGHTLY, as_of=world.NIGHT, pins={}))
    store.set_run_state(NIGHTLY, RunState.ABANDONED, NOW)
    store.close()
    assert observed(tmp_path, database_url=url, redis_url="redis://127.0.0.1:1/0").overdue == 0


def read_broker(valkey: ValkeyServer, clock: SteppingClock) -> BrokerStatistics:
    broker = BrokerReader(valkey.url, clock, lambda: {"one@test": (schedule.PROBE_QUEUE,)})
    try:
        return broker.read_statistics({"0a1b"})
    finally:
        broker.close()


def test_the_age_of_a_queue_is_that_of_its_oldest_message(valkey: ValkeyServer) -> None:
    assert celery_app.app.main == "hallmark"  # its import has connected the stamp
    with Redis.from_url(valkey.url) as redis:
        redis.flushall()
    sender = Celery("sender", broker=valkey.url, set_as_current=False)
    now = SystemClock().wall()
    for _ in range(3):
        sender.send_task(schedule.SWEEP, queue=schedule.PUBLISH_QUEUE)
    for version in ("0a1b", "of-no-run"):
        sender.send_task(schedule.SWEEP, queue=schedule.name_version_queue(schedule.PUBLISH_QUEUE, version))
    sender.close()
    seen = {queue.name: queue for queue in read_broker(valkey, SteppingClock(now + timedelta(minutes=5))).queues}
    assert tuple(seen) == schedule.QUEUES
    assert seen[schedule.PUBLISH_QUEUE].length == 4
    assert seen[schedule.PUBLISH_QUEUE].oldest == pytest.approx(300, abs=20)
    assert (seen[schedule.PROBE_QUEUE].length, seen[schedule.PROBE_QUEUE].oldest) == (0, None)


@pytest.mark.parametrize("message", [b"\xff", b"[]", b'{"headers": null}', b'{"headers": {"hallmark_sent": "soon"}}'])
def test_a_foreign_message_has_no_age(valkey: ValkeyServer, message: bytes) -> None:
    with Redis.from_url(valkey.url) as redis:
        redis.flushall()
        redis.lpush(schedule.PROBE_QUEUE, message)
    queue = read_broker(valkey, SteppingClock(NOW)).queues[0]
    assert (queue.name, queue.length, queue.oldest) == (schedule.PROBE_QUEUE, 1, None)
    assert SENT_HEADER == "hallmark_sent"


def test_waits_at_hosts_are_summed_over_all_processes(valkey: ValkeyServer) -> None:
    async def visit_twice() -> None:
        async with AsyncRedis.from_url(valkey.url) as redis:
            await redis.flushall()
            for _ in range(2):
                courtesy = SharedHostPacing(redis, longest_visit=5, gap=0.05)
                async with courtesy.reserve_host("one.example"):
                    pass

    asyncio.run(visit_twice())
    seen = read_broker(valkey, SteppingClock(NOW))
    assert seen.counters["host_waits"] == 1
    assert 0.01 < seen.counters["host_wait_seconds"] < 5
    assert seen.hosts <= 1


def test_the_github_quota_is_the_one_that_github_reported(valkey: ValkeyServer) -> None:
    async def ask(*answers: tuple[Resource, int, float]) -> None:
        async with AsyncRedis.from_url(valkey.url) as redis:
            await redis.flushall()
            budgets = SharedGitHubBudgets(redis)
            for resource, left, resets_in in answers:
                granted = await budgets.reserve("a1b2", resource, 1, 0)
                assert isinstance(granted, Granted)
                said = ReportedBudget(remaining=left, resets_in=resets_in)
                await budgets.settle(granted, reported=said, spent=0, rest=30 if resource == "graphql" else 0)

    asyncio.run(ask(("core", 4_990, 1_800.0), ("graphql", 4_000, 900.0)))
    seen = read_broker(valkey, SteppingClock(NOW))
    assert [(one.token, one.resource, one.left) for one in seen.quota] == [
        ("a1b2", "core", 4_990),
        ("a1b2", "graphql", 4_000),
    ]
    assert [one.resets_in for one in seen.quota] == [pytest.approx(1800, abs=10), pytest.approx(900, abs=10)]
    assert seen.pauses == {"a1b2": pytest.approx(30, abs=10)}
    asyncio.run(ask(("core", UNLIMITED_REQUESTS, 60.0)))
    assert read_broker(valkey, SteppingClock(NOW)).quota == (), "a GitHub that states no quota has none"


def test_a_broker_that_is_away_is_named_without_its_address() -> None:
    broker = BrokerReader(f"redis://:s3cret@127.0.0.1:{free_port()}/0", CLOCK, dict)
    with pytest.raises(BrokerUnavailable) as caught:
        broker.read_statistics()
    assert not broker.is_available()
    assert "s3cret" not in str(caught.value)
