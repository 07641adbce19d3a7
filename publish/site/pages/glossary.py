"""`/glossary`: the terms that pages use, with their definitions."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from publish.views.glossary import GLOSSARY, anchor
from publish.web.context import SiteContext


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()

    @router.get("/glossary")
    def glossary() -> Response:
        return site.page(
            "glossary.html.j2", here="about", canonical=site.absolute("/glossary"), glossary=GLOSSARY, anchor=anchor
        )

    return router
