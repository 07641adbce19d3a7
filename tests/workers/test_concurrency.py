"""Bounded concurrency: nothing lost, nothing twice, stops when asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from workers.concurrency import Halt, process_concurrently, run_unless_halted


class Job:
    """Numbers to work on in chunks, and what became of them."""

    def __init__(self, count: int, chunk: int = 7) -> None:
        self.left = list(range(count))
        self.chunk = chunk
        self.running = self.most = self.pulls = 0
        self.written: list[int] = []
        self.groups: list[int] = []
        self.halt = Halt()

    async def pull(self) -> Sequence[int]:
        self.pulls += 1
        taken, self.left = self.left[: self.chunk], self.left[self.chunk :]
        return taken

    async def do(self, number: int) -> int:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        return number

    async def write(self, numbers: Sequence[int]) -> None:
        self.groups.append(len(numbers))
        self.written += numbers

    async def run(self, *, lanes: int = 5, group: int = 4, grace: float = 0.0) -> None:
        await process_concurrently(
            self.pull, self.do, self.write, lanes=lanes, group=group, halt=self.halt, grace=grace
        )


@pytest.mark.parametrize("count", [0, 1, 7, 100])
def test_every_piece_is_done_and_written_once(count: int) -> None:
    job = Job(count)
    asyncio.run(job.run())
    assert sorted(job.written) == list(range(count))
    assert job.most <= 5
    assert max(job.groups, default=0) <= 4


def test_a_result_of_none_ends_nothing() -> None:
    written: list[int | None] = []
    job = Job(100)

    async def do(number: int) -> int | None:
        return None if number % 10 == 0 else number

    async def write(finished: Sequence[int | None]) -> None:
        written.extend(finished)

    async def run() -> None:
        async with asyncio.timeout(20):
            await process_concurrently(job.pull, do, write, lanes=5, group=4, halt=job.halt, grace=0.0)

    asyncio.run(run())
    assert written.count(None) == 10
    assert {one for one in written if one is not None} == {number for number in range(100) if number % 10}


def test_after_halt_nothing_is_pulled_and_what_is_done_is_written() -> None:
    job = Job(100)

    async def do(number: int) -> int:
        if number == 10:
            job.halt.set()
        return number

    job.do = do  # type: ignore[method-assign]
    asyncio.run(job.run(grace=5.0))
    assert {10} <= set(job.written) < set(range(100))
    assert job.pulls <= 2


def test_a_piece_that_never_ends_is_cancelled_after_the_grace() -> None:
    job = Job(20)
    cancelled: list[int] = []

    async def do(number: int) -> int:
        if number == 3:
            job.halt.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(number)
                raise
        return number

    job.do = do  # type: ignore[method-assign]
    asyncio.run(job.run(grace=0.01))
    assert cancelled == [3]
    assert 3 not in job.written
    assert {0, 1, 2} <= set(job.written)


@pytest.mark.parametrize("part", ["pull", "do", "write"])
def test_what_our_infrastructure_raises_ends_the_flow_and_is_raised_as_it_is(part: str) -> None:
    job = Job(100)

    async def broken(*_: object) -> None:
        raise ConnectionResetError("the database went away")

    setattr(job, part, broken)
    with pytest.raises(ConnectionResetError, match="database"):
        asyncio.run(job.run())


def test_pieces_of_one_place_wait_their_turn_without_holding_a_lane() -> None:
    """Twenty pieces of one slow place and twenty of others, and only two lanes."""
    job = Job(40, chunk=40)
    busy: list[int] = []
    others = asyncio.Event()

    async def do(number: int) -> int:
        if number >= 20:
            if number == 39:
                others.set()
            return number
        busy.append(number)
        assert len(busy) == 1, "two visitors at one place"
        await others.wait()  # never set, were the second lane waiting for the place as well
        busy.remove(number)
        return number

    async def main() -> None:
        await process_concurrently(
            job.pull,
            do,
            job.write,
            lanes=2,
            group=4,
            halt=job.halt,
            grace=0,
            key_of=lambda number: "one.example" if number < 20 else None,
        )

    asyncio.run(asyncio.wait_for(main(), 60))
    assert sorted(job.written) == list(range(40))
    assert [number for number in job.written if number < 20] == list(range(20))


def test_who_waits_for_a_place_ends_at_once_when_halted() -> None:
    job = Job(3)

    async def do(number: int) -> int:
        job.halt.set()
        return number

    async def main() -> None:
        await process_concurrently(
            job.pull, do, job.write, lanes=3, group=1, halt=job.halt, grace=60, key_of=lambda _: "one.example"
        )

    asyncio.run(asyncio.wait_for(main(), 60))
    assert job.written == [0]


def test_halted_work_is_cancelled_and_finished_work_is_returned() -> None:
    async def main() -> None:
        halt = Halt()

        async def quick() -> int:
            return 7

        async def endless() -> int:
            halt.set()
            await asyncio.Event().wait()
            return 0

        assert await run_unless_halted(quick(), halt, 0.01) == 7
        assert await run_unless_halted(endless(), halt, 0.01) is None

    asyncio.run(main())
