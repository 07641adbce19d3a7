"""`hallmark night`: controls the nightly runs of a fleet."""

from __future__ import annotations

from typing import Final

import click

from evidence.kinds import listing
from evidence.model import Trigger
from evidence.store import RegistryWalk, RunAction, RunEvent, RunRow, RunState, Store
from publish.views.runs import OWN_FAILURES
from workers import pipeline
from workers.cli import operator
from workers.cli.display.console import ExitCode, exit_with_error, print_data, print_json, print_note, print_table
from workers.cli.display.nightly_page import (
    NightlyDetails,
    make_nightly_document,
    make_nightly_row,
    make_nightly_table,
    render_nightly_page,
)
from workers.cli.error_boundary import explain_failures
from workers.cli.options import CommandGroup, json_lines_option, limit_option, only_option, server_limit_option
from workers.cli.session import configure_command_logging, open_read_store
from workers.context import Context, open_context
from workers.event_loop import run_coroutine
from workers.nightly import closing
from workers.nightly.withholding import find_withholding_reason
from workers.observability.status import EMBEDDED_REASON, is_embedded
from workers.pipeline import NotPublishable
from workers.runs.options import RunOptions
from workers.settings.environment import Settings, read_settings

_LOOK_BACK: Final = 400
_NIGHTS: Final = (Trigger.NIGHTLY,)
_NO_NIGHT: Final = "no nightly run yet: Celery beat starts one every day, `hallmark night start` starts one now"

_run_argument = click.argument(
    "run",
    required=False,
    help="Id of a nightly run or its beginning. Default: the newest unfinished one.",
)
_reason_option = click.option(
    "--reason", default="", show_default=False, help="The reason, which is kept in the history of the run."
)


@click.group(cls=CommandGroup)
def night() -> None:
    """Control nightly runs: start, pause, resume, cancel or publish one.

    Celery beat starts a run every night. Workers collect and score it, and it is published automatically.

    A run is withheld (not published) when failures of Hallmark left too much unmeasured; `show` says what.

    `resume` continues a paused run, and tries the failed servers of a withheld run again.

    `publish --anyway` publishes a run as it is. `cancel` ends it unpublished; its evidence stays.

    Examples:

    hallmark night start --registry official --limit 500 --by ana

    hallmark night pause --reason "the provider asked for a quiet hour"

    hallmark night show

    hallmark night publish --anyway --reason "the sandbox was down, remotes are complete"

    Exit codes: 0 done, 1 not possible in the state of the run, 2 wrong usage, 3 no such run.
    """


@night.command()
@click.option("--registry", multiple=True, help="Read this registry instead of those of the settings. Repeatable.")
@server_limit_option
@only_option
@click.option("--beside", is_flag=True, help="Also while another run is unfinished; both contact the same servers.")
@_reason_option
@operator.by_option
@json_lines_option
def start(
    *,
    registry: tuple[str, ...],
    limit: int | None,
    only: tuple[str, ...],
    beside: bool,
    reason: str,
    by: str,
    as_json: bool,
) -> None:
    """Start a run now, in addition to the scheduled ones. The workers begin soon after.

    It is refused while another run is unfinished, for example the scheduled one, which beat plans when it starts.
    """
    who = operator.find_decider(by)
    with explain_failures():
        settings = read_settings()
        if is_embedded(settings):
            exit_with_error(
                f"expected a fleet on PostgreSQL, found {EMBEDDED_REASON}. `hallmark run` starts at once",
                ExitCode.USAGE,
            )
        options = RunOptions(registries=registry or tuple(settings.registry_names), only=only, limit=limit)
        row = run_coroutine(_start(settings, options, who=who, reason=reason, beside=beside))
        _print_state(row, as_json=as_json, done="started; `hallmark status --watch` shows it")


@night.command(name="list")
@limit_option(20)
@json_lines_option
def list_nights(limit: int, as_json: bool) -> None:
    """List nightly runs, newest first, with their states and the reasons."""
    with open_read_store() as store:
        runs = store.list_runs(limit, triggers=_NIGHTS)
        nights = [(row, store.read_progress(row.run.id), _list_failed_walks(store, row)) for row in runs]
        if as_json:
            for night in nights:
                print_json(make_nightly_row(*night))
        else:
            print_table(make_nightly_table(nights), _NO_NIGHT)


@night.command(name="show")
@_run_argument
@json_lines_option
def show_night(run: str | None, as_json: bool) -> None:
    """Show one nightly run: its progress, why it cannot be published, and the actions of operators."""
    with open_read_store() as store:
        row = _night(store, run, finished=True)
        progress, events = store.read_progress(row.run.id), store.read_run_events(row.run.id)
        withheld_for = (
            ""
            if row.state.is_final
            else find_withholding_reason(progress, store.list_failures(row.run.id), read_settings())
        )
        carried = store.list_carried_servers(row.run.id)
        last = store.read_last_collection_times(row.run.id, carried)
        details = NightlyDetails(
            row, progress, events, withheld_for, min(last.values(), default=None), len(carried) - len(last)
        )
        if as_json:
            print_json(make_nightly_document(details))
        else:
            print_data(render_nightly_page(details))


@night.command()
@_run_argument
@_reason_option
@operator.by_option
@json_lines_option
def pause(run: str | None, reason: str, by: str, as_json: bool) -> None:
    """Pause a run: within a minute workers release their servers. The deadline does not move."""
    _act(run, RunAction.PAUSED, reason, by, as_json=as_json, done="paused; `hallmark night resume` continues it")


@night.command()
@_run_argument
@_reason_option
@operator.by_option
@json_lines_option
def resume(run: str | None, reason: str, by: str, as_json: bool) -> None:
    """Continue a paused run, or reopen a withheld run: its deadline restarts, and failed servers are tried again."""
    who = operator.find_decider(by)
    with open_read_store() as store:
        row = _night(store, run)
        if row.state is not RunState.WITHHELD:
            after = store.apply_run_action(row.run.id, _event(RunAction.RESUMED, who, reason))
            _print_state(after, as_json=as_json, done="continues soon")
            return
        event = _event(RunAction.REOPENED, who, reason)
        again = store.reopen_run(row.run.id, event, kind=listing.KIND, reasons=OWN_FAILURES)
        after = store.find_run(row.run.id) or row
        _print_state(
            after,
            as_json=as_json,
            done=f"continues soon; {again} servers are tried again",
        )


@night.command()
@_run_argument
@_reason_option
@operator.by_option
@json_lines_option
def cancel(run: str | None, reason: str, by: str, as_json: bool) -> None:
    """End a run unpublished. Its evidence stays, and the next run is due as usual."""
    _act(run, RunAction.CANCELLED, reason, by, as_json=as_json, done="cancelled")


@night.command()
@_run_argument
@click.option(
    "--anyway", is_flag=True, help="Also when the run is withheld or less than 99 % is scored; needs --reason."
)
@_reason_option
@operator.by_option
@json_lines_option
def publish(run: str | None, anyway: bool, reason: str, by: str, as_json: bool) -> None:
    """Publish a run now. Collected servers are scored first; the manifest says how many are missing."""
    who = operator.find_decider(by)
    if anyway and not reason.strip():
        exit_with_error("expected --reason with why the run is published although it is incomplete", ExitCode.USAGE)
    with open_read_store() as store:
        row = _night(store, run)
    with explain_failures():
        settings = read_settings()
        configure_command_logging(settings)
        event = _event(RunAction.PUBLISHED, who, reason)
        try:
            after = run_coroutine(_publish(settings, row, event, anyway=anyway))
        except NotPublishable as error:
            exit_with_error(f"{error} With --anyway and --reason a run is published as it is")
        _print_state(after, as_json=as_json, done="published")


async def _start(settings: Settings, options: RunOptions, *, who: str, reason: str, beside: bool) -> RunRow:
    async with open_context(settings) as ctx:
        await ctx.wiring.registries(options.registries)  # an unknown source is an error before a run exists
        working = [row.run.id for row in ctx.store.list_unfinished_runs(Trigger.NIGHTLY) if row.state.is_working]
        if working and not beside:
            exit_with_error(
                f"run {', '.join(working)} is unfinished and contacts the same servers. Wait for its end "
                "(`hallmark status`), end it with `hallmark night cancel`, or start this run with --beside"
            )
        run = pipeline.start_run(ctx, Trigger.NIGHTLY, options)
        return ctx.store.apply_run_action(run.id, _event(RunAction.STARTED, who, reason))


async def _publish(settings: Settings, row: RunRow, event: RunEvent, *, anyway: bool) -> RunRow:
    async with open_context(settings) as ctx:
        if anyway:
            await closing.force_publish(ctx, row, event)
        else:
            await _publish_if_complete(ctx, row)
        after = ctx.store.find_run(row.run.id)
        assert after is not None
        return after


async def _publish_if_complete(ctx: Context, row: RunRow) -> None:
    """Publish a run as the workers would, if nothing forbids it."""
    if why := closing.read_withholding_reason(ctx, row.run.id, ctx.store.read_progress(row.run.id)):
        exit_with_error(f"{why}. With --anyway and --reason it is published as it is")
    if not row.state.is_working:
        exit_with_error(f"run {row.run.id} is {row.state.value}. With --anyway and --reason it is published as it is")
    await closing.publish_run(ctx, row.run.id)


def _act(run: str | None, what: RunAction, reason: str, by: str, *, as_json: bool, done: str) -> None:
    who = operator.find_decider(by)
    with open_read_store() as store:
        row = _night(store, run)
        _print_state(store.apply_run_action(row.run.id, _event(what, who, reason)), as_json=as_json, done=done)


def _list_failed_walks(store: Store, row: RunRow) -> list[RegistryWalk]:
    return [walk for walk in store.list_walks(row.run.id) if walk.error]


def _night(store: Store, name: str | None, *, finished: bool = False) -> RunRow:
    """The run with this id or beginning; without a name the newest unfinished one, with `finished` the newest."""
    runs = store.list_runs(_LOOK_BACK, triggers=_NIGHTS)
    if name is None:
        unfinished = [row for row in runs if not row.state.is_final]
        if found := unfinished or (runs if finished else []):
            return found[0]
        exit_with_error("no unfinished nightly run. `hallmark night list` shows finished ones", ExitCode.NOTHING)
    matching = [row for row in runs if row.run.id.startswith(name)]
    exact = [row for row in matching if row.run.id == name] or matching
    if len(exact) != 1:
        ids = ", ".join(row.run.id for row in matching[:5]) or "none"
        exit_with_error(
            f"expected the id of one nightly run, found {ids} for {name!r}. `hallmark night list` shows them",
            ExitCode.NOTHING,
        )
    return exact[0]


def _event(what: RunAction, who: str, reason: str) -> RunEvent:
    return RunEvent(at=operator.read_clock(), who=who, what=what, note=reason.strip())


def _print_state(row: RunRow, *, as_json: bool, done: str) -> None:
    if as_json:
        print_json({"run": row.run.id, "state": row.state.value, "note": row.note})
    else:
        print_note(f"{row.run.id}: {done}")
