"""The Celery application in a world with one server that kills the worker that probes it.

`DEADLY_SERVER` names it. What it does to a worker is what no handler can catch: by default a crash, as of C or by the
kernel; with `DEADLY_HOW=hang` nothing else happens in its process ever again.
"""

from __future__ import annotations

import os
import time
from typing import Any

from crawler.collectors.protocol import ProtocolCollector
from evidence.model import Dossier, Record, Server
from workers.celery_app import app

__all__ = ["app"]

_VICTIM = os.environ.get("DEADLY_SERVER", "")
_HANGS = os.environ.get("DEADLY_HOW") == "hang"
_collect: Any = ProtocolCollector.collect


async def collect(self: ProtocolCollector, target: Server, earlier: Dossier) -> list[Record]:
    if target.id == _VICTIM:
        _end()
    found: list[Record] = await _collect(self, target, earlier)
    return found


ProtocolCollector.collect = collect  # type: ignore[method-assign]


def _end() -> None:
    while _HANGS:
        time.sleep(1)
    os._exit(9)
