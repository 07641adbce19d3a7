"""One short text that differs as soon as anything differs that the public may see."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection, ScalarSelect, func, select

from evidence.store.models import DISCLOSURE, OPT_OUT, RETEST, SNAPSHOT
from evidence.store.people_models import DISPUTE, DISPUTE_ACT
from evidence.store.retests import RetestState


def _newest(column: Any) -> ScalarSelect[Any]:
    return select(func.max(column)).scalar_subquery()


def _retests(state: RetestState) -> ScalarSelect[Any]:
    return select(func.count()).where(RETEST.c.state == state.value).scalar_subquery()


_PARTS: Final = (
    _newest(SNAPSHOT.c.run_key),
    _newest(SNAPSHOT.c.at),
    _newest(DISCLOSURE.c.key),
    _newest(RETEST.c.key),
    _retests(RetestState.WAITING),
    _retests(RetestState.RUNNING),
    _newest(OPT_OUT.c.key),
    select(func.count(OPT_OUT.c.revoked_at)).scalar_subquery(),
    _newest(DISPUTE.c.key),
    _newest(DISPUTE_ACT.c.key),
)
"""Each is answered from an index or from a table of few rows: this is asked once a second."""


def read_revision(connection: Connection) -> str:
    """The revision of what is published, disclosed, disputed, asked for, opted out of. Equal: nothing has changed."""
    return "/".join(str(part) for part in connection.execute(select(*_PARTS)).one())
