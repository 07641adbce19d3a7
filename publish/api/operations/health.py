"""Health: whether the store answers, and how old what is shown is."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field, with_config
from starlette.responses import Response
from typing_extensions import TypedDict

from publish.api.contract.models import STRICT, Time
from publish.api.contract.responses import format_time, json_response
from publish.web.context import SiteContext


@with_config(STRICT)
class Health(TypedDict):
    """The state of this installation."""

    status: Annotated[Literal["ok", "empty"], Field(description="`empty` before anything is published.")]
    now: Time
    run: Annotated[str | None, Field(description="The newest published run.", examples=["20260301T030000Z-nightly"])]
    as_of: Annotated[Time | None, Field(description="The time of that run.")]


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter(tags=["health"])

    @router.get("/health", operation_id="getHealth", summary="Whether we are well", response_model=Health)
    def get_health() -> Response:
        """Answers 503 when the database does not answer."""
        newest = site.store.listing.find_newest_run()
        row = None if newest is None else site.store.find_run(newest)
        return json_response(
            {
                "status": "empty" if row is None else "ok",
                "now": format_time(site.backend.now()),
                "run": newest,
                "as_of": None if row is None else format_time(row.run.as_of),
            }
        )

    return router
