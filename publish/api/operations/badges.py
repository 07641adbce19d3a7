"""Badges: which ones a server has, what each needs and what the server has of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Final

from fastapi import APIRouter
from pydantic import Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from publish.api.contract.models import STRICT, NotMeasured, Number, RunKey, ServerKey
from publish.api.contract.public_access import OF_SERVER, ServerPath, find_public_server, find_visible_server
from publish.api.contract.responses import json_response
from publish.badges import requirements as gate
from publish.badges.requirements import Award, Criterion
from publish.text.numbers import SHARE_PLACES, json_number, round_short_of
from publish.web.context import SiteContext
from publish.web.problems import describe_problems

_PLACES: Final = 2
_UNSEEN: Final = {"not_measured": "nothing_to_count"}


@with_config(STRICT)
class Needed(TypedDict):
    """One required number, and the server's value."""

    id: Annotated[str, Field(examples=["coverage"])]
    title: Annotated[str, Field(examples=["Coverage of the methodology"])]
    unit: Annotated[str, Field(description="share (0 to 1), of 10, of 100, or count.", examples=["share"])]
    needs: Number
    has: Annotated[
        Number | NotMeasured,
        Field(description="What the evidence guarantees; what was not measured counts 0. Below `needs` if not `met`."),
    ]
    met: bool
    detail: Annotated[str, Field(examples=["measured of what the methodology weighs"])]


@with_config(STRICT)
class Badge(TypedDict):
    """The gate to search engines, or a badge."""

    id: Annotated[str, Field(examples=["lab-tested"])]
    title: Annotated[str, Field(examples=["Lab Tested"])]
    meaning: Annotated[str, Field(examples=["Its tools were read and tried by Hallmark."])]
    awarded: bool
    criteria: list[Needed]
    image: Annotated[
        str | None,
        Field(
            description="Address of its SVG; the gate has none.",
            examples=["https://hallmark.example/badges/srv_cefd15fffcf4dc7d70a6/lab-tested.svg"],
        ),
    ]


@with_config(STRICT)
class Badges(TypedDict):
    """The gate and the badges of a server in its newest run."""

    server: ServerKey
    run: RunKey
    requirements: Annotated[int, Field(description="Version of all requirements together.")]
    gate: Badge
    badges: list[Badge]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["badges"])

    @router.get(
        "/servers/{server}/badges", operation_id="listBadges", summary="The badges of a server",
        response_model=Badges, responses=describe_problems(*OF_SERVER),
    )  # fmt: skip
    def list_badges(server: ServerPath) -> Response:
        """Every badge, awarded or not, with each number that it needs."""
        listed = find_visible_server(site, server)
        seen = find_public_server(site, server, listed.run)
        judged = gate.judge_server(seen.public, controlled=site.store.claims.is_controlled(server))
        images = {award.id: site.absolute(f"/badges/{server}/{award.id}.svg") for award in judged.badges}
        return json_response(
            {
                "server": server,
                "run": seen.run.run.id,
                "requirements": judged.version,
                "gate": _badge(judged.gate, listed.gate, None),
                "badges": [_badge(award, award.id in listed.badges, images[award.id]) for award in judged.badges],
            },
            keep=True,
        )

    return router


def _badge(award: Award, awarded: bool, image: str | None) -> dict[str, Any]:
    return {
        "id": award.id,
        "title": award.title,
        "meaning": award.meaning,
        "awarded": awarded,
        "criteria": [_needed(criterion) for criterion in award.criteria],
        "image": image,
    }


def _needed(criterion: Criterion) -> dict[str, Any]:
    requirement = criterion.requirement
    places = SHARE_PLACES if requirement.unit == "share" else _PLACES
    return {
        "id": requirement.id,
        "title": requirement.title,
        "unit": requirement.unit,
        "needs": json_number(requirement.needs, places),
        "has": _UNSEEN if criterion.has is None else _round_has(criterion.has, requirement.needs, places),
        "met": criterion.met,
        "detail": criterion.detail,
    }


def _round_has(has: Decimal, needs: Decimal, places: int) -> int | float:
    return json_number(round_short_of(has, needs, places), places)
