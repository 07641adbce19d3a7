"""One server of the published edition, its run, and which rare rows it has, found by one statement."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from sqlalchemy import Boolean, Connection, bindparam, literal_column, or_, select, type_coerce

from evidence.model import ServerId
from evidence.store.listing.published_edition import SHOWN_EDITION
from evidence.store.listing.server_packing import unpack_server
from evidence.store.listing.values import ListedServer
from evidence.store.runs.run_states import run_from_row
from evidence.store.servers.lookup import server_from_row
from evidence.store.tables.community import DISPUTE
from evidence.store.tables.core import FINDING, RETEST, RUN, SERVER
from evidence.store.tables.evidence import COMPACTION
from evidence.store.tables.listing import LISTING_EDITION, LISTING_HIDDEN, LISTING_SERVER
from evidence.store.values import FindingState, RunRow


class ServerFlags(Struct, frozen=True):
    """Whether the records of a run were dropped, and whether the server has reviewed findings, disputes, re-tests.

    Findings count when they are public or dismissed, disputes and re-tests in every state.
    """

    dropped: bool = False
    reviewed: bool = False
    disputed: bool = False
    retested: bool = False


class ShownServer(Struct, frozen=True):
    """A listed server, the run that lists show, and the flags of the server by that run; most pages need no more."""

    listed: ListedServer
    run: RunRow
    flags: ServerFlags


_REVIEWED: Final = or_(
    FINDING.c.state == FindingState.PUBLIC_DISCLOSED.value, FINDING.c.state == FindingState.DISMISSED.value
)
_FLAGS: Final = [
    type_coerce(rows.correlate(SERVER, RUN).exists(), Boolean).label(name)
    for name, rows in {
        "dropped": select(COMPACTION.c.run_key).where(COMPACTION.c.run_key == RUN.c.key),
        "reviewed": select(FINDING.c.key).where(FINDING.c.server_key == SERVER.c.key, _REVIEWED),
        "disputed": select(DISPUTE.c.key).where(DISPUTE.c.server_key == SERVER.c.key),
        "retested": select(RETEST.c.key).where(RETEST.c.server_key == SERVER.c.key),
    }.items()
]
_SERVER_COLUMNS: Final = [SERVER.c[name] for name in ("ref", "name", "targets", "repository", "seen_in")]
_SHOWN: Final = (
    select(RUN, *_SERVER_COLUMNS, LISTING_SERVER.c.seen, LISTING_SERVER.c.body, *_FLAGS)
    .join_from(SERVER, LISTING_SERVER, LISTING_SERVER.c.server_key == SERVER.c.key)
    .join(LISTING_EDITION, LISTING_EDITION.c.key == LISTING_SERVER.c.edition)
    .join(RUN, RUN.c.key == LISTING_EDITION.c.run_key)
    .where(
        LISTING_SERVER.c.edition + literal_column("0") == SHOWN_EDITION,
        SERVER.c.id == bindparam("id"),
        LISTING_SERVER.c.server_key.not_in(select(LISTING_HIDDEN.c.server_key)),
    )
)
"""One server of the published edition, unless it is hidden. The sum makes SQLite use the index that begins with the
server; otherwise it would read all servers of the edition."""


def find_shown(connection: Connection, server: ServerId) -> ShownServer | None:
    """One server of the published edition; None when it is hidden or unknown."""
    row = connection.execute(_SHOWN, {"id": server}).first()
    if row is None:
        return None
    run = run_from_row(row)
    listed = unpack_server(row.body, server_from_row(row), run.run.id, row.seen)
    return ShownServer(listed, run, ServerFlags(row.dropped, row.reviewed, row.disputed, row.retested))


def is_shown(connection: Connection, server: ServerId) -> bool:
    """True when `find_shown` finds the server."""
    return connection.execute(_SHOWN, {"id": server}).first() is not None
