"""A bound on work that stands still while the work waits for its turn."""

from __future__ import annotations

import asyncio

import pytest

from crawler.http.deadlines import limit_duration, pause_deadline


def test_work_that_never_ends_is_given_up() -> None:
    async def run() -> None:
        async with limit_duration(0.01):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        asyncio.run(run())


def test_waiting_for_a_turn_does_not_count_and_the_work_after_it_does() -> None:
    reached: list[str] = []

    async def run() -> None:
        async with limit_duration(0.05):
            with pause_deadline(), pause_deadline():
                await asyncio.sleep(0.2)
            reached.append("the turn")
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    assert reached == ["the turn"]


def test_unbounded_work_may_wait() -> None:
    async def run() -> str:
        with pause_deadline():
            await asyncio.sleep(0)
        return "done"

    assert asyncio.run(run()) == "done"


def test_work_that_outlives_a_bound_leaves_it_alone() -> None:
    """A task copies the context of the task that started it, and continues when that task is done."""
    queued: list[str] = []

    async def outlive(gate: asyncio.Event) -> None:
        with pause_deadline():
            await gate.wait()
        queued.append("once")
        with pause_deadline():
            queued.append("twice")

    async def main() -> None:
        gate = asyncio.Event()
        async with limit_duration(60):
            task = asyncio.create_task(outlive(gate))
            await asyncio.sleep(0)
        gate.set()
        await task

    asyncio.run(main())
    assert queued == ["once", "twice"]
