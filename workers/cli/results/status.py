"""`hallmark status`: the current run, queues and workers, from the same statistics as the metrics."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

import click
from msgspec.structs import asdict
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table

from evidence.store import RunRow
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    make_fact_table,
    make_table,
    open_stdout,
    print_data,
    print_json,
)
from workers.cli.display.nightly_page import NEXT_STEPS
from workers.cli.error_boundary import explain_failures
from workers.cli.session import open_read_store
from workers.clock import clock_at
from workers.coordination.broker_statistics import BrokerStatistics
from workers.observability.problems import find_problems
from workers.observability.run_statistics import OBSERVED_LABEL, RunStatistics, StoreStatistics
from workers.observability.status import NotInstalled, StatusReader, SystemStatus, Unavailable
from workers.settings.environment import read_settings

_MOST_OUTCOMES: Final = 20


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line and query.")
@click.option("--watch", is_flag=True, help="Refresh until Ctrl-C.")
@click.option(
    "--every", type=click.FloatRange(min=0.1), default=2.0, help="Seconds between two refreshes with --watch."
)
def status(as_json: bool, watch: bool, every: float) -> None:
    """Show the status of runs live: stages with rate and remaining time, outcomes, queues and workers.

    Problems come first, each with what to do.

    Exit codes: 0 no problem, or only one for the next run, 1 a problem, for example a database that does not answer or
    a queue without a worker.

    Example: hallmark status --watch
    """
    with explain_failures():
        settings = read_settings()
        if settings.database_url is None:
            with open_read_store():
                pass  # exits with advice when there is no database yet
        with StatusReader(settings, clock_at(settings.clock)) as reader:
            statuses = _read_statuses(reader, every if watch else None)
            last = _emit_all(statuses) if as_json else _show_all(statuses, live=watch)
    if any(problem.open for problem in find_problems(last)):
        raise click.exceptions.Exit(ExitCode.FAILURE)


def _read_statuses(reader: StatusReader, every: float | None) -> Iterator[SystemStatus]:
    """Yield the status once, or every `every` seconds."""
    yield reader.read_status()
    while every is not None:
        time.sleep(every)
        yield reader.read_status()


def _emit_all(statuses: Iterator[SystemStatus]) -> SystemStatus:
    for status in statuses:
        print_json(make_status_document(status))
    return status


def _show_all(statuses: Iterator[SystemStatus], *, live: bool) -> SystemStatus:
    if not (live and open_stdout().is_terminal):
        for status in statuses:
            print_data(render_status_page(status))
        return status
    status = next(statuses)
    with Live(render_status_page(status), console=open_stdout(), screen=True, auto_refresh=False) as display:
        for status in statuses:
            display.update(render_status_page(status), refresh=True)
    return status


def make_status_document(status: SystemStatus) -> dict[str, Any]:
    """The status as one JSON object; null is unknown."""
    found: dict[str, Any] = {
        "at": status.at.isoformat(timespec="seconds"),
        "late_s": round(status.overdue),
        "problems": [asdict(problem) for problem in find_problems(status)],
    }
    match status.store:
        case Unavailable(why):
            found["database"] = {"away": why}
        case StoreStatistics() as store:
            found |= _standing_document(store)
    match status.broker:
        case NotInstalled(why):
            found["broker"] = {"unneeded": why}
        case Unavailable(why):
            found["broker"] = {"away": why}
        case BrokerStatistics() as broker:
            found["broker"] = _waiting_document(broker)
    return found


def _standing_document(store: StoreStatistics) -> dict[str, Any]:
    return {
        "database": {"bytes": store.size},
        "unfinished": [_run_document(row) for row in store.unfinished],
        "published": None if store.published is None else _run_document(store.published),
        "night": None if store.shown is None else _night_document(store.shown),
    }


def _run_document(row: RunRow) -> dict[str, Any]:
    at = row.published_at
    return {
        "run": row.run.id,
        "trigger": row.run.trigger.value,
        "state": row.state.value,
        "note": row.note,
        "published_at": None if at is None else at.isoformat(timespec="seconds"),
    }


def _night_document(shown: RunStatistics) -> dict[str, Any]:
    return {
        "run": shown.row.run.id,
        "carried": shown.carried,
        "outage": shown.outage or None,
        "publication": asdict(shown.publication),
        "stages": [
            {
                "stage": stage.stage.value,
                "planned": stage.planned,
                "done": stage.done,
                "rate": stage.rate,
                "eta_s": stage.eta,
                "held": stage.held,
                "expired": stage.expired,
                "retries": stage.retries,
                "failing": stage.failing,
                "later": stage.later,
            }
            for stage in shown.stages
        ],
        "outcomes": [
            {"kind": kind, "outcome": outcome, "records": number}
            for (kind, outcome), number in sorted(shown.outcomes.items())
        ],
        "own_failure_share": shown.own_failure_share,
    }


def _waiting_document(broker: BrokerStatistics) -> dict[str, Any]:
    return {
        "queues": [{"queue": one.name, "length": one.length, "oldest_s": one.oldest} for one in broker.queues],
        "taken": broker.taken,
        "hosts": broker.hosts,
        "workers": {worker: list(queues) for worker, queues in sorted(broker.workers.items())},
        "github_quota": [asdict(quota) for quota in broker.quota],
    }


def render_status_page(status: SystemStatus) -> RenderableType:
    parts: list[RenderableType] = []
    for problem in find_problems(status):
        parts += [clean_text(f"Problem: {problem.what}", "bold red"), clean_text(f"To do: {problem.action}"), ""]
    match status.store:
        case StoreStatistics() as store:
            parts += _standing_page(store, status)
    match status.broker:
        case NotInstalled(why):
            parts += ["", clean_text(why, "dim")]
        case BrokerStatistics() as broker:
            parts += ["", *_waiting_page(broker)]
    return Group(*parts)


def _standing_page(store: StoreStatistics, status: SystemStatus) -> Iterator[RenderableType]:
    if store.shown is not None and store.shown.outage:
        yield clean_text(store.shown.outage, "bold red")
    rows = [(row.state.value, _named(row)) for row in store.unfinished]
    if store.published is not None:
        at = store.published.published_at
        age = "" if at is None else f", {_span((status.at - at).total_seconds())} ago"
        rows.append(("published", f"{store.published.run.id} ({store.published.run.trigger.value}){age}"))
    if status.overdue:
        rows.append(("not planned", f"the nightly run of {status.due:%Y-%m-%d %H:%M} UTC"))
    yield make_fact_table(rows) if rows else clean_text("no run yet", "dim")
    if store.shown is not None:
        yield ""
        yield _stages(store.shown)
        if store.shown.carried:
            yield clean_text(f"carried  {store.shown.carried} servers keep their last evidence in this run")
        if (publication := store.shown.publication).parts:
            yield clean_text(f"publication  {publication.done} of {publication.parts} parts are written")
        if store.shown.outcomes:
            yield ""
            yield _outcomes(store.shown)


def _named(row: RunRow) -> str:
    """An unfinished run, and what an operator has to do about it."""
    name = f"{row.run.id} ({row.run.trigger.value})"
    if row.state not in NEXT_STEPS:
        return name
    return f"{name}{': ' if row.note else ''}{row.note}; {NEXT_STEPS[row.state]}"


def _stages(shown: RunStatistics) -> Table:
    right = ["Done", "Of", "Share", "Per second", "Remaining", "Held", "Expired", "Later", "Retries", "Failing"]
    grid = make_table("Stage", *((name, "right") for name in right), title=shown.row.run.id)
    for stage in shown.stages:
        grid.add_row(
            stage.stage.value,
            str(stage.done),
            str(stage.planned),
            f"{100 * stage.done / stage.planned:.1f} %" if stage.planned else "",
            "" if stage.rate is None else f"{stage.rate:.1f}",
            "" if stage.eta is None else _span(stage.eta),
            str(stage.held),
            str(stage.expired),
            str(stage.later),
            str(stage.retries),
            str(stage.failing),
        )
    return grid


def _outcomes(shown: RunStatistics) -> RenderableType:
    grid = make_table("Kind", "Outcome", ("Records", "right"))
    counted = sorted(shown.outcomes.items(), key=lambda item: (item[0][1] == OBSERVED_LABEL, -item[1], item[0]))
    for (kind, outcome), number in counted[:_MOST_OUTCOMES]:
        grid.add_row(clean_text(kind), clean_text(outcome), str(number))
    share = shown.own_failure_share
    ours = clean_text("" if share is None else f"own failures  {100 * share:.2f} % of all records")
    left = len(counted) - _MOST_OUTCOMES
    return Group(grid, *([clean_text(f"and {left} more; --json shows all", "dim")] if left > 0 else []), ours)


def _waiting_page(broker: BrokerStatistics) -> Iterator[RenderableType]:
    grid = make_table("Queue", ("Length", "right"), ("Oldest", "right"), ("Workers", "right"))
    for queue in broker.queues:
        listening = sum(queue.name in queues for queues in broker.workers.values())
        oldest = "" if queue.oldest is None else _span(queue.oldest)
        grid.add_row(queue.name, str(queue.length), oldest, str(listening))
    yield grid
    seen = ", ".join(sorted(broker.workers)) or "no worker answers"
    yield make_fact_table(
        [("workers", seen), ("taken", f"{broker.taken} messages"), ("hosts", f"{broker.hosts} leased")]
    )
    if broker.quota:
        quotas = [f"token {one.token}: {one.left} left of {one.resource}" for one in broker.quota]
        yield make_fact_table([("GitHub", ", ".join(quotas))])


def _span(seconds: float) -> str:
    """A duration in readable units."""
    whole = timedelta(seconds=round(seconds))
    if whole >= timedelta(days=2):
        return f"{whole.days} days"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
