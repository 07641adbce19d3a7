"""`hallmark retest`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import click

from evidence.store import Retest, RetestState
from workers import log
from workers.cli.display.comparisons import make_comparison_object, show_comparisons
from workers.cli.display.console import ExitCode, exit_with_error, open_stderr, print_json, print_note
from workers.cli.error_boundary import explain_failures
from workers.cli.extras import PACKAGES, require_extra
from workers.cli.options import json_document_option
from workers.cli.session import find_server
from workers.context import Context, open_context
from workers.event_loop import run_coroutine
from workers.publication.finding_disclosure import read_login_name
from workers.retests import execution, full_probes, retest_requests
from workers.retests.retest_requests import RequesterRole, RetestProgress, RetestRefusal, RetestRefused
from workers.settings.environment import Settings, is_set, read_settings

_POLL: Final = 0.5
_SQLITE: Final = "sqlite"
_WAITS: Final = "waiting for its turn"
_RUNS: Final = "asking the questions behind lost points"
_ASKS_ALL: Final = "making the full probe"
_NOTHING_LEFT: Final = "no full probe is due"


@click.command()
@click.argument("server", help="Id, reference or name of a server, or a part that matches only one.")
@click.option("--wait/--no-wait", default=True, help="Wait for the result. Without workers the command always waits.")
@click.option("--full", is_flag=True, help="Without workers: also make the full test that follows.")
@json_document_option
def retest(server: str, *, wait: bool, full: bool, as_json: bool) -> None:
    """Measure one server again and show what changed: at most 30 requests, about the lines that lost points.

    With PostgreSQL the workers measure it, before all other work; otherwise this command does. A full test follows: by
    the workers when no nightly run needs them, otherwise with `--full` or in the next run.

    Examples:

    hallmark retest io.example/weather

    hallmark retest io.example/weather --full

    hallmark retest https://example.com/mcp --no-wait --json

    Exit codes: 0 done (or asked for, with --no-wait), 1 Hallmark failed, 2 wrong usage, 3 refused or unknown.
    """
    with explain_failures():
        require_extra(PACKAGES)
        settings = read_settings()
        log.configure_logging(settings.log_level if is_set("log_level") else "warning", "auto")
        raise click.exceptions.Exit(run_coroutine(_retest(settings, server, wait=wait, full=full, as_json=as_json)))


async def _retest(settings: Settings, text: str, *, wait: bool, full: bool, as_json: bool) -> ExitCode:
    async with open_context(settings) as ctx:
        found = await asyncio.to_thread(find_server, ctx.store, text)
        await execution.fail_late_retests(ctx)
        who = retest_requests.identify_asker(settings, read_login_name(), RequesterRole.OPERATOR)
        asked = await asyncio.to_thread(
            retest_requests.request_retest, ctx.store, settings, ctx.clock.wall(), found.id, who
        )
        if isinstance(asked, RetestRefused):
            exit_with_error(
                asked.message, ExitCode.NOTHING if asked.why is not RetestRefusal.TOO_MANY else ExitCode.FAILURE
            )
        if asked.again:
            print_note("this server is being re-tested already")
        report = await _follow(ctx, asked.retest, wait=wait)
        _print(report, found.ref, as_json=as_json)
        if full and report.retest.state is RetestState.DONE:
            await _in_full(ctx, report.retest, found.ref)
        return _exit_code(report, wait=wait)


async def _follow(ctx: Context, retest: Retest, *, wait: bool) -> RetestProgress:
    with open_stderr().status(_WAITS) as status:
        if ctx.settings.store_url.startswith(_SQLITE):
            await execution.admit_retest(ctx, retest)
            status.update(_RUNS)
            await execution.run_retest(ctx, retest.id)
            return _report(ctx, retest)
        _send()
        ends = ctx.clock.monotonic() + ctx.settings.retest_deadline.total_seconds()
        while True:
            report = await asyncio.to_thread(_report, ctx, retest)
            if not (wait and report.retest.is_open) or ctx.clock.monotonic() > ends:
                return report
            status.update(_WAITS if report.retest.state is RetestState.WAITING else _RUNS)
            await asyncio.sleep(_POLL)


async def _in_full(ctx: Context, retest: Retest, ref: str) -> None:
    if not ctx.settings.store_url.startswith(_SQLITE):
        print_note(f"{ref}: the full probe follows in the background, when no nightly run needs the workers")
        return
    with open_stderr().status(_ASKS_ALL):
        run = await full_probes.run_full_probe(ctx, retest.id)
    print_note(f"{ref}: {f'probed in full in run {run}' if run else _NOTHING_LEFT}")


def _send() -> None:
    """Let a worker admit the re-test at once; while the broker is unavailable, beat does it later."""
    from kombu.exceptions import OperationalError  # noqa: PLC0415  only with workers
    from redis.exceptions import RedisError  # noqa: PLC0415

    from workers import schedule  # noqa: PLC0415
    from workers.celery_app import app as celery  # noqa: PLC0415

    try:
        celery.send_task(schedule.ADMIT_RETESTS)
    except (OperationalError, RedisError, OSError):
        print_note("the broker does not answer: the re-test begins when it does")


def _report(ctx: Context, retest: Retest) -> RetestProgress:
    report = retest_requests.report_retest(ctx.store, ctx.settings, retest.id, operator=True)
    assert report is not None
    return report


def _print(report: RetestProgress, ref: str, *, as_json: bool) -> None:
    if as_json:
        print_json(make_report_object(report))
        return
    retest = report.retest
    match retest.state:
        case RetestState.DONE:
            show_comparisons(report.comparisons)
            print_note(
                f"{ref}: re-tested in run {retest.run}, compared with {retest.before or 'nothing: no run before it'}"
            )
        case RetestState.FAILED:
            print_note(f"{ref}: {retest.reason}")
        case _:
            print_note(f"{ref}: {retest.state.value}. `hallmark retests` shows its result")


def make_report_object(report: RetestProgress) -> dict[str, Any]:
    return {**make_retest_object(report.retest), "changes": _changes(report)}


def make_retest_object(retest: Retest) -> dict[str, Any]:
    """A request as JSON, without its client."""
    moments = {
        name: None if at is None else at.isoformat()
        for name, at in (
            ("asked_at", retest.asked_at),
            ("admitted_at", retest.admitted_at),
            ("finished_at", retest.finished_at),
        )
    }
    return {
        "retest": retest.id,
        "server": retest.server,
        "state": retest.state.value,
        "reason": retest.reason,
        "run": retest.run,
        "before": retest.before,
        **moments,
    }


def _changes(report: RetestProgress) -> Sequence[dict[str, Any]] | None:
    if report.retest.state is not RetestState.DONE:
        return None
    return [make_comparison_object(one) for one in report.comparisons]


def _exit_code(report: RetestProgress, *, wait: bool) -> ExitCode:
    match report.retest.state:
        case RetestState.DONE:
            return ExitCode.OK
        case RetestState.FAILED:
            return ExitCode.FAILURE
        case _:
            return ExitCode.FAILURE if wait else ExitCode.OK
