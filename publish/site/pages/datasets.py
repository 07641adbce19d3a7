"""`/datasets`: the snapshots, their files, and how to check them."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from starlette.responses import Response

from publish.datasets.format.questions import QUESTIONS
from publish.datasets.snapshot.storage import StoredSnapshot, describe_file, is_local_folder, list_snapshots
from publish.web.context import SiteContext
from publish.web.timed_value import TimedValue

SECONDS: Final = 60.0
"""Seconds between two readings of the snapshot folder."""

_SHOWN: Final = 60


def routes(site: SiteContext) -> APIRouter:
    router = APIRouter()
    recent = TimedValue(site.backend, SECONDS, lambda: list_snapshots(site.backend.datasets))

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
            about=describe_file,
            elsewhere="" if is_local_folder(site.backend.datasets) else site.backend.datasets,
            total=_total,
            questions=QUESTIONS,
        )

    return router


def _total(snapshot: StoredSnapshot) -> int:
    return sum(file.bytes for file in snapshot.files)
