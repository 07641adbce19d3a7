"""Which edition of the board is read: that of the newest published run, and the last one of several."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, exists, select

from evidence.store.board_models import BOARD, BOARD_HIDDEN
from evidence.store.models import RUN
from evidence.store.rows import RunState

_NEWEST_FIRST: Final = (RUN.c.id.desc(), BOARD.c.key.desc())


def shown_edition(connection: Connection) -> int | None:
    """The edition that is read, None before the first."""
    found = find_shown(connection)
    return None if found is None else found[0]


def find_shown(connection: Connection) -> tuple[int, bool] | None:
    """The edition that is read, and whether any server at all is hidden; None before the first."""
    row = connection.execute(_SHOWN).first()
    return None if row is None else (row[0], row[1])


def is_told() -> ColumnElement[bool]:
    """What is true of editions that anybody may read, beside their runs."""
    return and_(BOARD.c.ready, RUN.c.state == RunState.PUBLISHED.value)


_SHOWN: Final = (
    select(BOARD.c.key, exists(BOARD_HIDDEN.c.server_key))
    .join(RUN, RUN.c.key == BOARD.c.run_key)
    .where(is_told())
    .order_by(*_NEWEST_FIRST)
    .limit(1)
)


SHOWN_EDITION: Final = (
    select(BOARD.c.key)
    .join(RUN, RUN.c.key == BOARD.c.run_key)
    .where(is_told())
    .order_by(*_NEWEST_FIRST)
    .limit(1)
    .scalar_subquery()
)
"""The same edition as a value of another statement, NULL before the first."""


def is_published(connection: Connection, edition: int) -> bool:
    """Whether the run of an edition is published."""
    state = select(RUN.c.state).join(BOARD, BOARD.c.run_key == RUN.c.key).where(BOARD.c.key == edition)
    return connection.scalar(state) == RunState.PUBLISHED.value
