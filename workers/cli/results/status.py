"""`hallmark status`: the night live, from the same look as the metrics."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any, Final

import typer
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
from workers.observability.run_statistics import OBSERVED_LABEL, RunStatistics, StoreStatistics
from workers.observability.status import NotInstalled, StatusReader, SystemStatus, Unavailable
from workers.settings.environment import Settings

app = typer.Typer(add_completion=False)

_MOST_OUTCOMES: Final = 20


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, one line per look.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Look again and again until Ctrl-C.")] = False,
    every: Annotated[float, typer.Option(min=0.1, help="Seconds between two looks with --watch.")] = 2.0,
) -> None:
    """Show the status of runs live: stages with rate and remaining time, outcomes, queues and workers.

    Exit codes: 0, or 1 when the database or a broker that is needed did not answer.

    Example: hallmark status --watch
    """
    with open_read_store():
        pass  # says what to do when there is no database yet
    with explain_failures():
        settings = Settings()
        with StatusReader(settings, clock_at(settings.clock)) as observer:
            looks = _looks(observer, every if watch else None)
            last = _emit_all(looks) if as_json else _show_all(looks, live=watch)
    if isinstance(last.standing, Unavailable) or isinstance(last.waiting, Unavailable):
        raise typer.Exit(ExitCode.FAILURE)


def _looks(observer: StatusReader, every: float | None) -> Iterator[SystemStatus]:
    """Print the status once, or repeatedly until interrupted."""
    yield observer.look()
    while every is not None:
        time.sleep(every)
        yield observer.look()


def _emit_all(looks: Iterator[SystemStatus]) -> SystemStatus:
    for overview in looks:
        print_json(make_status_document(overview))
    return overview


def _show_all(looks: Iterator[SystemStatus], *, live: bool) -> SystemStatus:
    if not (live and open_stdout().is_terminal):
        for overview in looks:
            print_data(render_status_page(overview))
        return overview
    overview = next(looks)
    with Live(render_status_page(overview), console=open_stdout(), screen=True, auto_refresh=False) as display:
        for overview in looks:
            display.update(render_status_page(overview), refresh=True)
    return overview


def make_status_document(overview: SystemStatus) -> dict[str, Any]:
    """An overview as one JSON object; null is unknown."""
    found: dict[str, Any] = {"at": overview.at.isoformat(timespec="seconds"), "late_s": round(overview.late)}
    match overview.standing:
        case Unavailable(why):
            found["database"] = {"away": why}
        case StoreStatistics() as standing:
            found |= _standing_document(standing)
    match overview.waiting:
        case NotInstalled(why):
            found["broker"] = {"unneeded": why}
        case Unavailable(why):
            found["broker"] = {"away": why}
        case BrokerStatistics() as waiting:
            found["broker"] = _waiting_document(waiting)
    return found


def _standing_document(standing: StoreStatistics) -> dict[str, Any]:
    return {
        "database": {"bytes": standing.size},
        "unfinished": [_run_document(row) for row in standing.unfinished],
        "published": None if standing.published is None else _run_document(standing.published),
        "night": None if standing.night is None else _night_document(standing.night),
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


def _night_document(night: RunStatistics) -> dict[str, Any]:
    return {
        "run": night.row.run.id,
        "carried": night.carried,
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
            for stage in night.stages
        ],
        "outcomes": [
            {"kind": kind, "outcome": outcome, "records": number}
            for (kind, outcome), number in sorted(night.outcomes.items())
        ],
        "own_failure_share": night.own_failure_share,
    }


def _waiting_document(waiting: BrokerStatistics) -> dict[str, Any]:
    return {
        "queues": [{"queue": one.name, "length": one.length, "oldest_s": one.oldest} for one in waiting.queues],
        "taken": waiting.taken,
        "hosts": waiting.hosts,
        "workers": {worker: list(queues) for worker, queues in sorted(waiting.workers.items())},
        "github_quota": [asdict(quota) for quota in waiting.quota],
    }


def render_status_page(overview: SystemStatus) -> RenderableType:
    parts: list[RenderableType] = []
    match overview.standing:
        case Unavailable(why):
            parts.append(clean_text(why, "bold red"))
        case StoreStatistics() as standing:
            parts += _standing_page(standing, overview)
    match overview.waiting:
        case NotInstalled(why):
            parts += ["", clean_text(why, "dim")]
        case Unavailable(why):
            parts += ["", clean_text(why, "bold red")]
        case BrokerStatistics() as waiting:
            parts += ["", *_waiting_page(waiting)]
    return Group(*parts)


def _standing_page(standing: StoreStatistics, overview: SystemStatus) -> Iterator[RenderableType]:
    rows = [(row.state.value, _named(row)) for row in standing.unfinished]
    if standing.published is not None:
        at = standing.published.published_at
        age = "" if at is None else f", {_span((overview.at - at).total_seconds())} ago"
        rows.append(("published", f"{standing.published.run.id} ({standing.published.run.trigger.value}){age}"))
    if overview.late:
        rows.append(("missing", f"the nightly run of {overview.due:%Y-%m-%d %H:%M} UTC: is beat running?"))
    yield make_fact_table(rows) if rows else clean_text("no run yet", "dim")
    if standing.night is not None:
        yield ""
        yield _stages(standing.night)
        if standing.night.carried:
            yield clean_text(
                f"carried  {standing.night.carried} servers keep their last evidence: it is not their turn"
            )
        if standing.night.outcomes:
            yield ""
            yield _outcomes(standing.night)


def _named(row: RunRow) -> str:
    """A run that is not over, and what an operator has to do about it."""
    name = f"{row.run.id} ({row.run.trigger.value})"
    if row.state not in NEXT_STEPS:
        return name
    return f"{name}{': ' if row.note else ''}{row.note}; {NEXT_STEPS[row.state]}"


def _stages(night: RunStatistics) -> Table:
    right = ["Done", "Of", "Share", "Per second", "To go", "Held", "Expired", "Later", "Retries", "Failing"]
    grid = make_table("Stage", *((name, "right") for name in right), title=night.row.run.id)
    for stage in night.stages:
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


def _outcomes(night: RunStatistics) -> RenderableType:
    grid = make_table("Kind", "Outcome", ("Records", "right"))
    counted = sorted(night.outcomes.items(), key=lambda item: (item[0][1] == OBSERVED_LABEL, -item[1], item[0]))
    for (kind, outcome), number in counted[:_MOST_OUTCOMES]:
        grid.add_row(clean_text(kind), clean_text(outcome), str(number))
    share = night.own_failure_share
    ours = clean_text("" if share is None else f"own failures  {100 * share:.2f} % of all records")
    left = len(counted) - _MOST_OUTCOMES
    return Group(grid, *([clean_text(f"and {left} more; --json shows all", "dim")] if left > 0 else []), ours)


def _waiting_page(waiting: BrokerStatistics) -> Iterator[RenderableType]:
    grid = make_table("Queue", ("Length", "right"), ("Oldest", "right"), ("Workers", "right"))
    for queue in waiting.queues:
        listening = sum(queue.name in queues for queues in waiting.workers.values())
        oldest = "" if queue.oldest is None else _span(queue.oldest)
        grid.add_row(queue.name, str(queue.length), oldest, str(listening))
    yield grid
    seen = ", ".join(sorted(waiting.workers)) or "none answers"
    yield make_fact_table(
        [("workers", seen), ("taken", f"{waiting.taken} messages"), ("hosts", f"{waiting.hosts} leased")]
    )
    if waiting.quota:
        told = [f"token {one.token}: {one.left} left of {one.resource}" for one in waiting.quota]
        yield make_fact_table([("GitHub", ", ".join(told))])


def _span(seconds: float) -> str:
    """A duration as a person says it."""
    whole = timedelta(seconds=round(seconds))
    if whole >= timedelta(days=2):
        return f"{whole.days} days"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
