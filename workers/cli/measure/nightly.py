"""`hallmark night`: start, watch and steer the runs of a fleet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer

from evidence.kinds import listing
from evidence.model import Trigger
from evidence.store import RunAction, RunEvent, RunRow, RunState, Store
from publish.views.runs import OWN_FAILURES
from workers import log, pipeline
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
from workers.cli.session import open_read_store
from workers.clock import clock_at
from workers.context import Context, open_context
from workers.event_loop import run_coroutine
from workers.nightly import closing
from workers.nightly.withholding import find_withholding_reason
from workers.observability.status import EMBEDDED_REASON, is_embedded
from workers.pipeline import NotPublishable
from workers.runs.options import RunOptions
from workers.settings.environment import Settings

app = typer.Typer(add_completion=False, no_args_is_help=True)

_LOOK_BACK: Final = 400
_NIGHTS: Final = (Trigger.NIGHTLY,)
_NO_NIGHT: Final = "no night yet: beat starts one every day where there are workers, `hallmark night start` one now"

RunArgument = Annotated[
    str | None,
    typer.Argument(metavar="RUN", help="Id of a night or the beginning of one. Default: the newest that is not over."),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object per line, for programs.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; it stays in the trail of the run.")]


@app.callback()
def night() -> None:
    """Control nightly runs: start, pause, resume, cancel or publish one.

    Beat starts a night every day, workers collect and score it, and it is published by itself.

    It is withheld when too much is missing through failures of Hallmark's own: show says what.

    A paused night goes on where it was with resume; a withheld one tries again what failed.

    publish --anyway publishes a night as it is; cancel ends it unpublished, and its evidence stays.

    Examples:

    hallmark night start --registry official --limit 500

    hallmark night pause --reason "the provider asked for a quiet hour"

    hallmark night show

    hallmark night publish --anyway --reason "the sandbox was down, remotes are complete"

    Exit codes: 0 done, 1 it cannot be done to a run in this state, 2 wrong usage, 3 there is no such run.
    """


@app.command()
def start(
    *,
    registry: Annotated[
        list[str] | None, typer.Option(help="What to walk instead of the registries of the settings. Repeatable.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many servers, the first by id.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only servers whose id, reference or name fits; * allowed. Repeatable."),
    ] = None,
    reason: ReasonOption = "",
    by: operator.By = "",
    as_json: AsJson = False,
) -> None:
    """Start a night now, besides those that are due. The workers begin with it at the next sweep."""
    who = operator.find_decider(by)
    with explain_failures():
        settings = Settings()
        if is_embedded(settings):
            exit_with_error(
                f"expected a fleet on PostgreSQL, found {EMBEDDED_REASON}. `hallmark run` works at once", ExitCode.USAGE
            )
        options = RunOptions(registries=tuple(registry or settings.registry_names), only=tuple(only or ()), limit=limit)
        row = run_coroutine(_start(settings, options, who=who, reason=reason))
        _tell(row, as_json=as_json, done="started; `hallmark status --watch` shows it")


@app.command(name="list")
def list_nights(
    limit: Annotated[int, typer.Option(min=1, help="How many, newest first.")] = 20, as_json: AsJson = False
) -> None:
    """List the nights, newest first, with their state and why they are in it."""
    with open_read_store() as store:
        nights = store.list_runs(limit, triggers=_NIGHTS)
        if as_json:
            for row in nights:
                print_json(make_nightly_row(row, store.read_progress(row.run.id)))
        else:
            print_table(make_nightly_table([(row, store.read_progress(row.run.id)) for row in nights]), _NO_NIGHT)


@app.command(name="show")
def show_night(run: RunArgument = None, as_json: AsJson = False) -> None:
    """Show one night: how far it is, what keeps it from being published, and who did what to it."""
    with open_read_store() as store:
        row = _night(store, run, finished=True)
        progress, events = store.read_progress(row.run.id), store.read_run_events(row.run.id)
        held_up = (
            "" if row.state.is_final else find_withholding_reason(progress, store.list_failures(row.run.id), Settings())
        )
        carried = store.list_carried_servers(row.run.id)
        last = store.read_last_collection_times(row.run.id, carried)
        told = NightlyDetails(
            row, progress, events, held_up, min(last.values(), default=None), len(carried) - len(last)
        )
        if as_json:
            print_json(make_nightly_document(told))
        else:
            print_data(render_nightly_page(told))


@app.command()
def pause(run: RunArgument = None, reason: ReasonOption = "", by: operator.By = "", as_json: AsJson = False) -> None:
    """Pause a night: within a minute workers give back what they hold. Its deadline does not move."""
    _act(run, RunAction.PAUSED, reason, by, as_json=as_json, done="paused; `hallmark night resume` goes on")


@app.command()
def resume(run: RunArgument = None, reason: ReasonOption = "", by: operator.By = "", as_json: AsJson = False) -> None:
    """Go on with a paused night, or give one that was withheld its time once more: what failed is tried again."""
    who = operator.find_decider(by)
    with open_read_store() as store:
        row = _night(store, run)
        if row.state is not RunState.WITHHELD:
            after = store.apply_run_action(row.run.id, _event(RunAction.RESUMED, who, reason))
            _tell(after, as_json=as_json, done="goes on at the next sweep")
            return
        event = _event(RunAction.REOPENED, who, reason)
        again = store.reopen_run(row.run.id, event, kind=listing.KIND, reasons=OWN_FAILURES)
        after = store.find_run(row.run.id) or row
        _tell(after, as_json=as_json, done=f"goes on at the next sweep; {again} servers are looked at again")


@app.command()
def cancel(run: RunArgument = None, reason: ReasonOption = "", by: operator.By = "", as_json: AsJson = False) -> None:
    """End a night for good: nothing is published of it, and the evidence stays. The next one is due as ever."""
    _act(run, RunAction.CANCELLED, reason, by, as_json=as_json, done="cancelled")


@app.command()
def publish(
    run: RunArgument = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Also when it is withheld, or less than 99 % is scored; needs --reason.")
    ] = False,
    reason: ReasonOption = "",
    by: operator.By = "",
    as_json: AsJson = False,
) -> None:
    """Publish a night now. What is collected is scored first; what is not is missing, as its manifest says."""
    who = operator.find_decider(by)
    if anyway and not reason.strip():
        exit_with_error("expected --reason with why it is published in spite of what is missing", ExitCode.USAGE)
    with open_read_store() as store:
        row = _night(store, run)
    with explain_failures(), _published():
        settings = Settings()
        log.configure_logging(
            settings.log_level if "log_level" in settings.model_fields_set else "warning", settings.log_format
        )
        event = _event(RunAction.PUBLISHED, who, reason)
        after = run_coroutine(_publish(settings, row, event, anyway=anyway))
        _tell(after, as_json=as_json, done="published")


async def _start(settings: Settings, options: RunOptions, *, who: str, reason: str) -> RunRow:
    async with open_context(settings) as ctx:
        await ctx.outside.registries(options.registries)  # an unknown source is an error before a run exists
        run = pipeline.start_run(ctx, Trigger.NIGHTLY, options)
        return ctx.store.apply_run_action(run.id, _event(RunAction.STARTED, who, reason))


async def _publish(settings: Settings, row: RunRow, event: RunEvent, *, anyway: bool) -> RunRow:
    async with open_context(settings) as ctx:
        if anyway:
            await closing.force_publish(ctx, row, event)
        else:
            await _publish_fit(ctx, row)
        after = ctx.store.find_run(row.run.id)
        assert after is not None
        return after


async def _publish_fit(ctx: Context, row: RunRow) -> None:
    """Publish a night as the workers would, if it is fit for it."""
    if why := closing.read_withholding_reason(ctx, row.run.id, ctx.store.read_progress(row.run.id)):
        exit_with_error(f"{why}. With --anyway and --reason it is published as it is")
    if not row.state.is_working:
        exit_with_error(f"run {row.run.id} is {row.state.value}. With --anyway and --reason it is published as it is")
    await closing.publish_run(ctx, row.run.id)


@contextmanager
def _published() -> Iterator[None]:
    try:
        yield
    except NotPublishable as error:
        exit_with_error(f"{error} With --anyway and --reason a run is published as it is")


def _act(run: str | None, what: RunAction, reason: str, by: str, *, as_json: bool, done: str) -> None:
    who = operator.find_decider(by)
    with open_read_store() as store:
        row = _night(store, run)
        _tell(store.apply_run_action(row.run.id, _event(what, who, reason)), as_json=as_json, done=done)


def _night(store: Store, name: str | None, *, finished: bool = False) -> RunRow:
    """The night that is meant; without a name the newest that is not over, or where that is asked for the newest."""
    nights = store.list_runs(_LOOK_BACK, triggers=_NIGHTS)
    if name is None:
        going = [row for row in nights if not row.state.is_final]
        if found := going or (nights if finished else []):
            return found[0]
        exit_with_error("no night is under way. `hallmark night list` shows those that are over", ExitCode.NOTHING)
    matching = [row for row in nights if row.run.id.startswith(name)]
    exact = [row for row in matching if row.run.id == name] or matching
    if len(exact) != 1:
        ids = ", ".join(row.run.id for row in matching[:5]) or "none"
        exit_with_error(
            f"expected the id of one night, found {ids} for {name!r}. `hallmark night list` shows them",
            ExitCode.NOTHING,
        )
    return exact[0]


def _event(what: RunAction, who: str, reason: str) -> RunEvent:
    return RunEvent(at=clock_at(Settings().clock).wall(), who=who, what=what, note=reason.strip())


def _tell(row: RunRow, *, as_json: bool, done: str) -> None:
    if as_json:
        print_json({"run": row.run.id, "state": row.state.value, "note": row.note})
    else:
        print_note(f"{row.run.id}: {done}")
