"""`/datasets`: the snapshots, their files, and how to check them."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from publish.datasets.shelf import Snapshot, about, is_local, listed
from publish.site.recent import Recent
from publish.site.site import Site

SECONDS: Final = 60.0
"""How often the place of the snapshots is looked at."""

_SHOWN: Final = 60


def routes(site: Site) -> APIRouter:
    """The page."""
    router = APIRouter()
    recent = Recent(site.desk, SECONDS, lambda: listed(site.desk.datasets))

    @router.get("/datasets")
    def datasets() -> Response:
        found = recent.get()
        return site.page(
            "datasets.html.j2",
            here="datasets",
            keep=False,
            canonical=site.absolute("/datasets"),
            snapshots=found[:_SHOWN],
            older=max(0, len(found) - _SHOWN),
            about=about,
            elsewhere="" if is_local(site.desk.datasets) else site.desk.datasets,
            total=_total,
        )

    return router


def _total(snapshot: Snapshot) -> int:
    return sum(file.bytes for file in snapshot.files)
