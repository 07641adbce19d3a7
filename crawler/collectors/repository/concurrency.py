"""Two awaitables at once, where the first failure ends both."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


async def run_together(first: Awaitable[A], second: Awaitable[B]) -> tuple[A, B]:
    """Both results. When one fails the other is cancelled, and its exception is raised without a group."""
    tasks = asyncio.ensure_future(first), asyncio.ensure_future(second)
    try:
        return await tasks[0], await tasks[1]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
