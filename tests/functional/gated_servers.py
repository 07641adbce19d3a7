"""The Celery application in which servers wait at the gate (tests/functional/gate.py), all but the first ones."""

from __future__ import annotations

from typing import Any

from crawler.collectors.protocol import ProtocolCollector
from evidence.model import Dossier, Record, Server
from tests.functional import gate
from workers.celery_app import app

__all__ = ["app"]

_collect: Any = ProtocolCollector.collect


async def collect(self: ProtocolCollector, target: Server, earlier: Dossier) -> list[Record]:
    await gate.passed()
    found: list[Record] = await _collect(self, target, earlier)
    return found


ProtocolCollector.collect = collect  # type: ignore[method-assign]
