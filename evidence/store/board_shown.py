"""Which edition of the board is read: that of the newest published run, and the last one of several."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Connection, and_, select

from evidence.store.board_models import BOARD
from evidence.store.models import RUN
from evidence.store.rows import RunState


def shown_edition(connection: Connection) -> int | None:
    """The edition that is read, None before the first."""
    newest = select(BOARD.c.key).join(RUN, RUN.c.key == BOARD.c.run_key).where(is_told())
    key: int | None = connection.scalar(newest.order_by(RUN.c.id.desc(), BOARD.c.key.desc()).limit(1))
    return key


def is_told() -> ColumnElement[bool]:
    """What is true of editions that anybody may read, beside their runs."""
    return and_(BOARD.c.ready, RUN.c.state == RunState.PUBLISHED.value)


def is_published(connection: Connection, edition: int) -> bool:
    """Whether the run of an edition is published."""
    state = select(RUN.c.state).join(BOARD, BOARD.c.run_key == RUN.c.key).where(BOARD.c.key == edition)
    return connection.scalar(state) == RunState.PUBLISHED.value
