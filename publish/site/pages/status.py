"""`/status`: how the last runs went."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter
from starlette.responses import Response

from evidence.store import RunState
from publish.site import plot_geometry
from publish.site.run_numbers import number_values
from publish.views.dashboard import NewestNumbers
from publish.views.runs import RunCounts, RunView, find_newest_published, list_runs
from publish.web.context import SiteContext
from publish.web.timed_value import TimedValue

SECONDS: Final = 30.0
"""Seconds between two readings of an active run's counts."""

_STATES: Final = {
    RunState.DISCOVERING: "reading the registries",
    RunState.PLANNED: "under way",
    RunState.PAUSED: "paused",
    RunState.WITHHELD: "withheld",
    RunState.PUBLISHED: "published",
    RunState.DONE: "done",
    RunState.ABANDONED: "abandoned",
    RunState.CANCELLED: "cancelled",
}


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()
    known = NewestNumbers(site.store)
    recent = TimedValue(site.backend, SECONDS, lambda: list_runs(site.store))

    @router.get("/status")
    def status() -> Response:
        found = recent.get()
        working = [night for night in found if night.state.is_working]
        last = find_newest_published(found)
        numbers = number_values(known.of(site.store.listing.find_newest_run()))
        return site.page(
            "status.html.j2",
            here="status",
            keep=False,
            canonical=site.absolute("/status"),
            nights=[_row(night) for night in found],
            shown=[_row(night) for night in (*working, *([last] if last else []))],
            words=_STATES,
            working=bool(working),
            numbers=bool(numbers),
            **numbers,
            now=site.backend.now(),
        )

    return router


def _row(night: RunView) -> dict[str, Any]:
    counts = night.counts
    return {
        "night": night,
        "counts": counts,
        "stages": [] if counts is None else _stages(counts),
        "outcomes": [] if counts is None else _outcomes(counts),
        "own": None if counts is None else counts.own_failures,
        "took": night.published_at - night.planned_at if night.published_at and night.planned_at else None,
    }


def _stages(counts: RunCounts) -> list[dict[str, Any]]:
    return [
        {"name": name, "done": done, "of": counts.planned, "length": plot_geometry.bar_length(done, counts.planned)}
        for name, done in counts.stages
    ]


def _outcomes(counts: RunCounts) -> list[dict[str, Any]]:
    most = max((outcome.servers for outcome in counts.outcomes), default=0)
    return [
        {"outcome": outcome, "length": plot_geometry.bar_length(outcome.servers, most)} for outcome in counts.outcomes
    ]
