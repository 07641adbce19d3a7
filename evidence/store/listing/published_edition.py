"""The edition of the listing index that is read: the last one of the newest published run."""

from __future__ import annotations

from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, exists, select

from evidence.store.tables.core import RUN
from evidence.store.tables.listing import LISTING_EDITION, LISTING_HIDDEN
from evidence.store.values import RunState

_NEWEST_FIRST: Final = (RUN.c.id.desc(), LISTING_EDITION.c.key.desc())


def find_published_edition_key(connection: Connection) -> int | None:
    """The key of the edition that is read; None before the first."""
    found = find_published_edition(connection)
    return None if found is None else found[0]


def find_published_edition(connection: Connection) -> tuple[int, bool] | None:
    """The key of the edition that is read, and whether any server is hidden; None before the first."""
    row = connection.execute(_SHOWN).first()
    return None if row is None else (row[0], row[1])


def edition_is_public() -> ColumnElement[bool]:
    """The condition that an edition is complete and its run published."""
    return and_(LISTING_EDITION.c.ready, RUN.c.state == RunState.PUBLISHED.value)


_SHOWN: Final = (
    select(LISTING_EDITION.c.key, exists(LISTING_HIDDEN.c.server_key))
    .join(RUN, RUN.c.key == LISTING_EDITION.c.run_key)
    .where(edition_is_public())
    .order_by(*_NEWEST_FIRST)
    .limit(1)
)


SHOWN_EDITION: Final = (
    select(LISTING_EDITION.c.key)
    .join(RUN, RUN.c.key == LISTING_EDITION.c.run_key)
    .where(edition_is_public())
    .order_by(*_NEWEST_FIRST)
    .limit(1)
    .scalar_subquery()
)
"""The key of the edition that is read, as a value in other statements; NULL before the first."""


def is_edition_published(connection: Connection, edition: int) -> bool:
    """Whether the run of an edition is published."""
    state = (
        select(RUN.c.state)
        .join(LISTING_EDITION, LISTING_EDITION.c.run_key == RUN.c.key)
        .where(LISTING_EDITION.c.key == edition)
    )
    return connection.scalar(state) == RunState.PUBLISHED.value
