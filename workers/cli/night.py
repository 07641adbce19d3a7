"""`hallmark night`: start, watch and steer the runs of a fleet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer

from evidence.kinds import listing
from evidence.model import Trigger
from evidence.store import RunAct, RunEvent, RunRow, RunState, Store
from publish.nights import OWN_FAILURES
from workers import closing, log, pipeline
from workers.cli import decided
from workers.cli.boundary import explained
from workers.cli.console import Exit, emit, fail, note, show, show_rows
from workers.cli.night_page import Told, as_row, document, listed, page
from workers.cli.session import reading
from workers.clock import clock_at
from workers.context import Context, open_context
from workers.loop import run_loop
from workers.options import RunOptions
from workers.overview import EMBEDDED, is_embedded
from workers.pipeline import NotPublishable
from workers.refusal import refuse
from workers.settings import Settings

app = typer.Typer(add_completion=False, no_args_is_help=True)

_LOOK_BACK: Final = 400
_NIGHTS: Final = (Trigger.NIGHTLY,)
_NO_NIGHT: Final = "no night yet: beat starts one every day where there are workers, `hallmark night start` one now"

Named = Annotated[
    str | None,
    typer.Argument(metavar="RUN", help="Id of a night or the beginning of one. Default: the newest that is not over."),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object per line, for programs.")]
Why = Annotated[str, typer.Option("--reason", help="Why; it stays in the trail of the run.")]


@app.callback()
def night() -> None:
    """Steer the nights of a fleet: start, pause, resume, cancel or publish one.

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
    reason: Why = "",
    by: decided.By = "",
    as_json: AsJson = False,
) -> None:
    """Start a night now, besides those that are due. The workers begin with it at the next sweep."""
    who = decided.who(by)
    with explained():
        settings = Settings()
        if is_embedded(settings):
            fail(f"expected a fleet on PostgreSQL, found {EMBEDDED}. `hallmark run` works at once", Exit.USAGE)
        options = RunOptions(registries=tuple(registry or settings.registry_names), only=tuple(only or ()), limit=limit)
        row = run_loop(_start(settings, options, who=who, reason=reason))
        _tell(row, as_json=as_json, done="started; `hallmark status --watch` shows it")


@app.command(name="list")
def list_nights(
    limit: Annotated[int, typer.Option(min=1, help="How many, newest first.")] = 20, as_json: AsJson = False
) -> None:
    """List the nights, newest first, with their state and why they are in it."""
    with reading() as store:
        nights = store.runs(limit, triggers=_NIGHTS)
        if as_json:
            for row in nights:
                emit(as_row(row, store.progress(row.run.id)))
        else:
            show_rows(listed([(row, store.progress(row.run.id)) for row in nights]), _NO_NIGHT)


@app.command(name="show")
def show_night(run: Named = None, as_json: AsJson = False) -> None:
    """Show one night: how far it is, what keeps it from being published, and who did what to it."""
    with reading() as store:
        row = _night(store, run, finished=True)
        progress, events = store.progress(row.run.id), store.events(row.run.id)
        held_up = "" if row.state.is_final else refuse(progress, store.failures(row.run.id), Settings())
        carried = store.carried(row.run.id)
        last = store.last_turns(row.run.id, carried)
        told = Told(row, progress, events, held_up, min(last.values(), default=None), len(carried) - len(last))
        if as_json:
            emit(document(told))
        else:
            show(page(told))


@app.command()
def pause(run: Named = None, reason: Why = "", by: decided.By = "", as_json: AsJson = False) -> None:
    """Pause a night: within a minute workers give back what they hold. Its deadline does not move."""
    _act(run, RunAct.PAUSED, reason, by, as_json=as_json, done="paused; `hallmark night resume` goes on")


@app.command()
def resume(run: Named = None, reason: Why = "", by: decided.By = "", as_json: AsJson = False) -> None:
    """Go on with a paused night, or give one that was withheld its time once more: what failed is tried again."""
    who = decided.who(by)
    with reading() as store:
        row = _night(store, run)
        if row.state is not RunState.WITHHELD:
            after = store.act(row.run.id, _event(RunAct.RESUMED, who, reason))
            _tell(after, as_json=as_json, done="goes on at the next sweep")
            return
        event = _event(RunAct.REOPENED, who, reason)
        again = store.reopen(row.run.id, event, kind=listing.KIND, reasons=OWN_FAILURES)
        after = store.run(row.run.id) or row
        _tell(after, as_json=as_json, done=f"goes on at the next sweep; {again} servers are looked at again")


@app.command()
def cancel(run: Named = None, reason: Why = "", by: decided.By = "", as_json: AsJson = False) -> None:
    """End a night for good: nothing is published of it, and the evidence stays. The next one is due as ever."""
    _act(run, RunAct.CANCELLED, reason, by, as_json=as_json, done="cancelled")


@app.command()
def publish(
    run: Named = None,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Also when it is withheld, or less than 99 % is scored; needs --reason.")
    ] = False,
    reason: Why = "",
    by: decided.By = "",
    as_json: AsJson = False,
) -> None:
    """Publish a night now. What is collected is scored first; what is not is missing, as its manifest says."""
    who = decided.who(by)
    if anyway and not reason.strip():
        fail("expected --reason with why it is published in spite of what is missing", Exit.USAGE)
    with reading() as store:
        row = _night(store, run)
    with explained(), _published():
        settings = Settings()
        log.configure(
            settings.log_level if "log_level" in settings.model_fields_set else "warning", settings.log_format
        )
        event = _event(RunAct.PUBLISHED, who, reason)
        after = run_loop(_publish(settings, row, event, anyway=anyway))
        _tell(after, as_json=as_json, done="published")


async def _start(settings: Settings, options: RunOptions, *, who: str, reason: str) -> RunRow:
    async with open_context(settings) as ctx:
        await ctx.outside.registries(options.registries)  # an unknown source is an error before a run exists
        run = pipeline.start_run(ctx, Trigger.NIGHTLY, options)
        return ctx.store.act(run.id, _event(RunAct.STARTED, who, reason))


async def _publish(settings: Settings, row: RunRow, event: RunEvent, *, anyway: bool) -> RunRow:
    async with open_context(settings) as ctx:
        if anyway:
            await closing.publish_anyway(ctx, row, event)
        else:
            await _publish_fit(ctx, row)
        after = ctx.store.run(row.run.id)
        assert after is not None
        return after


async def _publish_fit(ctx: Context, row: RunRow) -> None:
    """Publish a night as the workers would, if it is fit for it."""
    if why := closing.why_not(ctx, row.run.id, ctx.store.progress(row.run.id)):
        fail(f"{why}. With --anyway and --reason it is published as it is")
    if not row.state.is_working:
        fail(f"run {row.run.id} is {row.state.value}. With --anyway and --reason it is published as it is")
    await closing.publish_run(ctx, row.run.id)


@contextmanager
def _published() -> Iterator[None]:
    try:
        yield
    except NotPublishable as error:
        fail(f"{error} With --anyway and --reason a run is published as it is")


def _act(run: str | None, what: RunAct, reason: str, by: str, *, as_json: bool, done: str) -> None:
    who = decided.who(by)
    with reading() as store:
        row = _night(store, run)
        _tell(store.act(row.run.id, _event(what, who, reason)), as_json=as_json, done=done)


def _night(store: Store, name: str | None, *, finished: bool = False) -> RunRow:
    """The night that is meant; without a name the newest that is not over, or where that is asked for the newest."""
    nights = store.runs(_LOOK_BACK, triggers=_NIGHTS)
    if name is None:
        going = [row for row in nights if not row.state.is_final]
        if found := going or (nights if finished else []):
            return found[0]
        fail("no night is under way. `hallmark night list` shows those that are over", Exit.NOTHING)
    matching = [row for row in nights if row.run.id.startswith(name)]
    exact = [row for row in matching if row.run.id == name] or matching
    if len(exact) != 1:
        ids = ", ".join(row.run.id for row in matching[:5]) or "none"
        fail(f"expected the id of one night, found {ids} for {name!r}. `hallmark night list` shows them", Exit.NOTHING)
    return exact[0]


def _event(what: RunAct, who: str, reason: str) -> RunEvent:
    return RunEvent(at=clock_at(Settings().clock).wall(), who=who, what=what, note=reason.strip())


def _tell(row: RunRow, *, as_json: bool, done: str) -> None:
    if as_json:
        emit({"run": row.run.id, "state": row.state.value, "note": row.note})
    else:
        note(f"{row.run.id}: {done}")
