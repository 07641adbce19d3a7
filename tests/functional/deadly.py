"""The Celery application in a world with one server that kills whoever looks at it.

`DEADLY_SERVER` names it. What it does to a worker is what no handler can catch: a crash in C, or the kernel's killer.
"""

from __future__ import annotations

import os
from typing import Any

from crawler.collectors.protocol import ProtocolCollector
from evidence.model import Dossier, Record, Server
from workers.celery_app import app

__all__ = ["app"]

_VICTIM = os.environ.get("DEADLY_SERVER", "")
_collect: Any = ProtocolCollector.collect


async def collect(self: ProtocolCollector, target: Server, earlier: Dossier) -> list[Record]:
    if target.id == _VICTIM:
        os._exit(9)
    found: list[Record] = await _collect(self, target, earlier)
    return found


ProtocolCollector.collect = collect  # type: ignore[method-assign]
