"""The Celery application in which every share of a run waits at the gate (tests/functional/gate.py)."""

from __future__ import annotations

from typing import Any

from tests.functional import gate
from workers.celery_app import app
from workers.nightly import shards

__all__ = ["app"]

_collect: Any = shards.collect_shard


async def collect_shard(*given: Any, **named: Any) -> None:
    await gate.passed(free=0)
    await _collect(*given, **named)


shards.collect_shard = collect_shard
