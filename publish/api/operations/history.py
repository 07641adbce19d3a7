"""History: how the scores of a server went from run to run, and where its methodology changed."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query
from pydantic import Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from evidence.store.listing.values import HistoryPoint
from publish.api.contract.models import RUBRIC_ID, STRICT, Result, RunKey, ServerKey, Time
from publish.api.contract.public_access import ServerPath, find_visible_server
from publish.api.contract.responses import format_time, json_response
from publish.text.numbers import json_number
from publish.web.context import SiteContext
from publish.web.problems import describe_problems

_NO_SCORE: Final = {"not_measured": "no_score", "detail": "the scorecard of this run says why"}


@with_config(STRICT)
class Point(TypedDict):
    """The result of one version of a methodology for the server in one run."""

    run: RunKey
    as_of: Time
    trigger: Annotated[str, Field(description="`nightly`, `local`, or `retest`.", examples=["nightly"])]
    rubric: Annotated[str, Field(examples=["adaptive"])]
    version: Annotated[int, Field(examples=[1])]
    score: Result
    grade: Annotated[str | None, Field(description="Null where there is none.", examples=["B"])]
    pins: Annotated[
        str,
        Field(description="Differs between runs that were judged with different rules or code.", examples=["ab" * 32]),
    ]


@with_config(STRICT)
class History(TypedDict):
    """The points of a server, oldest first within each methodology and version."""

    server: ServerKey
    points: list[Point]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["history"])

    @router.get(
        "/servers/{server}/history", operation_id="getHistory", summary="The scores of a server over time",
        response_model=History, responses=describe_problems("unknown-server"),
    )  # fmt: skip
    def get_history(
        server: ServerPath,
        rubric: Annotated[str | None, Query(pattern=RUBRIC_ID, description="Of one methodology only.")] = None,
    ) -> Response:
        """One point for each published run. Points are comparable while methodology, version and `pins` are equal."""
        find_visible_server(site, server)
        points = [_point(point) for point in site.store.listing.read_history(server, rubric)]
        return json_response({"server": server, "points": points}, keep=True)

    return router


def _point(point: HistoryPoint) -> dict[str, Any]:
    return {
        "run": point.run,
        "as_of": format_time(point.as_of),
        "trigger": point.trigger.value,
        "rubric": point.rubric,
        "version": point.version,
        "score": _NO_SCORE if point.score is None else json_number(point.score),
        "grade": point.grade,
        "pins": point.pins,
    }
