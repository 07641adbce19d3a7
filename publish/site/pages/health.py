"""`/healthz`: the process runs. `/readyz`: its database answers."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import PlainTextResponse

from evidence.store import NotMigrated, StoreUnavailable
from publish.web.context import SiteContext


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()

    @router.get("/healthz")
    async def healthz() -> PlainTextResponse:
        return PlainTextResponse("ok\n")

    @router.get("/readyz")
    def readyz() -> PlainTextResponse:
        try:
            site.store.listing.read_revision()
        except (StoreUnavailable, NotMigrated):
            return PlainTextResponse("the database is away\n", 503)
        return PlainTextResponse("ok\n")

    return router
