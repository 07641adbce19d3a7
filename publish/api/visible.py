"""What of the store anybody may ask about: published servers that have not opted out, and runs that are finished."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from fastapi import Path, Query

from evidence.model import ServerId, Trigger
from evidence.store import RunRow, RunState
from evidence.store.board_rows import Listed
from publish.api.problem import found_text, problem
from publish.api.shapes import RUN_ID, SERVER_ID
from publish.dataset import Published, published
from publish.site.site import Site

ServerPath: TypeAlias = Annotated[
    str, Path(pattern=SERVER_ID, description="Id of a server.", examples=["srv_0f1e2d3c4b5a69788796"])
]
RunQuery: TypeAlias = Annotated[
    str | None,
    Query(
        pattern=RUN_ID,
        description="A run as it is in /runs, or that of a re-test; the newest of the server if not given.",
    ),
]

OF_SERVER: Final = ("unknown-server", "unknown-run")
"""What may be wrong with a server and a run that are asked for."""


def visible_server(site: Site, server: ServerId) -> Listed:
    """A server as it is listed; one that is not published, or has opted out, is unknown."""
    found = site.store.board.find(server)
    if found is None or site.is_hidden(found.server):
        raise problem(
            "unknown-server",
            f"Expected the id of a published server, found {found_text(server)}. /api/v1/servers lists them.",
        )
    return found


def visible_run(site: Site, run: str) -> RunRow:
    """A run that is published, or the finished run of a re-test; any other one is unknown."""
    row = site.store.run(run)
    if row is None or not _is_visible(row):
        raise problem(
            "unknown-run", f"Expected the id of a published run, found {found_text(run)}. /api/v1/runs lists them."
        )
    return row


def public_form(site: Site, server: ServerId, run: str | None) -> tuple[RunRow, Published]:
    """What anybody may see of a server in a run, by default in its newest; a problem when the server was not in it."""
    listed = visible_server(site, server)
    row = visible_run(site, run or listed.run)
    shown = next(published(site.store, row.run.id, servers=[server]), None)
    if shown is None or not (shown.dossier.records or shown.cards):
        raise problem(
            "unknown-run", f"The server was not in {row.run.id}; /api/v1/servers/{server}/history has its runs."
        )
    return row, shown


def _is_visible(row: RunRow) -> bool:
    return row.state is RunState.PUBLISHED or (row.run.trigger is Trigger.RETEST and row.state is RunState.DONE)
