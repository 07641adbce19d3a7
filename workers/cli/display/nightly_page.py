"""Nights for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.table import Table

from evidence.store import RunEvent, RunProgress, RunRow, RunState, Stage
from workers.cli.display.console import clean_text, make_fact_table, make_table

NEXT_STEPS: Final = {
    RunState.PAUSED: "`hallmark night resume` goes on, `hallmark night cancel` ends it",
    RunState.WITHHELD: "read collector_failed and scoring_failed in the log and mend what they name; then `hallmark "
    "night resume` tries what failed again. `hallmark night publish --anyway --reason WHY` publishes it as it is, "
    "`hallmark night cancel` gives it up",
}


def make_nightly_row(row: RunRow, progress: RunProgress) -> dict[str, Any]:
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


@dataclass(frozen=True, slots=True)
class NightlyDetails:
    """All that is told of one night.

    `held_up` is why it would be withheld now, `oldest` when the carried server was looked at that waits longest, and
    `unseen` how many carried ones never were.
    """

    row: RunRow
    progress: RunProgress
    events: Sequence[RunEvent]
    held_up: str
    oldest: datetime | None
    unseen: int


def make_nightly_document(told: NightlyDetails) -> dict[str, Any]:
    return {
        **make_nightly_row(told.row, told.progress),
        "carried_since": told.oldest and told.oldest.isoformat(timespec="seconds"),
        "carried_unseen": told.unseen,
        "options": dict(told.row.options),
        "withheld_for": told.held_up or None,
        "trail": [
            {"at": event.at.isoformat(timespec="seconds"), "who": event.who, "what": event.what, "note": event.note}
            for event in told.events
        ],
    }


def make_nightly_table(nights: Sequence[tuple[RunRow, RunProgress]]) -> Table:
    counts = ("Planned", "Carried", "Collected", "Scored")
    grid = make_table("Night", "As of", "State", *((name, "right") for name in counts), "Why")
    for row, progress in nights:
        found = make_nightly_row(row, progress)
        grid.add_row(
            row.run.id,
            row.run.as_of.isoformat(sep=" ", timespec="seconds"),
            row.state.value,
            *(str(found[name.lower()]) for name in counts),
            clean_text(row.note),
        )
    return grid


def render_nightly_page(told: NightlyDetails) -> RenderableType:
    row, found = told.row, make_nightly_row(told.row, told.progress)
    said = [("night", row.run.id), ("as of", row.run.as_of.isoformat(sep=" ", timespec="seconds"))]
    said.append(("state", row.state.value + (f": {row.note}" if row.note else "")))
    said += [(name, str(found[name])) for name in ("planned", "carried", "collected", "scored")]
    if told.oldest is not None:
        said.append(("carried since", told.oldest.isoformat(sep=" ", timespec="seconds")))
    if told.unseen:
        said.append(("never looked at", f"{told.unseen} of those carried; theirs are the next turns"))
    if told.held_up and row.state is not RunState.WITHHELD:
        said.append(("withheld if it ended now", told.held_up))
    if row.state in NEXT_STEPS:
        said.append(("what to do", NEXT_STEPS[row.state]))
    parts: list[RenderableType] = [make_fact_table(said)]
    if told.events:
        grid = make_table("When", "Who", "What", "Why")
        for event in told.events:
            at = event.at.isoformat(sep=" ", timespec="seconds")
            grid.add_row(at, clean_text(event.who), event.what.value, clean_text(event.note, limit=1000))
        parts += ["", grid]
    return Group(*parts)
