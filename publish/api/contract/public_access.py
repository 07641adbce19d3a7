"""Access to published servers that have not opted out, and to published runs and finished re-tests."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from fastapi import Path, Query

from evidence.model import ServerId, Trigger
from evidence.store import RunRow, RunState
from evidence.store.listing.values import ListedServer
from publish.api.contract.models import RUN_ID, SERVER_ID
from publish.views.server_in_run import ServerInRun, read_server_in_run
from publish.web.context import SiteContext
from publish.web.problems import make_problem, show_found

ServerPath: TypeAlias = Annotated[
    str, Path(pattern=SERVER_ID, description="Id of a server.", examples=["srv_cefd15fffcf4dc7d70a6"])
]
RunQuery: TypeAlias = Annotated[
    str | None,
    Query(
        pattern=RUN_ID,
        description="A run as it is in /runs, or that of a re-test; the newest of the server if not given.",
    ),
]

OF_SERVER: Final = ("unknown-server", "unknown-run")
"""Problems of operations on a server and a run."""


def find_visible_server(site: SiteContext, server: ServerId) -> ListedServer:
    """The listed server; raise Problem if it is not published or has opted out."""
    found = site.store.listing.find_server(server)
    if found is None or site.is_hidden(found.server):
        raise make_problem(
            "unknown-server",
            f"Expected the id of a published server, found {show_found(server)}. /api/v1/servers lists them.",
        )
    return found


def find_visible_run(site: SiteContext, run: str) -> RunRow:
    """A published run or the finished run of a re-test; raise Problem for any other run."""
    row = site.store.find_run(run)
    if row is None or not _is_visible(row):
        raise make_problem(
            "unknown-run", f"Expected the id of a published run, found {show_found(run)}. /api/v1/runs lists them."
        )
    return row


def find_public_server(site: SiteContext, server: ServerId, run: str | None) -> ServerInRun:
    """What is public of a server in a run, by default in its newest; raise Problem if the server was not in it."""
    listed = find_visible_server(site, server)
    row = find_visible_run(site, run or listed.run)
    found = read_server_in_run(site.store, listed, row)
    if found is None:
        raise make_problem(
            "unknown-run", f"The server was not in {row.run.id}; /api/v1/servers/{server}/history has its runs."
        )
    return found


def _is_visible(row: RunRow) -> bool:
    return row.state is RunState.PUBLISHED or (row.run.trigger is Trigger.RETEST and row.state is RunState.DONE)
