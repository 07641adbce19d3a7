"""Statements compiled once for all engines of a process: a test has an engine of its own, which would compile anew."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Engine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache


def install() -> None:
    """For all engines that this process makes from now on; dialects of one kind count as equal."""
    compiled: LRUCache[Any, Any] = LRUCache(1_000)
    create = Engine.__init__

    def init(engine: Engine, *args: Any, **options: Any) -> None:
        create(engine, *args, **options)
        engine._compiled_cache = compiled

    Engine.__init__ = init  # type: ignore[method-assign]
    DefaultDialect.__hash__ = lambda dialect: hash(type(dialect))  # type: ignore[method-assign]
    DefaultDialect.__eq__ = lambda dialect, other: type(dialect) is type(other)  # type: ignore[method-assign]
