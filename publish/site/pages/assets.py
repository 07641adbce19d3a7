"""Style sheets and pictures, under addresses that change with their content."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from publish.web.context import CACHE_PUBLIC, SiteContext

_FOR_EVER: Final = "public, max-age=31536000, immutable"


def routes(site: SiteContext) -> APIRouter:
    """`/static/{version}/{name}` and `/favicon.ico`."""
    router = APIRouter()

    @router.get("/static/{version}/{name}")
    async def asset(version: str, name: str) -> Response:
        found = site.assets.find(version, name)
        if found is None:
            raise HTTPException(404)
        return Response(found.body, headers={"cache-control": _FOR_EVER}, media_type=found.media_type)

    @router.get("/favicon.ico")
    async def icon() -> Response:
        found = site.assets.files["icon.svg"]
        return Response(found.body, headers={"cache-control": CACHE_PUBLIC}, media_type=found.media_type)

    return router
