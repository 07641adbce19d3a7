"""Scorecards of one server with every line: rounded for readers, and as exact receipts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, TypeAlias

import orjson
from fastapi import APIRouter, Path, Query
from pydantic import with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from evidence.store import StoredScorecard
from publish.api.contract.models import RUBRIC_ID, STRICT, Receipt, RunKey, Scorecard, ServerKey, Time
from publish.api.contract.public_access import OF_SERVER, RunQuery, ServerPath, find_public_server
from publish.api.contract.responses import bytes_response, encode_json, format_time
from publish.api.contract.rounding import round_receipt
from publish.formats.run_files import mask_secrets
from publish.web.context import SiteContext
from publish.web.problems import describe_problems, make_problem

RubricPath: TypeAlias = Annotated[str, Path(pattern=RUBRIC_ID, description="The methodology.", examples=["adaptive"])]
VersionPath: TypeAlias = Annotated[int, Path(ge=1, le=999, description="Its version.", examples=[1])]


@with_config(STRICT)
class Scorecards(TypedDict):
    """The scorecards of a server in one run, by methodology and version."""

    server: ServerKey
    run: RunKey
    as_of: Time
    scorecards: list[Scorecard]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["scorecards"])

    @router.get(
        "/servers/{server}/scorecards", operation_id="listScorecards", summary="The scorecards of a server",
        response_model=Scorecards, responses=describe_problems(*OF_SERVER),
    )  # fmt: skip
    def list_scorecards(
        server: ServerPath,
        rubric: Annotated[str | None, Query(pattern=RUBRIC_ID, description="Of one methodology only.")] = None,
        version: Annotated[int | None, Query(ge=1, le=999, description="Of one version only.")] = None,
        run: RunQuery = None,
    ) -> Response:
        """Every scorecard of the server in a run, or those of one methodology or version.

        Findings of our own scans that are not disclosed yet are one line `withheld` in each place, with its points.
        """
        seen = find_public_server(site, server, run)
        shown = seen.run.run
        found = {
            "server": server,
            "run": shown.id,
            "as_of": format_time(shown.as_of),
            "scorecards": [_scorecard(card) for card in _chosen(seen.public.cards, rubric, version)],
        }
        return bytes_response(mask_secrets(encode_json(found)), keep=True)

    @router.get(
        "/servers/{server}/scorecards/{rubric}@{version}", operation_id="getScorecard", summary="One scorecard",
        response_model=Scorecard, responses=describe_problems(*OF_SERVER, "unknown-scorecard"),
    )  # fmt: skip
    def get_scorecard(server: ServerPath, rubric: RubricPath, version: VersionPath, run: RunQuery = None) -> Response:
        """One scorecard with rounded numbers; its receipt has the exact ones."""
        card = _find_card(site, server, rubric, version, run)
        return bytes_response(mask_secrets(encode_json(_scorecard(card))), keep=True)

    @router.get(
        "/servers/{server}/scorecards/{rubric}@{version}/receipt", operation_id="getReceipt", summary="One receipt",
        response_model=Receipt, responses=describe_problems(*OF_SERVER, "unknown-scorecard"),
    )  # fmt: skip
    def get_receipt(server: ServerPath, rubric: RubricPath, version: VersionPath, run: RunQuery = None) -> Response:
        """The scorecard as it is in the dataset: exact decimals in strings, whose lines add up to the score."""
        return bytes_response(mask_secrets(_find_card(site, server, rubric, version, run).body), keep=True)

    return router


def _find_card(site: SiteContext, server: str, rubric: str, version: int, run: str | None) -> StoredScorecard:
    seen = find_public_server(site, server, run)
    for card in _chosen(seen.public.cards, rubric, version):
        return card
    raise make_problem(
        "unknown-scorecard",
        f"Found no receipt of {rubric}@{version} in {seen.run.run.id}; "
        f"/api/v1/servers/{server}/scorecards has those that there are.",
    )


def _scorecard(card: StoredScorecard) -> dict[str, Any]:
    return round_receipt(orjson.loads(card.body))


def _chosen(cards: Iterable[StoredScorecard], rubric: str | None, version: int | None) -> list[StoredScorecard]:
    return [card for card in cards if rubric in {None, card.rubric} and version in {None, card.version}]
