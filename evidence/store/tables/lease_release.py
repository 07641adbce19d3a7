"""The columns of an item whose lease its holder or an operator released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import and_, case

from evidence.store.tables.core import RUN_ITEM

_COUNTED = and_(RUN_ITEM.c.leased_by.is_not(None), RUN_ITEM.c.leases > 0)

RELEASED_LEASE: Final[Mapping[str, Any]] = {
    # Undoes the count of this lease only; earlier leases without a result stay counted.
    "leases": case((_COUNTED, RUN_ITEM.c.leases - 1), else_=RUN_ITEM.c.leases),
    "leased_by": None,
    "leased_until": None,
}
