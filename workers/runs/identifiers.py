"""Names of runs: they sort by the moment at which a run was begun, which is how the newest one is found."""

from __future__ import annotations

import secrets
from datetime import datetime


def make_run_id(at: datetime, mark: str = "") -> str:
    """A new name, as in `20261121T093000Z-0f3c1a2b4c5d` or `20261121T093000Z-retest-0f3c1a2b4c5d`.

    Its last part begins with the microseconds, or the order of two runs of one second would be that of chance.
    """
    return f"{at:%Y%m%dT%H%M%SZ}-{mark and f'{mark}-'}{at.microsecond:05x}{secrets.token_hex(4)}"
