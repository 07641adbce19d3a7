"""Each problem of a fleet has a sentence, and says what to do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from evidence.store import RegistryWalk, RunState, Stage
from tests.workers import world
from tests.workers.observability.test_metrics import BEFORE, NIGHT, NOW, OVERVIEW, ROW, STANDING, WAITING
from workers import schedule
from workers.coordination.broker_statistics import QueueStatistics
from workers.observability.problems import Problem, find_problems
from workers.observability.run_statistics import StageStatistics, StoreStatistics
from workers.observability.status import SystemStatus, Unavailable
from workers.runs.pins import digest_pins

VERSION = digest_pins(ROW.run.pins)
ALL = (*schedule.QUEUES, *(schedule.name_version_queue(queue, VERSION) for queue in schedule.QUEUES))


def sandbox(due: int) -> StageStatistics:
    return StageStatistics(
        stage=Stage.SANDBOX, planned=20, done=1, held=0, expired=0, retries=0, failing=0, rate=None, due=due
    )


def status(*queues: str, due: int = 17) -> SystemStatus:
    """A night with servers that wait for the sandbox, and one worker of these queues."""
    broker = replace(WAITING, workers={"one@host": queues}, queues=())
    store = replace(STANDING, shown=replace(NIGHT, stages=(sandbox(due),)))
    return replace(OVERVIEW, store=store, broker=broker)


def only(found: SystemStatus) -> Problem:
    (problem,) = find_problems(found)
    return problem


def test_a_fleet_that_works_has_no_problem() -> None:
    assert find_problems(status(*ALL)) == ()


def test_a_stage_that_no_worker_serves_is_named_with_its_servers_and_the_command() -> None:
    problem = only(status(*(queue for queue in ALL if not queue.startswith("sandbox"))))
    assert (problem.kind, problem.what) == (
        "queue_not_served",
        "no worker takes tasks from the queue sandbox: 17 servers wait",
    )
    assert "--queues sandbox" in problem.action
    assert find_problems(status(*(queue for queue in ALL if not queue.startswith("sandbox")), due=0)) == ()


def test_messages_that_no_worker_takes_are_a_problem() -> None:
    found = status(*(queue for queue in ALL if not queue.startswith("retest")))
    assert isinstance(found.broker, type(WAITING))
    waiting = replace(found, broker=replace(found.broker, queues=(QueueStatistics("retest", 3, 9.0),)))
    assert "queue retest: 3 messages wait" in only(waiting).what


def test_a_night_whose_version_has_no_worker_is_named_after_a_time() -> None:
    problem = only(status(*schedule.QUEUES))
    assert problem.kind == "no_worker_of_version"
    assert ROW.run.id in problem.what
    assert "night cancel" in problem.action
    young = replace(ROW, planned_at=NOW - timedelta(seconds=30))
    found = status(*schedule.QUEUES)
    assert find_problems(replace(found, store=replace(STANDING, unfinished=(young,)))) == ()


def test_a_night_whose_workers_hold_servers_and_finish_none_is_named() -> None:
    def found(**stage: Any) -> tuple[Problem, ...]:
        one = status(*ALL)
        assert isinstance(one.store, StoreStatistics)
        stages = (sandbox(0), replace(sandbox(17), **stage))
        return find_problems(replace(one, store=replace(one.store, shown=replace(NIGHT, stages=stages))))

    (problem,) = found(held=3, latest=NOW - timedelta(minutes=16))
    assert problem.kind == "run_stands_still"
    assert problem.what == f"run {ROW.run.id} stands still: 3 servers are held by workers, none done for 16 min"
    assert "restart" in problem.action
    assert found(held=3, latest=NOW - timedelta(minutes=14)) == ()
    assert found(held=0, latest=NOW - timedelta(minutes=16)) == ()


def test_many_servers_that_were_not_asked_are_a_problem_of_the_next_run_with_what_kept_us() -> None:
    def found(**not_asked: int) -> tuple[Problem, ...]:
        one = status(*ALL)
        assert isinstance(one.store, StoreStatistics)
        stages = (replace(sandbox(0), planned=1_000),)
        return find_problems(
            replace(one, store=replace(one.store, shown=replace(NIGHT, stages=stages, not_asked=not_asked)))
        )

    (problem,) = found(**{"our own bound of 5 requests is reached": 9, "the index is offline": 2})
    assert (problem.kind, problem.open) == ("servers_not_asked", False)
    assert problem.what == (
        f"11 of 1000 servers of run {ROW.run.id} were not asked, 9 because our own bound of 5 requests is reached"
    )
    assert "HALLMARK_DOMAIN_REQUESTS" in problem.action
    assert found(**{"our own bound of 5 requests is reached": 10}) == ()


def test_nights_that_overlap_are_named_and_stopped_ones_do_not_count() -> None:
    other = replace(ROW, run=replace(ROW.run, id="20261121T040000Z"))
    found = status(*ALL)
    problem = only(replace(found, store=replace(STANDING, shown=None, unfinished=(ROW, other))))
    assert problem.kind == "nights_overlap"
    assert ROW.run.id in problem.what
    assert other.run.id in problem.what
    stopped = replace(other, state=RunState.PAUSED)
    assert find_problems(replace(found, store=replace(STANDING, shown=None, unfinished=(ROW, stopped)))) == ()


def test_a_registry_that_cannot_be_read_is_named_with_its_error() -> None:
    walk = RegistryWalk(registry="official", error="no answer within 30 s")
    store = replace(STANDING, shown=None, unfinished=(), failed_walks={ROW.run.id: [walk]})
    problem = only(replace(status(*ALL), store=store))
    assert problem.kind == "registry_unavailable"
    assert "official" in problem.what
    assert "no answer within 30 s" in problem.what
    assert problem.open


def test_a_registry_that_a_planned_night_went_on_without_is_a_problem_of_the_next_one() -> None:
    walk = RegistryWalk(registry="official", error="no answer within 30 s")
    store = replace(STANDING, shown=None, failed_walks={ROW.run.id: [walk]})
    problem = only(replace(status(*ALL), store=store))
    assert (problem.kind, problem.open) == ("registry_unavailable", False)
    assert "next run" in problem.action
    discovering = replace(ROW, state=RunState.DISCOVERING)
    assert only(replace(status(*ALL), store=replace(store, unfinished=(discovering,)))).open


def test_a_database_a_broker_and_a_night_that_are_missing_are_problems() -> None:
    found = SystemStatus(
        at=NOW,
        store=Unavailable("the database did not answer"),
        broker=Unavailable("no broker"),
        due=world.NIGHT,
        overdue=0,
    )
    assert [problem.kind for problem in find_problems(found)] == ["database_unavailable", "broker_unavailable"]
    late = replace(status(*ALL), store=replace(STANDING, shown=None, unfinished=(), published=BEFORE), is_overdue=True)
    assert only(late).kind == "night_missing"
