"""To be written."""

from __future__ import annotations

from fastapi import APIRouter

from publish.site.site import Site


def routes(site: Site) -> APIRouter:
    """None yet."""
    return APIRouter()
