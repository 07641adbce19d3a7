"""`hallmark retest`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer

from evidence.store import Retest, RetestState
from publish.comparison import as_json as comparison_json
from workers import full_probes, log, retest_runs, retesting
from workers.cli.boundary import explained
from workers.cli.comparisons import show_comparisons
from workers.cli.console import Exit, emit, err, fail, note
from workers.cli.session import find_server
from workers.context import Context, open_context
from workers.findings import operating_user
from workers.loop import run_loop
from workers.retesting import Refused, Report, Standing, WhyRefused
from workers.settings import Settings

app = typer.Typer(add_completion=False)

_POLL: Final = 0.5
_SQLITE: Final = "sqlite"
_WAITS: Final = "waiting for its turn"
_RUNS: Final = "asking what cost points"
_ASKS_ALL: Final = "asking everything"
_NOTHING_LEFT: Final = "nothing is left to be asked in full"


@app.command()
def retest(
    server: Annotated[str, typer.Argument(help="Id, reference or name of a server, or a part that only fits one.")],
    *,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait for the result. Without workers it is waited for anyway.")
    ] = True,
    full: Annotated[
        bool, typer.Option("--full", help="Without workers: then make the full probe that follows, too.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Look at one server again and show what changed: at most 30 requests about what cost it points.

    With PostgreSQL the workers do it, before everything else; otherwise this command does. A full probe follows: by the
    workers when no night needs them, otherwise with `--full` or in the next run.

    Examples:

    hallmark retest io.example/weather

    hallmark retest io.example/weather --full

    hallmark retest https://example.com/mcp --no-wait --json

    Exit codes: 0 done (or asked for, with --no-wait), 1 Hallmark failed, 2 wrong usage, 3 refused or unknown.
    """
    with explained():
        settings = Settings()
        log.configure("warning" if "log_level" not in settings.model_fields_set else settings.log_level, "auto")
        raise typer.Exit(run_loop(_retest(settings, server, wait=wait, full=full, as_json=as_json)))


async def _retest(settings: Settings, text: str, *, wait: bool, full: bool, as_json: bool) -> Exit:
    async with open_context(settings) as ctx:
        found = await asyncio.to_thread(find_server, ctx.store, text)
        await retest_runs.give_up_late(ctx)
        who = retesting.asker(settings, operating_user(), Standing.OPERATOR)
        asked = await asyncio.to_thread(retesting.request, ctx.store, settings, ctx.clock.wall(), found.id, who)
        if isinstance(asked, Refused):
            fail(asked.message, Exit.NOTHING if asked.why is not WhyRefused.TOO_MANY else Exit.FAILURE)
        if asked.again:
            note("this server is being re-tested already")
        report = await _follow(ctx, asked.retest, wait=wait)
        _print(report, found.ref, as_json=as_json)
        if full and report.retest.state is RetestState.DONE:
            await _in_full(ctx, report.retest, found.ref)
        return _exit_code(report, wait=wait)


async def _follow(ctx: Context, retest: Retest, *, wait: bool) -> Report:
    with err().status(_WAITS) as status:
        if ctx.settings.store_url.startswith(_SQLITE):
            await retest_runs.admit(ctx, retest)
            status.update(_RUNS)
            await retest_runs.run_one(ctx, retest.id)
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
        note(f"{ref}: the full probe follows in the background, when no night needs the workers")
        return
    with err().status(_ASKS_ALL):
        run = await full_probes.at_once(ctx, retest.id)
    note(f"{ref}: {f'probed in full in run {run}' if run else _NOTHING_LEFT}")


def _send() -> None:
    """Have a worker look at once; when the broker is away, beat has it later."""
    from kombu.exceptions import OperationalError  # noqa: PLC0415  only with workers
    from redis.exceptions import RedisError  # noqa: PLC0415

    from workers import schedule  # noqa: PLC0415
    from workers.celery_app import app as celery  # noqa: PLC0415

    try:
        celery.send_task(schedule.ADMIT_RETESTS)
    except (OperationalError, RedisError, OSError):
        note("the broker does not answer: the re-test begins when it does")


def _report(ctx: Context, retest: Retest) -> Report:
    report = retesting.report(ctx.store, ctx.settings, retest.id, operator=True)
    assert report is not None
    return report


def _print(report: Report, ref: str, *, as_json: bool) -> None:
    if as_json:
        emit(as_object(report))
        return
    retest = report.retest
    match retest.state:
        case RetestState.DONE:
            show_comparisons(report.comparisons)
            note(f"{ref}: re-tested in run {retest.run}, compared with {retest.before or 'nothing: no run before it'}")
        case RetestState.FAILED:
            note(f"{ref}: {retest.reason}")
        case _:
            note(f"{ref}: {retest.state.value}. `hallmark retests` shows what became of it")


def as_object(report: Report) -> dict[str, Any]:
    """The report for programs."""
    return {**retest_object(report.retest), "changes": _changes(report)}


def retest_object(retest: Retest) -> dict[str, Any]:
    """A request for programs; who asked is nobody's business."""
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


def _changes(report: Report) -> Sequence[dict[str, Any]] | None:
    if report.retest.state is not RetestState.DONE:
        return None
    return [comparison_json(one) for one in report.comparisons]


def _exit_code(report: Report, *, wait: bool) -> Exit:
    match report.retest.state:
        case RetestState.DONE:
            return Exit.OK
        case RetestState.FAILED:
            return Exit.FAILURE
        case _:
            return Exit.FAILURE if wait else Exit.OK
