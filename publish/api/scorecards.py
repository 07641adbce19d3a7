"""Scorecards: the receipts of one server, with every line, as they are in the dataset."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Path, Query
from pydantic import with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from evidence.store import StoredCard
from publish.api.answers import bytes_answer, encoded, moment
from publish.api.problem import problem, problems
from publish.api.shapes import RUBRIC_ID, STRICT, RunKey, Scorecard, ServerKey, Time
from publish.api.visible import OF_SERVER, RunQuery, ServerPath, public_form
from publish.forms import masked
from publish.site.site import Site

RubricPath: TypeAlias = Annotated[str, Path(pattern=RUBRIC_ID, description="The methodology.", examples=["adaptive"])]
VersionPath: TypeAlias = Annotated[int, Path(ge=1, le=999, description="Its version.", examples=[1])]


@with_config(STRICT)
class Scorecards(TypedDict):
    """The receipts of a server in one run, by methodology and version."""

    server: ServerKey
    run: RunKey
    as_of: Time
    scorecards: list[Scorecard]


def routes(site: Site) -> APIRouter:
    """The operations about scorecards."""
    router = APIRouter(tags=["scorecards"])

    @router.get(
        "/servers/{server}/scorecards", operation_id="listScorecards", summary="The scorecards of a server",
        response_model=Scorecards, responses=problems(*OF_SERVER),
    )  # fmt: skip
    def list_scorecards(
        server: ServerPath,
        rubric: Annotated[str | None, Query(pattern=RUBRIC_ID, description="Of one methodology only.")] = None,
        version: Annotated[int | None, Query(ge=1, le=999, description="Of one version only.")] = None,
        run: RunQuery = None,
    ) -> Response:
        """Every receipt of the server in a run, or those of one methodology or version.

        What our own scans found and is not disclosed yet is one line `withheld` in each place, with its points, so
        that the lines add up to the score.
        """
        row, shown = public_form(site, server, run)
        head = encoded({"server": server, "run": row.run.id, "as_of": moment(row.run.as_of)})
        bodies = b",".join(card.body for card in _chosen(shown.cards, rubric, version))
        return bytes_answer(masked(head[:-1] + b',"scorecards":[' + bodies + b"]}"), keep=True)

    @router.get(
        "/servers/{server}/scorecards/{rubric}@{version}", operation_id="getScorecard", summary="One scorecard",
        response_model=Scorecard, responses=problems(*OF_SERVER, "unknown-scorecard"),
    )  # fmt: skip
    def get_scorecard(server: ServerPath, rubric: RubricPath, version: VersionPath, run: RunQuery = None) -> Response:
        """One receipt, as it stands in the dataset."""
        row, shown = public_form(site, server, run)
        for card in _chosen(shown.cards, rubric, version):
            return bytes_answer(masked(card.body), keep=True)
        raise problem(
            "unknown-scorecard",
            f"Found no receipt of {rubric}@{version} in {row.run.id}; "
            f"/api/v1/servers/{server}/scorecards has those that there are.",
        )

    return router


def _chosen(cards: Iterable[StoredCard], rubric: str | None, version: int | None) -> list[StoredCard]:
    return [card for card in cards if rubric in {None, card.rubric} and version in {None, card.version}]
