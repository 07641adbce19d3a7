"""The event loop of a command or task: uvloop where it exists, which halves the cost of a probe."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_coroutine(main: Coroutine[Any, Any, Result]) -> Result:
    try:
        import uvloop  # noqa: PLC0415  only those who start a loop need it
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)
