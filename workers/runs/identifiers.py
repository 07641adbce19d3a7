"""Ids of runs. They sort by the start of the run, which is how the newest run is found."""

from __future__ import annotations

import secrets
from datetime import datetime


def make_run_id(at: datetime, mark: str = "") -> str:
    """A new id such as `20261121T093000Z-0f3c1a2b4c5d` or `20261121T093000Z-retest-0f3c1a2b4c5d`.

    The last part begins with the microseconds, so that two runs of one second sort by time too.
    """
    return f"{at:%Y%m%dT%H%M%SZ}-{mark and f'{mark}-'}{at.microsecond:05x}{secrets.token_hex(4)}"
