"""Nightly runs on a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from rich.console import Group, RenderableType
from rich.table import Table

from evidence.store import RegistryWalk, RunEvent, RunProgress, RunRow, RunState, Stage
from workers.cli.display.console import clean_text, format_moment, make_fact_table, make_table

_COUNTS: Final = {"planned": "planned", "not due": "carried", "collected": "collected", "scored": "scored"}
"""Counts of servers: the words on a terminal, and the member of the JSON object."""

NEXT_STEPS: Final = {
    RunState.PAUSED: "`hallmark night resume` continues it, `hallmark night cancel` ends it",
    RunState.WITHHELD: "read collector_failed and scoring_failed in the log and fix the cause; then `hallmark night "
    "resume` tries the failed servers again. `hallmark night publish --anyway --reason WHY` publishes it as it is, "
    "`hallmark night cancel` ends it unpublished",
}


def make_nightly_row(row: RunRow, progress: RunProgress, failed_walks: Sequence[RegistryWalk] = ()) -> dict[str, Any]:
    """The row of a run. Without a note of its own it names the registries that could not be read."""
    unread = "; ".join(f"{walk.registry} could not be read: {walk.error}" for walk in failed_walks)
    return {
        "run": row.run.id,
        "as_of": row.run.as_of.isoformat(),
        "state": row.state.value,
        "note": row.note or unread,
        "planned": progress.planned,
        "carried": progress.carried,
        "collected": progress.done.get(Stage.COLLECT, 0),
        "scored": progress.done.get(Stage.SCORE, 0),
    }


class NightlyDetails(Struct, frozen=True):
    """Everything that is shown of one nightly run.

    `withheld_for` is the reason to withhold it now, `oldest` the oldest collection time of a carried server, and
    `unseen` counts carried servers that were never collected.
    """

    row: RunRow
    progress: RunProgress
    events: Sequence[RunEvent]
    withheld_for: str
    oldest: datetime | None
    unseen: int


def make_nightly_document(details: NightlyDetails) -> dict[str, Any]:
    return {
        **make_nightly_row(details.row, details.progress),
        "carried_since": details.oldest and details.oldest.isoformat(timespec="seconds"),
        "carried_unseen": details.unseen,
        "options": dict(details.row.options),
        "withheld_for": details.withheld_for or None,
        "trail": [
            {"at": event.at.isoformat(timespec="seconds"), "who": event.who, "what": event.what, "note": event.note}
            for event in details.events
        ],
    }


def make_nightly_table(nights: Sequence[tuple[RunRow, RunProgress, Sequence[RegistryWalk]]]) -> Table:
    grid = make_table("Run", "As of", "State", *((name.capitalize(), "right") for name in _COUNTS), "Why")
    for row, progress, failed_walks in nights:
        found = make_nightly_row(row, progress, failed_walks)
        grid.add_row(
            row.run.id,
            format_moment(row.run.as_of),
            row.state.value,
            *(str(found[key]) for key in _COUNTS.values()),
            clean_text(found["note"]),
        )
    return grid


def render_nightly_page(details: NightlyDetails) -> RenderableType:
    row, found = details.row, make_nightly_row(details.row, details.progress)
    facts = [("run", row.run.id), ("as of", format_moment(row.run.as_of))]
    facts.append(("state", row.state.value + (f": {row.note}" if row.note else "")))
    facts += [(name, str(found[key])) for name, key in _COUNTS.items()]
    if details.oldest is not None:
        facts.append(("oldest evidence", format_moment(details.oldest)))
    if details.unseen:
        facts.append(
            (
                "never collected",
                f"{details.unseen} of those not due; they are scheduled first next time",
            )
        )
    if details.withheld_for and row.state is not RunState.WITHHELD:
        facts.append(("withheld if it ended now", details.withheld_for))
    if row.state in NEXT_STEPS:
        facts.append(("what to do", NEXT_STEPS[row.state]))
    parts: list[RenderableType] = [make_fact_table(facts)]
    if details.events:
        grid = make_table("When", "Who", "What", "Why")
        for event in details.events:
            at = format_moment(event.at)
            grid.add_row(at, clean_text(event.who), event.what.value, clean_text(event.note, limit=1000))
        parts += ["", grid]
    return Group(*parts)
