"""Nights for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from evidence.store import Progress, RunEvent, RunRow, RunState, Stage
from workers.cli.console import facts, plain, table

WHAT_TO_DO = {
    RunState.PAUSED: "`hallmark night resume` goes on, `hallmark night cancel` ends it",
    RunState.WITHHELD: "read collector_failed and scoring_failed in the log and mend what they name; then `hallmark "
    "night resume` tries what failed again. `hallmark night publish --anyway --reason WHY` publishes it as it is, "
    "`hallmark night cancel` gives it up",
}


def as_row(row: RunRow, progress: Progress) -> dict[str, Any]:
    """A night as one JSON object."""
    return {
        "run": row.run.id,
        "as_of": row.run.as_of.isoformat(),
        "state": row.state.value,
        "note": row.note,
        "planned": progress.planned,
        "carried": progress.carried,
        "collected": progress.done.get(Stage.COLLECT, 0),
        "scored": progress.done.get(Stage.SCORE, 0),
    }


def document(row: RunRow, progress: Progress, events: Sequence[RunEvent], held_up: str) -> dict[str, Any]:
    """A night with its trail; `held_up` is why it would be withheld now."""
    return {
        **as_row(row, progress),
        "options": dict(row.options),
        "withheld_for": held_up or None,
        "trail": [
            {"at": event.at.isoformat(timespec="seconds"), "who": event.who, "what": event.what, "note": event.note}
            for event in events
        ],
    }


def listed(nights: Sequence[tuple[RunRow, Progress]]) -> Table:
    """Nights, one in a line."""
    counts = ("Planned", "Carried", "Collected", "Scored")
    grid = table("Night", "As of", "State", *((name, "right") for name in counts), "Why")
    for row, progress in nights:
        found = as_row(row, progress)
        grid.add_row(
            row.run.id,
            row.run.as_of.isoformat(sep=" ", timespec="seconds"),
            row.state.value,
            *(str(found[name.lower()]) for name in counts),
            plain(row.note),
        )
    return grid


def page(row: RunRow, progress: Progress, events: Sequence[RunEvent], held_up: str) -> RenderableType:
    """A night for a terminal."""
    found = as_row(row, progress)
    told = [("night", row.run.id), ("as of", row.run.as_of.isoformat(sep=" ", timespec="seconds"))]
    told.append(("state", row.state.value + (f": {row.note}" if row.note else "")))
    told += [(name, str(found[name])) for name in ("planned", "carried", "collected", "scored")]
    if held_up and row.state is not RunState.WITHHELD:
        told.append(("withheld if it ended now", held_up))
    if row.state in WHAT_TO_DO:
        told.append(("what to do", WHAT_TO_DO[row.state]))
    parts: list[RenderableType] = [facts(told)]
    if events:
        grid = table("When", "Who", "What", "Why")
        for event in events:
            at = event.at.isoformat(sep=" ", timespec="seconds")
            grid.add_row(at, plain(event.who), event.what.value, plain(event.note, limit=1000))
        parts += ["", grid]
    return Group(*parts)
