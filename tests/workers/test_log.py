"""Logs: events on stderr, without credentials and without what servers said."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from crawler import event_log
from crawler.http.deadlines import isolate_shared_work
from evidence.model import Observed, Server, Trigger
from evidence.store import Stage
from tests.workers.world import LISTING, ScriptedCollector, ScriptedRegistry, World, context, ref
from workers import log, pipeline, schedule
from workers.runs.options import RunOptions
from workers.settings.secret import Secret

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()  # the next test has another stderr


@pytest.mark.parametrize("form", ["json", "console"])
def test_credentials_are_blanked_whatever_they_are_called(capsys: pytest.CaptureFixture[str], form: str) -> None:
    log.configure_logging("info", form)  # type: ignore[arg-type]
    log.get_log(github_token="hunter2").info(
        "asked", Authorization="hunter2", password="hunter2", url=Secret("hunter2")
    )
    out, err = capsys.readouterr()
    assert out == ""
    assert "hunter2" not in err
    assert "asked" in err


def test_json_lines_hold_the_event_and_its_ids(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure_logging("info", "json")
    log.get_log(run="r1").warning("registry_unavailable", registry="official")
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["run"], line["registry"], line["level"]) == (
        "registry_unavailable",
        "r1",
        "official",
        "warning",
    )


def test_the_first_event_of_each_of_several_threads_is_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure_logging("info", "json")
    (configure,) = event_log._WAITING
    is_configuring, is_other_done = threading.Event(), threading.Event()

    def configure_slowly() -> None:
        is_configuring.set()
        is_other_done.wait(0.2)  # in time only where the other thread does not wait for the configuration
        configure()

    def say(name: str) -> None:
        log.get_log().info(name)
        is_other_done.set()

    event_log.configure_with_first_event(configure_slowly)
    threads = [threading.Thread(target=say, args=(name,)) for name in ("one", "other")]
    threads[0].start()
    assert is_configuring.wait(5)
    threads[1].start()
    for thread in threads:
        thread.join(5)
    out, err = capsys.readouterr()
    assert out == ""
    assert {json.loads(line)["event"] for line in err.splitlines()} == {"one", "other"}


def test_repetitions_become_one_line_with_their_number(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(log.time, "monotonic", lambda: now[0])
    log.configure_logging("info", "json")
    for _ in range(4):
        log.get_log().error("database_unavailable", why="refused")
    log.get_log().error("database_unavailable", why="no route")
    now[0] += log.FOLDED_SECONDS
    log.get_log().error("database_unavailable", why="refused")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["why"], line.get("repeated")) for line in lines] == [
        ("refused", None),
        ("no route", None),
        ("refused", 3),
        ("refused", None),
    ]


def test_repetitions_of_libraries_are_folded_too(capsys: pytest.CaptureFixture[str]) -> None:
    folding = log._Folding(structlog.processors.JSONRenderer())
    handler = log._FoldedHandler(sys.stderr)
    handler.setFormatter(log._LibraryLines(lambda: [folding]))
    for message in ("lost", "lost", "found"):
        handler.handle(logging.LogRecord("kombu", logging.ERROR, __file__, 1, message, (), None))
    assert [json.loads(line)["message"] for line in capsys.readouterr().err.splitlines()] == ["lost", "found"]


def test_a_malformed_record_of_a_library_is_reported_and_stops_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    handler = log._FoldedHandler(sys.stderr)
    handler.setFormatter(log._LibraryLines(lambda: [log._Folding(structlog.processors.JSONRenderer())]))
    handler.handle(logging.LogRecord("kombu", logging.ERROR, __file__, 1, "lost %d of %d", ("one",), None))
    assert "Logging error" in capsys.readouterr().err


def test_less_severe_events_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure_logging("error", "json")
    log.get_log().info("run_planned")
    assert capsys.readouterr().err == ""


def test_frames_say_where_and_not_what() -> None:
    try:
        raise ValueError("what a server said")
    except ValueError as error:
        found = log.list_frames(error)
    assert found[-1].endswith("in test_frames_say_where_and_not_what")
    assert "what a server said" not in str(found)


def test_what_is_about_a_run_and_a_server_carries_both_also_in_what_it_starts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.configure_logging("info", "json")

    async def collect() -> None:
        with log.bind_log_context(server="s1"):
            log.get_log().info("asked")
            await asyncio.to_thread(log.get_log().info, "asked_in_a_thread")
            await asyncio.get_running_loop().create_task(for_all(), context=isolate_shared_work())
        log.get_log().info("over")

    async def for_all() -> None:
        log.get_log().info("asked_for_several")

    with log.bind_log_context(run="r1", stage="probe"):
        asyncio.run(collect())
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert {(line["run"], line["stage"]) for line in lines} == {("r1", "probe")}
    assert {line["event"]: line.get("server") for line in lines} == {
        "asked": "s1",
        "asked_in_a_thread": "s1",
        "asked_for_several": None,
        "over": None,
    }


def test_what_a_collector_logs_carries_its_server(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(server: Server) -> Observed:
        log.get_log().info("asked", wanted=server.id)
        return Observed(LISTING)

    async def main() -> None:
        registry = ScriptedRegistry("first", [[ref(number) for number in range(5)]])
        async with context(tmp_path, World([registry], [ScriptedCollector(answer)])) as ctx:
            run = pipeline.start_run(ctx, Trigger.LOCAL, RunOptions(registries=("first",)), run_id="r1")
            await pipeline.discover(ctx, run)
            with log.bind_log_context(run="r1", stage="collect"):
                await pipeline.collect(ctx, run, ctx.store.list_pending_servers("r1", Stage.COLLECT))

    log.configure_logging("info", "json")
    asyncio.run(main())
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    asked = [line for line in lines if line["event"] == "asked"]
    assert len({line["server"] for line in asked}) == 5
    assert all((line["server"], line["run"], line["stage"]) == (line["wanted"], "r1", "collect") for line in asked)


@pytest.mark.parametrize(
    ("task", "arguments", "expected"),
    [
        (schedule.PROBE_SHARD, ["r1"], {"task": "probe_shard", "run": "r1", "stage": "probe"}),
        (schedule.SCORE_SHARD, ("r1",), {"task": "score_shard", "run": "r1", "stage": "score"}),
        (schedule.PUBLISH_RUN, ["r1"], {"task": "publish_run", "run": "r1"}),
        (schedule.PLAN_RUN, [], {"task": "plan_run"}),
        (schedule.SWEEP, [], {"task": "sweep"}),
        (schedule.RUN_RETEST, ["a-request"], {"task": "retest"}),
    ],
)
def test_a_task_says_which_run_and_stage_it_is_about(task: str, arguments: list[str], expected: dict[str, str]) -> None:
    assert schedule.describe_task(task, arguments) == expected


def test_every_stage_of_a_fleet_is_named_by_its_task() -> None:
    assert {schedule.describe_task(task, ["r1"])["stage"] for task in schedule.SHARD_TASKS.values()} == {
        stage.value for stage in schedule.SHARD_TASKS
    }


LIBRARY = """
import logging, warnings
from workers import log
log.configure_logging("info", "json")
logging.getLogger("kombu").warning("no connection to redis://:s3cret@127.0.0.1:1/0\\nagain")
try:
    raise ValueError("what a server said")
except ValueError:
    logging.getLogger("celery").exception("task failed: what a server said")
warnings.warn("as root")
from celery.exceptions import WorkerLostError
from billiard.einfo import ExceptionInfo
try:
    raise WorkerLostError("Worker exited prematurely: signal 9 (SIGKILL)")
except WorkerLostError as lost:
    logging.getLogger("celery.worker.request").error("Task: %r", lost, exc_info=ExceptionInfo().exc_info)
"""


def test_what_libraries_log_is_lines_of_json_without_secrets_and_messages_of_exceptions() -> None:
    done = subprocess.run([sys.executable, "-c", LIBRARY], capture_output=True, text=True, check=True, cwd=ROOT)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(line["event"], line["logger"], line["level"]) for line in lines] == [
        ("library_logged", "kombu", "warning"),
        ("library_logged", "celery", "error"),
        ("library_logged", "py.warnings", "warning"),
        ("library_logged", "celery.worker.request", "error"),
    ]
    assert lines[0]["message"] == "no connection to redis://127.0.0.1:1/0 again"
    assert (lines[1]["error"], lines[1]["at"]) == ("ValueError", ["<string>:7 in <module>"])
    assert (lines[3]["error"], lines[3]["message"]) == (
        "WorkerLostError",
        "Worker exited prematurely: signal 9 (SIGKILL)",
    )
    assert "s3cret" not in done.stderr
    assert "what a server said" not in done.stderr
