"""Runs: published nights, with the versions of code, rules and methodologies."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Path
from pydantic import Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from evidence.store import RunRow
from publish.api.contract.models import RUN_ID, STRICT, RunKey, Time
from publish.api.contract.public_access import find_visible_run
from publish.api.contract.responses import format_time, json_response
from publish.views.runs import read_run_counts
from publish.web.context import SiteContext
from publish.web.problems import describe_problems

RunPath: TypeAlias = Annotated[
    str, Path(pattern=RUN_ID, description="Id of a run.", examples=["20260301T030000Z-nightly"])
]


@with_config(STRICT)
class RunItem(TypedDict):
    """A run. Scores of two runs are comparable where methodology and ruleset are the same."""

    id: RunKey
    trigger: Annotated[str, Field(description="`nightly`, `local`, or `retest`.", examples=["nightly"])]
    as_of: Time
    published_at: Annotated[Time | None, Field(description="Null for the run of a re-test, which is not published.")]
    versions: Annotated[dict[str, str], Field(description="Every versioned part of the computation.")]


@with_config(STRICT)
class Run(RunItem):
    """A run with its number of servers."""

    planned: Annotated[int, Field(description="Servers in the run.")]
    carried: Annotated[int, Field(description="Those that were not due; they have the evidence of an earlier run.")]
    scored: Annotated[int, Field(description="Servers that have a scorecard.")]
    absent: Annotated[
        dict[str, int],
        Field(
            description="Servers that could not be listed, by reason. `collector_offline` is ours.",
            examples=[{"oauth_required": 12, "unreachable": 3}],
        ),
    ]
    outage: Annotated[
        str | None, Field(description="What was not collected while Hallmark was offline; null without an outage.")
    ]


@with_config(STRICT)
class RunList(TypedDict):
    """Published runs, the newest first."""

    runs: list[RunItem]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["runs"])

    @router.get("/runs", operation_id="listRuns", summary="Published runs", response_model=RunList)
    def list_runs() -> Response:
        """Every published run, the newest first. Those of re-tests are in the history of their server."""
        return json_response({"runs": [_item(row) for row in site.store.listing.list_published_runs()]}, keep=True)

    @router.get(
        "/runs/{run}", operation_id="getRun", summary="One run",
        response_model=Run, responses=describe_problems("unknown-run"),
    )  # fmt: skip
    def get_run(run: RunPath) -> Response:
        """A run with its versions and counts."""
        row = find_visible_run(site, run)
        counts = read_run_counts(site.store, run)
        numbers = {
            "planned": counts.planned,
            "carried": counts.carried,
            "scored": counts.scored,
            "absent": {outcome.reason: outcome.servers for outcome in counts.outcomes},
            "outage": counts.outage or None,
        }
        return json_response(_item(row) | numbers, keep=True)

    return router


def _item(row: RunRow) -> dict[str, Any]:
    return {
        "id": row.run.id,
        "trigger": row.run.trigger.value,
        "as_of": format_time(row.run.as_of),
        "published_at": None if row.published_at is None else format_time(row.published_at),
        "versions": dict(row.run.pins),
    }
