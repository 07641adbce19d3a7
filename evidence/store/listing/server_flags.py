"""Which rare rows a server has, found with one statement: most pages need none of them."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from sqlalchemy import Boolean, Connection, bindparam, select, type_coerce

from evidence.model import ServerId
from evidence.store.tables.community import DISPUTE
from evidence.store.tables.core import FINDING, RETEST, RUN, SERVER
from evidence.store.tables.evidence import COMPACTION
from evidence.store.values import FindingState


class ServerFlags(Struct, frozen=True):
    """Whether the records of a run were dropped, and whether the server has reviewed findings, disputes, re-tests.

    Findings count when they are public or dismissed, disputes and re-tests in every state.
    """

    dropped: bool = False
    reviewed: bool = False
    disputed: bool = False
    retested: bool = False


_KEY: Final = select(SERVER.c.key).where(SERVER.c.id == bindparam("server")).scalar_subquery()
_RUN: Final = select(RUN.c.key).where(RUN.c.id == bindparam("run")).scalar_subquery()
_REVIEWED: Final = FINDING.c.state.in_([FindingState.PUBLIC_DISCLOSED.value, FindingState.DISMISSED.value])
_FLAGS: Final = select(
    *(
        type_coerce(rows.exists(), Boolean).label(name)
        for name, rows in {
            "dropped": select(COMPACTION.c.run_key).where(COMPACTION.c.run_key == _RUN),
            "reviewed": select(FINDING.c.key).where(FINDING.c.server_key == _KEY, _REVIEWED),
            "disputed": select(DISPUTE.c.key).where(DISPUTE.c.server_key == _KEY),
            "retested": select(RETEST.c.key).where(RETEST.c.server_key == _KEY),
        }.items()
    )
)


def find_flags(connection: Connection, server: ServerId, run: str) -> ServerFlags:
    """The flags of a server, by those of a run; none for a server or run that is not stored."""
    row = connection.execute(_FLAGS, {"server": server, "run": run}).one()
    return ServerFlags(row.dropped, row.reviewed, row.disputed, row.retested)
