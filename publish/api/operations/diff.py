"""Diff: one server in two runs, line by line."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from evidence.model import ServerId
from publish.api.contract.models import RUN_ID, STRICT, Number, RunKey, ServerKey
from publish.api.contract.public_access import OF_SERVER, ServerPath, find_public_server, find_visible_server
from publish.api.contract.responses import bytes_response, encode_json
from publish.formats.run_files import mask_secrets
from publish.views.comparisons.receipts import compare_receipts, comparison_as_json
from publish.views.server_in_run import find_run_before
from publish.web.context import SiteContext
from publish.web.problems import describe_problems, make_problem


@with_config(STRICT)
class Side(TypedDict):
    """The result of one receipt."""

    score: Annotated[Number | None, Field(description="Null where there is no score.")]
    grade: Annotated[str | None, Field(examples=["B"])]


@with_config(STRICT)
class ChangedPart(TypedDict):
    """A dimension whose result differs; null where it was not measured."""

    name: Annotated[str, Field(examples=["schema_quality"])]
    before: Number | None
    after: Number | None


@with_config(STRICT)
class ChangedLine(TypedDict):
    """A line that is on one of the two receipts only."""

    cites: Annotated[str, Field(examples=["tool-no-description"])]
    rule: Annotated[str | None, Field(examples=["tool-description-missing"])]
    at: Annotated[str, Field(examples=["tools/search"])]
    points: Number
    why: Annotated[str, Field(examples=["no description"])]


@with_config(STRICT)
class ComparedScorecard(TypedDict):
    """One version of a methodology before and after."""

    rubric: Annotated[str, Field(examples=["lint"])]
    version: int
    before: Annotated[Side | None, Field(description="Null when there was no receipt of this version.")]
    after: Side
    points: Annotated[Number | None, Field(description="Gained or lost; null without a score on one of the sides.")]
    turn: Annotated[
        Literal["lost its score", "has a score now"] | None,
        Field(description="The score disappeared or appeared: nothing else is compared then."),
    ]
    parts: list[ChangedPart]
    gone: list[ChangedLine]
    new: list[ChangedLine]
    rules: Annotated[
        list[str], Field(description="Rules whose lines changed.", examples=[["tool-description-missing"]])
    ]
    judged_otherwise: Annotated[
        bool, Field(description="Rules or code differ, so some changes may not come from the server.")
    ]


@with_config({**STRICT, "title": "Diff"})
class ServerDiff(TypedDict):
    """A server in two runs: one comparison for each receipt of the later one."""

    server: ServerKey
    before: RunKey
    after: RunKey
    comparisons: list[ComparedScorecard]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["history"])

    @router.get(
        "/servers/{server}/diff", operation_id="diffServer", summary="What changed between two runs",
        response_model=ServerDiff, responses=describe_problems(*OF_SERVER),
    )  # fmt: skip
    def diff_server(
        server: ServerPath,
        before: Annotated[
            str | None,
            Query(alias="from", pattern=RUN_ID, description="The earlier run; the one before `to` if not given."),
        ] = None,
        after: Annotated[
            str | None, Query(alias="to", pattern=RUN_ID, description="The later run; the newest if not given.")
        ] = None,
    ) -> Response:
        """Per methodology the score before and after, the parts that differ, and the removed and added lines."""
        later = after or find_visible_server(site, server).run
        earlier = before or _find_earlier_run(site, server, later)
        old, new = (find_public_server(site, server, run).public.scorecards for run in (earlier, later))
        found = {
            "server": server,
            "before": earlier,
            "after": later,
            "comparisons": [comparison_as_json(one) for one in compare_receipts(old, new)],
        }
        return bytes_response(mask_secrets(encode_json(found)), keep=True)

    return router


def _find_earlier_run(site: SiteContext, server: ServerId, run: str) -> str:
    find_visible_server(site, server)
    found = find_run_before(site.store, server, run)
    if found is None:
        raise make_problem("unknown-run", f"The server was in no published run before {run}; give another one as `to`.")
    return found
